// `bash` and `sh`: the interpreter's own support only `-c` and a file. Options of a shell are passed on as `set` and
// `shopt` commands, which have the same effect.

import { runReadable } from '../interpreter/syntax/diagnosis.ts'
import type { ShellStart } from '../interpreter/watch.ts'
import { type Context, IS_NAME, NO_SUCH_FILE, type Result, shellMessage } from '../interpreter-command.ts'

/** How the next shell starts. */
export type StartWith = (start: ShellStart) => void

type Call = { commands: string[][]; isText: boolean; isInput: boolean; operands: string[] }

/** They concern login or startup files, which do not exist. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['--login', '--norc', '--noprofile', '--noediting'])
const SET_LETTERS = /^[abefhkmnptuvxBCEHPT]$/

type Beginning = {
  startWith: StartWith
  /** The number of shells started so far. */
  begun: () => number
  /** Variables that each shell is created with, and that must be removed if they were not passed to it. */
  inherited: readonly string[]
}

export function bashCommand(name: 'bash' | 'sh', { startWith, begun, inherited }: Beginning) {
  return async (args: string[], context: Context): Promise<Result> => {
    if (args[0] === '--version')
      return { stdout: 'GNU bash, version 5.2.0(1)-release (embedded)\n', stderr: '', exitCode: 0 }
    if (args[0] === '--help' && context.origCommand) return context.origCommand(args)
    const call = readCall(args)
    if (typeof call === 'string') return failure(`${name}: ${call}`, 2)
    const { commands, isText, isInput, operands } = call
    const [first, ...rest] = operands
    if (isText && first === undefined) return failure(`${name}: -c: option requires an argument`, 2)
    const run = (script: string, [zero = name, ...words]: string[], given: Partial<Omit<ShellStart, 'options'>>) => {
      // Variables set only for this command are exported to it as well.
      const names = Object.keys(context.exportedEnv ?? {}).filter((known) => IS_NAME.test(known))
      const missing = inherited.filter((one) => IS_NAME.test(one) && !names.includes(one))
      const variables = [...named('export', names), ...named('unset', missing)]
      const beginning = { text: null, file: null, isInput: false, ...given, options: [...variables, ...commands] }
      const source = given.text === undefined ? zero : `${zero}: -c`
      return runReadable(script, {
        source,
        run: async (text, error) => {
          const before = begun()
          startWith({ ...beginning, error })
          const result = await start(text, [zero, ...words], context)
          return { result, isRead: begun() > before || text.trim() === '' }
        },
      })
    }
    if (isText) return run(first ?? '', rest, { text: first ?? '' })
    // The shell reads it itself, line by line.
    if (isInput || first === undefined) return run(':', isInput ? [name, ...operands] : [], { isInput: true })
    const script = await scriptAt(first, context)
    return typeof script === 'string'
      ? run(script, operands, { file: first })
      : { ...script, stderr: `${name}: ${script.stderr}` }
  }
}

const named = (command: string, names: readonly string[]): string[][] => (names.length > 0 ? [[command, ...names]] : [])

/** The error in the arguments, if they are not a valid call. */
function readCall(args: string[]): Call | string {
  const call: Call = { commands: [], isText: false, isInput: false, operands: [] }
  const left = [...args]
  while (left.length > 0) {
    const arg = left[0] ?? ''
    if (!/^[-+]./.test(arg) && arg !== '-') break
    left.shift()
    if (arg === '--' || arg === '-') break
    const problem = arg.startsWith('--') ? readLong(arg, call) : readLetters(arg, call, left)
    if (problem !== null) return problem
  }
  return { ...call, operands: left }
}

function readLong(arg: string, call: Call): string | null {
  if (arg === '--posix') call.commands.push(['set', '-o', 'posix'])
  else if (arg === '--verbose') call.commands.push(['set', '-v'])
  else if (!WITHOUT_EFFECT.has(arg)) return `${arg}: option is not available here`
  return null
}

function readLetters(arg: string, call: Call, left: string[]): string | null {
  const sign = arg[0] ?? '-'
  for (const letter of arg.slice(1)) {
    if (letter === 'c') call.isText = true
    else if (letter === 's') call.isInput = true
    else if (letter === 'o' || letter === 'O') {
      const name = left.shift()
      if (name === undefined) return `${arg}: option requires an argument`
      if (letter === 'o') call.commands.push(['set', `${sign}o`, name])
      else call.commands.push(['shopt', sign === '-' ? '-s' : '-u', name])
    } else if (SET_LETTERS.test(letter)) call.commands.push(['set', `${sign}${letter}`])
    else if (letter !== 'l') return `${sign}${letter}: option is not available here`
  }
  return null
}

async function scriptAt(name: string, { fs, cwd, env }: Context): Promise<string | Result> {
  const folders = name.includes('/') ? [] : (env.get('PATH') ?? '').split(':')
  const paths = [name, ...folders.map((folder) => `${folder}/${name}`)].map((path) => fs.resolvePath(cwd, path))
  for (const path of paths) {
    try {
      if ((await fs.stat(path)).isDirectory) return failure(`${name}: Is a directory`, 126)
      return await fs.readFile(path)
    } catch (error) {
      const why = shellMessage(error)
      if (why !== NO_SUCH_FILE) return failure(`${name}: ${why}`, 126)
    }
  }
  return failure(`${name}: ${NO_SUCH_FILE}`, 127)
}

async function start(script: string, [zero = '', ...words]: string[], context: Context): Promise<Result> {
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) return failure('bash: cannot be run here', 126)
  const all = words.join(' ')
  const numbered = Object.fromEntries(words.map((word, i) => [String(i + 1), word]))
  const env = {
    OLDPWD: '',
    ...context.exportedEnv,
    0: zero,
    '#': String(words.length),
    '@': all,
    '*': all,
    ...numbered,
  }
  // Without it, lines lose their leading blanks.
  const options = { env, cwd: context.cwd, rawScript: true }
  return run(script, context.signal ? { ...options, signal: context.signal } : options)
}

function failure(message: string, exitCode: number): Result {
  return { stdout: '', stderr: `${message}\n`, exitCode }
}
