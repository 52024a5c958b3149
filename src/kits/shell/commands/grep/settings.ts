// The command line of `grep`.

import { globExpression } from '../globs.ts'
import { type GnuOption, readGnuOptions } from '../search-options.ts'

const LETTERS = '0123456789A:B:C:D:EFGHILPTUVX:abcd:e:f:hiLlm:noqRrsuvwxyZz'

const LONG = {
  'after-context=': 'A',
  'basic-regexp': 'G',
  'before-context=': 'B',
  binary: 'U',
  'binary-files=': 'binary',
  'byte-offset': 'b',
  'color=?': 'color',
  'colour=?': 'color',
  'context=': 'C',
  count: 'c',
  'dereference-recursive': 'R',
  'devices=': 'D',
  'directories=': 'd',
  'exclude=': 'exclude',
  'exclude-dir=': 'exclude-dir',
  'exclude-from=': 'exclude-from',
  'extended-regexp': 'E',
  'file=': 'f',
  'files-with-matches': 'l',
  'files-without-match': 'L',
  'fixed-regexp': 'F',
  'fixed-strings': 'F',
  'group-separator=': 'separator',
  help: 'help',
  'ignore-case': 'i',
  'include=': 'include',
  'initial-tab': 'T',
  'invert-match': 'v',
  'label=': 'label',
  'line-buffered': 'buffered',
  'line-number': 'n',
  'line-regexp': 'x',
  'max-count=': 'm',
  'no-filename': 'h',
  'no-group-separator': 'no-separator',
  'no-ignore-case': 'no-ignore-case',
  'no-messages': 's',
  null: 'Z',
  'null-data': 'z',
  'only-matching': 'o',
  'perl-regexp': 'P',
  quiet: 'q',
  recursive: 'r',
  'regexp=': 'e',
  silent: 'q',
  text: 'a',
  'unix-byte-offsets': 'u',
  version: 'V',
  'with-filename': 'H',
  'word-regexp': 'w',
}

export interface NameRule {
  includes: boolean
  expression: RegExp
}

export class GrepSettings {
  matcher: 'G' | 'E' | 'F' | 'P' | null = null
  /** Each pattern, or a file with one per line. */
  patterns: { text: string; isFile: boolean }[] = []
  readonly flags = new Set<string>()
  before = -1
  after = -1
  maxCount = Number.POSITIVE_INFINITY
  binary: 'binary' | 'text' | 'without-match' = 'binary'
  directories: 'read' | 'skip' | 'recurse' = 'read'
  namesFiles: boolean | null = null
  label = '(standard input)'
  groupSeparator: string | null = '--'
  rules: NameRule[] = []
  readonly folderRules: NameRule[] = []
  readonly ruleFiles: string[] = []
  files: string[] = []
  warning = ''
}

/** The message about an invalid command line; exit code 2. */
export class GrepMisuse extends Error {}

const USAGE = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information."

export function grepSettings(args: readonly string[]): GrepSettings {
  const read = readGnuOptions(args, { letters: LETTERS, long: LONG })
  if (!read.ok) throw new GrepMisuse(`grep: ${read.problem}\n${USAGE}`)
  const settings = new GrepSettings()
  let digits = ''
  for (const option of read.options) {
    if (/^\d$/.test(option.name)) digits += option.name
    else apply(settings, option)
  }
  if (digits !== '') {
    if (settings.before < 0) settings.before = Number(digits)
    if (settings.after < 0) settings.after = Number(digits)
  }
  settings.files = read.operands
  if (settings.flags.has('help') || settings.flags.has('V')) return settings
  if (settings.patterns.length === 0) {
    const first = settings.files.shift()
    if (first === undefined) throw new GrepMisuse(USAGE)
    settings.patterns.push({ text: first, isFile: false })
  }
  return settings
}

function apply(settings: GrepSettings, { name, value }: GnuOption): void {
  const text = value ?? ''

  const set = Object.hasOwn(VALUED, name) ? VALUED[name] : undefined
  if (set) set(settings, text)
  else if (name === 'X') chooseMatcher(settings, matcherNamed(text))
  else if (/^[GEFP]$/.test(name)) chooseMatcher(settings, name as 'G' | 'E' | 'F' | 'P')
  else if (name === 'y' || name === 'i') settings.flags.add('i')
  else if (name === 'no-ignore-case') settings.flags.delete('i')
  else if (name === 'a') settings.binary = 'text'
  else if (name === 'I') settings.binary = 'without-match'
  else if (name === 'h' || name === 'H') settings.namesFiles = name === 'H'
  else if (name === 'no-separator') settings.groupSeparator = null
  else if (name === 'u') settings.warning = 'grep: warning: --unix-byte-offsets (-u) is obsolete\n'
  else if (name === 'r' || name === 'R') {
    settings.directories = 'recurse'
    settings.flags.delete('R')
    if (name === 'R') settings.flags.add('R')
  } else settings.flags.add(name)
}

const VALUED: Readonly<Record<string, (settings: GrepSettings, value: string) => void>> = {
  e: (settings, text) => settings.patterns.push({ text, isFile: false }),
  f: (settings, text) => settings.patterns.push({ text, isFile: true }),
  A: (settings, value) => Object.assign(settings, { after: contextLength(value) }),
  B: (settings, value) => Object.assign(settings, { before: contextLength(value) }),
  C: (settings, value) => Object.assign(settings, { before: contextLength(value), after: contextLength(value) }),
  D: (_, value) => oneOf(value, ['read', 'skip'], 'unknown devices method'),
  d: (settings, value) => {
    const known = oneOf(value, ['read', 'skip', 'recurse'] as const, `invalid argument ‘${value}’ for ‘--directories’`)
    settings.directories = known
  },
  m: (settings, value) => {
    if (!/^[+-]?\d+$/.test(value)) throw new GrepMisuse('grep: invalid max count')
    settings.maxCount = Number(value) < 0 ? Number.POSITIVE_INFINITY : Number(value)
  },
  binary: (settings, value) => {
    settings.binary = oneOf(value, ['binary', 'text', 'without-match'] as const, 'unknown binary-files type')
  },
  color: (settings, value) => {
    const isColoured = oneOf(
      value === '' ? 'auto' : value,
      ['always', 'yes', 'force', 'never', 'no', 'none', 'auto', 'tty', 'if-tty'],
      'help',
    )
    settings.flags.delete('color')
    if (['always', 'yes', 'force'].includes(isColoured)) settings.flags.add('color')
  },
  label: (settings, label) => Object.assign(settings, { label }),
  separator: (settings, groupSeparator) => Object.assign(settings, { groupSeparator }),
  include: (settings, glob) => settings.rules.push({ includes: true, expression: globExpression(glob) }),
  exclude: (settings, glob) => settings.rules.push({ includes: false, expression: globExpression(glob) }),
  'exclude-from': (settings, file) => settings.ruleFiles.push(file),
  'exclude-dir': (settings, glob) =>
    settings.folderRules.push({ includes: false, expression: globExpression(glob.replace(/(?<=.)\/+$/, '')) }),
}

function oneOf<Word extends string>(value: string, words: readonly Word[], problem: string): Word {
  const known = words.find((word) => word === value)
  if (known === undefined) throw new GrepMisuse(problem === 'help' ? USAGE : `grep: ${problem}`)
  return known
}

function chooseMatcher(settings: GrepSettings, name: 'G' | 'E' | 'F' | 'P'): void {
  if (settings.matcher !== null && settings.matcher !== name)
    throw new GrepMisuse('grep: conflicting matchers specified')
  settings.matcher = name
}

function matcherNamed(name: string): 'G' | 'E' | 'F' | 'P' {
  const names = { grep: 'G', egrep: 'E', fgrep: 'F', perl: 'P' } as const
  const known = Object.entries(names).find(([word]) => word === name)
  if (!known) throw new GrepMisuse(`grep: invalid matcher ${name}`)
  return known[1]
}

function contextLength(value: string): number {
  if (!/^\d+$/.test(value)) throw new GrepMisuse(`grep: ${value}: invalid context length argument`)
  return Number(value)
}
