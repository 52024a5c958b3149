// `rm`: the interpreter's looks through a link where it should look at it.

import { type Context, NO_SUCH_FILE, type Result, shellMessage } from '../interpreter-command.ts'

const RM_FLAGS: Record<string, string> = {
  '--recursive': 'r',
  '--force': 'f',
  '--verbose': 'v',
  '--dir': 'd',
  '--no-preserve-root': '',
}

export async function rm(args: string[], context: Context): Promise<Result> {
  const end = args.indexOf('--')
  const options = (end < 0 ? args : args.slice(0, end)).filter((arg) => /^-./.test(arg))
  const operands = args.filter((arg, i) => i !== end && ((end >= 0 && i > end) || !/^-./.test(arg)))
  const flags = options
    .map((option) => (option.startsWith('--') ? (RM_FLAGS[option] ?? '?') : option.slice(1)))
    .join('')
  const unknown = /[^rRfvdiI]/.exec(flags)
  if (unknown)
    return failure(options.includes('--help') ? 'usage: rm [-rfvd] FILE...' : `invalid option: ${options.join(' ')}`)
  const force = flags.includes('f')
  if (operands.length === 0 && !force) return failure('missing operand')
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const operand of operands) {
    const problem = await removeOne(operand, flags, context)
    if (problem === null && flags.includes('v')) result.stdout += `removed '${operand}'\n`
    if (problem === null || (force && problem === NO_SUCH_FILE)) continue
    result.stderr += `rm: cannot remove '${operand}': ${problem}\n`
    result.exitCode = 1
  }
  return result
}

/** Null when it is gone, else why not. */
async function removeOne(operand: string, flags: string, { fs, cwd }: Context): Promise<string | null> {
  if (/(^|\/)\.\.?\/*$/.test(operand)) return "Refusing to remove '.' or '..'"
  const path = fs.resolvePath(cwd, operand)
  const recursive = /[rR]/.test(flags)
  try {
    const { isDirectory } = await fs.lstat(path)
    if (isDirectory && !recursive && !flags.includes('d')) return 'Is a directory'
    await fs.rm(path, { recursive })
    return null
  } catch (error) {
    return shellMessage(error)
  }
}

function failure(message: string): Result {
  return { stdout: '', stderr: `rm: ${message}\n`, exitCode: 1 }
}
