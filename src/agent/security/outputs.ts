// What is known of a command's output and of the files it reads: enough to tell a file that is surely emptied.

import { type Call, has, type Input, isEmptyInput, NO_OUTPUT, type Output, operandsOf, valuesOf } from './call.ts'

/** They write nothing to their output. */
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

/** Without files they pass on or change what they are given. */
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
  // What the rest of the script writes comes after the file was emptied, if it comes.
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

/** The files among the words, as far as they tell the file that a redirection must not go to. */
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
