// `zgrep` and related commands: programs that read gzip files like uncompressed ones.

import { joinBytes } from '../../../../lib/bytes.ts'
import { isFileError } from '../../../../workspace/file-system.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { quoted, shellMessage } from '../../interpreter-command.ts'
import { losslessText } from '../../lossless-text.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellCommand, ShellResult } from '../../shell-extensions.ts'
import { MAX_ARCHIVE_BYTES, UnpackError } from '../file-walk.ts'
import { isGzip, unpacked } from './format.ts'

type Run = ShellCommand['run']

/** Options of `grep` whose value may be the next word. */
const WITH_VALUE =
  /^-[a-zA-Z]*[efmABCD]$|^--(regexp|file|max-count|after-context|before-context|context|label|include)$/
const EXIT_TROUBLE = 2

export const runZgrep: Run = (args, call) => zgrep('grep', args, call)
export const runZegrep: Run = (args, call) => zgrep('grep -E', args, call)
export const runZfgrep: Run = (args, call) => zgrep('grep -F', args, call)

async function zgrep(grep: string, args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const { options, operands } = parted(args)
  const refused = options.find((option) => /^-[a-zA-Z]*[rRfzZ]|^--(recursive|file|null)/.test(option))
  if (refused !== undefined) {
    return { stdout: '', stderr: `zgrep: option ${refused} is not available here\n`, exitCode: EXIT_TROUBLE }
  }
  const hasPattern = options.some((option) => /^-[a-zA-Z]*e|^--regexp/.test(option))
  const [pattern = '', ...files] = hasPattern ? ['', ...operands] : operands
  if (!hasPattern && operands.length === 0) {
    return { stdout: '', stderr: 'zgrep: usage: zgrep [option]... pattern [file]...\n', exitCode: EXIT_TROUBLE }
  }
  const words = [...options, ...(hasPattern ? [] : ['-e', pattern])].map(quoted).join(' ')
  const isNamed = files.length > 1 && !options.some((option) => /^-[a-zA-Z]*h|^--no-filename$/.test(option))
  const result = { stdout: '', stderr: '', exitCode: 1 }
  const parts: string[] = []
  for (const file of files.length === 0 ? ['-'] : files) {
    await call.pause()
    const held = await contentsOf(file, call)
    if (typeof held === 'string') {
      result.stderr += `gzip: ${file}: ${held}\n`
      result.exitCode = EXIT_TROUBLE
      continue
    }
    const label = `--label=${file === '-' ? '(standard input)' : file}`
    const script = `${grep} ${isNamed ? '-H ' : ''}${quoted(label)} ${words} -`
    const said = await call.execute(script, call.cwd, held)
    parts.push(losslessText(said.stdoutBytes))
    result.stderr += said.stderr
    if (said.exitCode === 0 && result.exitCode === 1) result.exitCode = 0
    else if (said.exitCode > 1) result.exitCode = said.exitCode
  }
  return { ...result, stdout: parts.join('').toWellFormed() }
}

function parted(args: readonly string[]): { options: string[]; operands: string[] } {
  const [options, operands]: [string[], string[]] = [[], []]
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return { options, operands: [...operands, ...args.slice(at + 1)] }
    if (!arg.startsWith('-') || arg === '-') operands.push(arg)
    else {
      options.push(arg)
      if (WITH_VALUE.test(arg) && at + 1 < args.length) options.push(args[++at] ?? '')
    }
  }
  return { options, operands }
}

/** The decompressed contents, other files unchanged; a text is the error. */
async function contentsOf(file: string, call: ShellCall): Promise<Uint8Array | string> {
  const { fs, cwd } = call
  const path = resolvePath(cwd, file)
  try {
    const bytes = file === '-' ? call.stdinBytes : await fs.read(kindAt(fs, path) === null ? `${path}.gz` : path)
    return isGzip(bytes) ? unpacked(bytes, MAX_ARCHIVE_BYTES) : bytes
  } catch (error) {
    if (error instanceof UnpackError) return error.message
    if (isFileError(error)) return shellMessage(error)
    throw error
  }
}

/** `zless` and `zmore`: they do not wait for keys here. */
export const runZless: Run = async (args, call) => {
  const parts: Uint8Array[] = []
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const file of args.length === 0 ? ['-'] : args.filter((arg) => !/^-./.test(arg))) {
    const held = await contentsOf(file, call)
    if (typeof held !== 'string') parts.push(held)
    else Object.assign(result, { stderr: `${result.stderr}gzip: ${file}: ${held}\n`, exitCode: 1 })
  }
  return { ...result, bytes: joinBytes(parts) }
}

export const runZdiff: Run = (args, call) => zcompare('diff', args, call)
export const runZcmp: Run = (args, call) => zcompare('cmp', args, call)

/** The first file is piped in, the second one is stored temporarily. */
async function zcompare(program: string, args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const options = args.filter((arg) => /^-./.test(arg))
  const [first, second, ...more] = args.filter((arg) => !/^-./.test(arg))
  if (first === undefined || second === undefined || more.length > 0) {
    return { stdout: '', stderr: `z${program}: two files are compared\n`, exitCode: EXIT_TROUBLE }
  }
  const [one, other] = [await contentsOf(first, call), await contentsOf(second, call)]
  if (typeof one === 'string' || typeof other === 'string') {
    const [file, problem] = typeof one === 'string' ? [first, one] : [second, other]
    return { stdout: '', stderr: `gzip: ${file}: ${String(problem)}\n`, exitCode: EXIT_TROUBLE }
  }
  const path = `/tmp/z${program}-${crypto.randomUUID()}`
  await call.fs.write(path, other)
  try {
    const said = await call.execute(`${program} ${[...options, '-', path].map(quoted).join(' ')}`, call.cwd, one)
    const plain = (text: string) => text.replaceAll(path, second)
    return { stdout: plain(said.stdout), stderr: plain(said.stderr), exitCode: said.exitCode }
  } finally {
    call.fs.remove(path)
  }
}
