// `env` like GNU's: the interpreter's version shows variables that were never exported, and hides those that it sets
// for a shell it runs.

import { type Context, IS_NAME, passedFunctions, quoted, type Result, withVariables } from '../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from './gnu-options.ts'
import { inOwnWords } from './not-found.ts'

const EXIT_FAILED = 125
const SPEC: GnuSpec = {
  name: 'env',
  letters: 'iu:0C:S:v',
  long: {
    ...{ 'ignore-environment': 'i', 'unset=': 'u', null: '0', 'chdir=': 'C', 'split-string=': 'S', debug: 'v' },
    help: 'help',
  },
  stopsAtOperand: true,
  exitCode: EXIT_FAILED,
}
const HELP = 'Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]\n'

/** Sets, removes and shows exported variables, and runs a command with them. */
export async function env(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(withSplitStrings(args, context.exportedEnv ?? {}), SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('help')) return { stdout: HELP, stderr: '', exitCode: 0 }
  if (read.has('v')) return misuse(SPEC, 'option -v is not available here')
  const words = [...read.operands]
  const clears = read.has('i') || words[0] === '-'
  if (words[0] === '-') words.shift()
  const set = new Map<string, string>()
  for (let word = words[0]; word?.includes('='); word = words[0]) {
    set.set(word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1))
    words.shift()
  }
  const kept = keptVariables(read, clears, { context, set })
  if (words.length > 0) {
    if (read.has('0')) return misuse(SPEC, 'cannot specify --null (-0) with command')
    return runWith(words, { kept, set, folder: read.value('C') }, context)
  }
  if (read.has('C')) return misuse(SPEC, 'must specify command with --chdir (-C)')
  const end = read.has('0') ? '\0' : '\n'
  return { stdout: [...kept].map(([name, value]) => `${name}=${value}${end}`).join(''), stderr: '', exitCode: 0 }
}

type EnvAssignments = { context: Context; set: ReadonlyMap<string, string> }

function keptVariables({ given }: GnuOptions, clears: boolean, { context, set }: EnvAssignments): Map<string, string> {
  const unset = new Set(given.filter(({ name }) => name === 'u').map(({ value }) => value))
  const before = clears ? [] : Object.entries(context.exportedEnv ?? {})
  return new Map([...before.filter(([name]) => !unset.has(name) && !set.has(name)), ...set])
}

type EnvSettings = {
  kept: ReadonlyMap<string, string>
  set: ReadonlyMap<string, string>
  folder: string | undefined
}

async function runWith(words: readonly string[], { kept, folder }: EnvSettings, context: Context): Promise<Result> {
  const { fs, exportedEnv = {} } = context
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) throw new Error('the interpreter cannot run a script from a command')
  const cwd = folder === undefined ? context.cwd : fs.resolvePath(context.cwd, folder)
  if (folder !== undefined && !((await fs.exists(cwd)) && (await fs.stat(cwd)).isDirectory)) {
    const stderr = `env: cannot change directory to '${folder}': No such file or directory\n`
    return { stdout: '', stderr, exitCode: EXIT_FAILED }
  }
  const script = withVariables(words.map(quoted).join(' '), { exportedEnv: Object.fromEntries(kept) })
  // The interpreter gives every new shell a previous folder.
  const inherited = new Set([...Object.keys(exportedEnv), 'OLDPWD'])
  const removed = [...inherited].filter((name) => IS_NAME.test(name) && !kept.has(name))
  const ended = await run(removed.length > 0 ? `unset ${removed.join(' ')}; ${script}` : script, {
    cwd,
    ...passedFunctions({ exportedEnv: Object.fromEntries(kept) }),
  })
  const [name = ''] = words
  return inOwnWords(ended, name, `env: ‘${name}’`)
}

const SPLIT = /^(?:-[i0v]*S|--split-string=?)([\s\S]*)$/

/** `-S 'A=1 command "two words"'` stands for the words in it. */
function withSplitStrings(args: readonly string[], variables: Readonly<Record<string, string>>): string[] {
  const first = args.findIndex((arg) => !arg.startsWith('-') || arg === '-')
  const at = args.findIndex((arg, i) => (first < 0 || i <= first) && SPLIT.test(arg))
  if (at < 0) return [...args]
  const [, inline = ''] = SPLIT.exec(args[at] ?? '') ?? []
  const rest = args.slice(at + (inline === '' ? 2 : 1))
  const text = inline === '' ? (args[at + 1] ?? '') : inline
  const others = /^-([i0v]+)S/.exec(args[at] ?? '')?.[1]
  const before = [...args.slice(0, at), ...(others === undefined ? [] : [`-${others}`])]
  return [...before, ...splitWords(text, variables), ...rest]
}

const PIECE = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|\$\{(\w+)\}|(\s+)|([^\s'"\\$]+|\$)/g

function splitWords(text: string, variables: Readonly<Record<string, string>>): string[] {
  const words: string[] = []
  let word: string | null = null
  for (const [, single, double, escaped, name, blank, plain] of text.matchAll(PIECE)) {
    if (blank !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else {
      const inside = double?.replace(/\\([\s\S])/g, '$1')
      word = (word ?? '') + (single ?? inside ?? escaped ?? (name === undefined ? plain : variables[name]) ?? '')
    }
  }
  return word === null ? words : [...words, word]
}
