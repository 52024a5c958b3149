// The source of a command's input, and the effects on files to which its output is written.

import type { Bench } from './bench.ts'
import { type Call, has, type Input, isEmptyInput, NO_OUTPUT, type Output, operandsOf, valuesOf } from './call.ts'
import { isAnyHidden, isDevice, isGitConfig, isNetworkDevice, isSecretFile } from './paths.ts'
import type { Redirection, Word } from './words.ts'
import { isAllUnknown, MARK } from './words.ts'

const UNKNOWN_OUTPUT: Output = { isEmpty: false, words: [] }

/** The input from the redirections; null when they set none. */
export function inputOf(redirections: readonly Redirection[], textOf: (word: Word) => string): Input | null {
  const last = redirections.findLast(({ operator, fd }) => READS.has(operator) && (fd ?? 0) === 0)
  if (last === undefined) return null
  const { target, operator } = last
  if (target.type === 'HereDoc') return { kind: 'text', text: textOf(target.content) }
  const text = textOf(target)
  if (operator === '<<<') return { kind: 'text', text: `${text}\n` }
  if (operator === '<&')
    return text === '-' ? { kind: 'file', path: '/dev/null' } : { kind: 'pipe', from: UNKNOWN_OUTPUT }
  if (text.includes(MARK.pipe) || isNetworkDevice(text)) return { kind: 'pipe', from: UNKNOWN_OUTPUT }
  return { kind: 'file', path: text }
}

const READS: ReadonlySet<string> = new Set(['<', '<<', '<<-', '<<<', '<&', '<>'])
const WRITES: ReadonlySet<string> = new Set(['>', '>>', '>|', '&>', '&>>', '>&', '<>'])
const TRUNCATES: ReadonlySet<string> = new Set(['>', '>|', '&>', '>&'])

export type CommandWrites = {
  readonly output: Output
  /** Files that the command reads. */
  readonly reads: readonly string[]
  readonly isShell: boolean
  readonly textOf: (word: Word) => string
}

export function judgeWrites(redirections: readonly Redirection[], written: CommandWrites, bench: Bench): void {
  const last = lastOf(redirections)
  for (const redirection of redirections) {
    bench.findings.spend()
    const { operator, target } = redirection
    if (target.type === 'HereDoc' || operator === '<<<') continue
    const path = written.textOf(target)
    if (operator === '<' || operator === '<>') judgeRead(path, written, bench)
    if (!WRITES.has(operator) || isDescriptor(operator, path) || path === MARK.pipe) continue
    if (isNetworkDevice(path)) judgeSending(written, bench)
    else {
      bench.write(path)
      if (TRUNCATES.has(operator) && isEmptied(redirection, path, written, last)) {
        bench.meet('empties-file')
      }
    }
  }
}

function judgeRead(path: string, { isShell }: CommandWrites, bench: Bench): void {
  if (isNetworkDevice(path)) bench.meet(isShell ? 'runs-made-text' : 'network-device')
  for (const place of bench.findings.folders.placesOf(path)) {
    if (isSecretFile(place)) bench.meet('secret-file')
    if (isAnyHidden(place)) bench.meet('hidden-files')
    if (isGitConfig(place)) bench.meet('git-config-file')
  }
}

function judgeSending({ isShell, output }: CommandWrites, bench: Bench): void {
  if (isShell) bench.meet('runs-made-text')
  else bench.meet(output.isEmpty ? 'network-device' : 'sends-output')
}

/** `>&2` and similar name a descriptor and not a file. */
const isDescriptor = (operator: string, text: string) =>
  operator === '>&' && (/^(\d+-?|-)$/.test(text) || isAllUnknown(text))

/** For each descriptor, the last redirection that truncates its file. */
function lastOf(redirections: readonly Redirection[]): Map<number, Redirection> {
  const last = new Map<number, Redirection>()
  for (const redirection of redirections) {
    if (redirection.operator === '>' || redirection.operator === '>|') last.set(redirection.fd ?? 1, redirection)
  }
  return last
}

function isEmptied(
  redirection: Redirection,
  path: string,
  { output, reads }: CommandWrites,
  last: ReadonlyMap<number, Redirection>,
): boolean {
  const { fd, operator } = redirection
  if (isDevice(path)) return false
  const known = !isAllUnknown(path)
  if (known && reads.some((read) => read === path)) return true
  const own = fd ?? 1
  if (own === 2) return false
  // Only the last of several gets the output.
  const isReplaced = last.get(own) !== undefined && last.get(own) !== redirection
  return output.isEmpty || (isReplaced && operator !== '>&')
}

// What is known of a command's output and of the files that it reads: enough to recognise a file that is certainly
// emptied.

/** Commands that write nothing to their output. */
const SILENT: ReadonlySet<string> = new Set([
  ...[
    ':',
    'true',
    'false',
    'test',
    '[',
    'cd',
    'set',
    'shopt',
    'unset',
    'export',
    'readonly',
    'local',
    'declare',
    'typeset',
  ],
  ...[
    'sleep',
    'wait',
    'exit',
    'return',
    'break',
    'continue',
    'shift',
    'read',
    'mapfile',
    'readarray',
    'getopts',
    'umask',
  ],
  ...['mkdir', 'touch', 'cp', 'mv', 'ln', 'rm', 'rmdir', 'chmod', 'unlink', 'truncate', 'let', 'disown', 'trap'],
])

/** Without file arguments they pass on or transform their input. */
const FILTERS: ReadonlySet<string> = new Set([
  ...[
    'cat',
    'tee',
    'head',
    'tail',
    'sort',
    'uniq',
    'cut',
    'tr',
    'sed',
    'rev',
    'tac',
    'nl',
    'fold',
    'fmt',
    'expand',
    'grep',
  ],
  ...['paste', 'column', 'shuf', 'base64', 'jq', 'awk', 'tsort', 'unexpand', 'iconv', 'dd'],
])

export function outputOf(call: Call): Output {
  const words = [call.name, ...call.args]
  return isSurelyEmpty(call) ? { ...NO_OUTPUT, words } : { isEmpty: false, words }
}

function isSurelyEmpty({ name, args, input }: Call): boolean {
  if (SILENT.has(name)) return !has(args, 'vp', '--verbose')
  // The rest of the script writes, if at all, only after the file was emptied.
  if (name === 'exec') return operandsOf(args, 'a').length === 0
  if (name === 'echo') return args.includes('-n') && args.every((arg) => arg === '' || /^-[neE]+$/.test(arg))
  if (name === 'printf') return args.length > 0 && args.every((arg) => arg === '' || arg === '%s' || arg === '--')
  if (name === 'head' || name === 'tail') {
    if (valuesOf(args, 'nc', '--lines', '--bytes').includes('0') || args.includes('-0')) return true
  }
  if (name === 'grep' && has(args, 'q', '--quiet', '--silent')) return true
  if (!FILTERS.has(name)) return false
  const files = filesOf(name, args)
  return files.length === 0 ? isEmptyInput(input) : files.every((file) => file === '/dev/null')
}

/** The words that are files, to recognise a file that is both read and written. */
function filesOf(name: string, args: readonly string[]): string[] {
  if (name === 'tee') return []
  if (name === 'dd') return args.filter((arg) => arg.startsWith('if=')).map((arg) => arg.slice(3))
  const operands = operandsOf(args, VALUED[name] ?? '')
  return takesText(name) && !has(args, 'ef') ? operands.slice(1) : operands
}

const VALUED: Readonly<Record<string, string>> = {
  head: 'nc',
  tail: 'nc',
  cut: 'dfcb',
  sort: 'ktTSo',
  fold: 'w',
  fmt: 'w',
  nl: 'bfhilnpsvw',
  grep: 'ABCmef',
  awk: 'Fvf',
  sed: 'ef',
  paste: 'd',
  column: 'sto',
  shuf: 'n',
  expand: 't',
  uniq: 'fsw',
  base64: 'w',
}

const takesText = (name: string) =>
  name === 'grep' || name === 'sed' || name === 'awk' || name === 'tr' || name === 'jq'

const READ_WHOLE: ReadonlySet<string> = new Set([...FILTERS].filter((name) => name !== 'tee'))

/** Files that a command reads while its output is written. */
export function readsFiles(words: readonly string[], input: Input): string[] {
  const [name = '', ...args] = words
  const given = input.kind === 'file' ? [input.path] : []
  return READ_WHOLE.has(name) ? [...filesOf(name, args), ...given] : given
}
