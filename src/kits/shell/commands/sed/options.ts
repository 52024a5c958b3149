// The command line of `sed`.

export interface Settings {
  scripts: { kind: 'text' | 'file'; value: string }[]
  files: string[]
  isQuiet: boolean
  isExtended: boolean
  isSeparate: boolean
  isZero: boolean
  isSandbox: boolean
  /** Null if no file is edited in place, '' if no backup is made. */
  suffix: string | null
  /** Of `l`. */
  width: number
}

export type ReadSettings =
  | { kind: 'settings'; settings: Settings }
  | { kind: 'help' }
  | { kind: 'version' }
  | { kind: 'misuse'; message: string; exitCode: number }

export const VERSION = 'sed (GNU sed) 4.9 compatible, of Bellwether\n'

export const USAGE = `Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...

  -n, --quiet, --silent
                 suppress automatic printing of pattern space
  -e script, --expression=script
                 add the script to the commands to be executed
  -f script-file, --file=script-file
                 add the contents of script-file to the commands to be executed
  -i[SUFFIX], --in-place[=SUFFIX]
                 edit files in place (makes backup if SUFFIX supplied)
  -l N, --line-length=N
                 specify the desired line-wrap length for the \`l' command
  -E, -r, --regexp-extended
                 use extended regular expressions in the script
  -s, --separate
                 consider files as separate rather than as a single,
                 continuous long stream.
      --sandbox
                 operate in sandbox mode (disable e/r/w commands).
  -u, --unbuffered
                 load minimal amounts of data from the input files and flush
                 the output buffers more often
  -z, --null-data
                 separate lines by NUL characters
      --help     display this help and exit
      --version  output version information and exit
`

const LONG: Readonly<Record<string, string>> = {
  '--quiet': 'n',
  '--silent': 'n',
  '--expression': 'e',
  '--file': 'f',
  '--in-place': 'i',
  '--line-length': 'l',
  '--regexp-extended': 'E',
  '--separate': 's',
  '--unbuffered': 'u',
  '--null-data': 'z',
  '--zero-terminated': 'z',
  '--follow-symlinks': 'L',
  '--sandbox': 'S',
  '--help': '?',
  '--version': 'V',
}
const KNOWN = 'nrEsuz'
const DEFAULT_WIDTH = 70
/** Other names of the same options, which abbreviations also include. */
const longName = (word: string): string | undefined =>
  LONG[word] ?? Object.entries(LONG).find(([name]) => name.startsWith(word) && word.length > 4)?.[1]

export function readSettings(args: readonly string[]): ReadSettings {
  const settings: Settings = {
    scripts: [],
    files: [],
    isQuiet: false,
    isExtended: false,
    isSeparate: false,
    isZero: false,
    isSandbox: false,
    suffix: null,
    width: DEFAULT_WIDTH,
  }
  const operands: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      operands.push(...args.slice(at + 1))
      break
    }
    if (arg === '-' || !arg.startsWith('-')) {
      operands.push(arg)
      continue
    }
    const options = arg.startsWith('--') ? longOption(arg) : shortOptions(arg)
    if (typeof options === 'string') return { kind: 'misuse', message: options, exitCode: 1 }
    for (const { letter, inline } of options) {
      if (letter === '?') return { kind: 'help' }
      if (letter === 'V') return { kind: 'version' }
      const isValued = 'efl'.includes(letter)
      const value = isValued ? (inline ?? args[++at]) : inline
      if (isValued && value === undefined)
        return { kind: 'misuse', message: `sed: option requires an argument -- '${letter}'\n${USAGE}`, exitCode: 1 }
      const problem = set(settings, letter, value)
      if (problem !== null) return { kind: 'misuse', message: problem, exitCode: 1 }
    }
  }
  return withOperands(settings, operands)
}

function withOperands(settings: Settings, operands: string[]): ReadSettings {
  if (settings.scripts.length === 0) {
    const script = operands.shift()
    if (script === undefined) return { kind: 'misuse', message: USAGE, exitCode: 1 }
    settings.scripts.push({ kind: 'text', value: script })
  }
  settings.files = operands.length > 0 ? operands : ['-']
  return { kind: 'settings', settings }
}

type Option = { letter: string; inline: string | undefined }

function longOption(arg: string): Option[] | string {
  const equals = arg.indexOf('=')
  const [word, inline] = equals < 0 ? [arg, undefined] : [arg.slice(0, equals), arg.slice(equals + 1)]
  if (word === '--posix' || word === '--debug') return `sed: ${word} is not supported here\n`
  const letter = longName(word)
  return letter === undefined ? `sed: unrecognized option '${arg}'\n${USAGE}` : [{ letter, inline }]
}

function shortOptions(arg: string): Option[] | string {
  const options: Option[] = []
  for (let i = 1; i < arg.length; i++) {
    const letter = arg.charAt(i)
    const rest = arg.slice(i + 1)
    if ('efli'.includes(letter)) return [...options, { letter, inline: rest === '' ? undefined : rest }]
    if (!KNOWN.includes(letter)) return `sed: invalid option -- '${letter}'\n${USAGE}`
    options.push({ letter, inline: undefined })
  }
  return options
}

/** The error in the value, or null. */
function set(settings: Settings, letter: string, value: string | undefined): string | null {
  if (letter === 'n') settings.isQuiet = true
  else if (letter === 'r' || letter === 'E') settings.isExtended = true
  else if (letter === 's') settings.isSeparate = true
  else if (letter === 'z') settings.isZero = true
  else if (letter === 'S') settings.isSandbox = true
  else if (letter === 'i') {
    settings.suffix = value ?? ''
    settings.isSeparate = true
  } else if (letter === 'e' || letter === 'f')
    settings.scripts.push({ kind: letter === 'e' ? 'text' : 'file', value: value ?? '' })
  else if (letter === 'l') {
    if (!/^\d+$/.test(value ?? '')) return `sed: invalid line length: ${value}\n`
    settings.width = Number(value) === 1 ? 0 : Number(value)
  }
  return null
}
