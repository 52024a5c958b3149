// The command line of `ls`.

import { type Zone, zoneOf } from '../../../lib/clock.ts'
import { globExpression } from './globs.ts'
import { type GnuOption, readGnuOptions } from './search-options.ts'

const LETTERS = 'aAl1dRhtSrFpinogGULXvfNCxkHI:BmQbsw:qT:'

const LONG = {
  all: 'a',
  'almost-all': 'A',
  directory: 'd',
  recursive: 'R',
  'human-readable': 'h',
  si: 'si',
  reverse: 'r',
  'classify=?': 'F',
  'file-type': 'file-type',
  'indicator-style=': 'indicator',
  inode: 'i',
  'numeric-uid-gid': 'n',
  'no-group': 'G',
  dereference: 'L',
  'dereference-command-line': 'H',
  'group-directories-first': 'first',
  'full-time': 'full',
  help: 'help',
  'color=?': 'color',
  'sort=': 'sort',
  'time-style=': 'style',
  'format=': 'format',
  'ignore=': 'I',
  'ignore-backups': 'B',
  'hide=': 'hide',
  'quote-name': 'Q',
  escape: 'b',
  literal: 'N',
  kibibytes: 'k',
  size: 's',
  'width=': 'w',
  zero: 'zero',
  author: 'author',
  'hide-control-chars': 'q',
  'show-control-chars': 'show',
  'tabsize=': 'T',
  'quoting-style=': 'quoting',
  'hyperlink=?': 'hyperlink',
  'dereference-command-line-symlink-to-dir': 'to-dir',
}

const SORTS: Readonly<Record<string, string>> = {
  time: 't',
  size: 'S',
  none: 'U',
  extension: 'X',
  version: 'v',
  name: 'name',
}
const QUOTINGS: Readonly<Record<string, string>> = { literal: 'N', c: 'Q', escape: 'b' }
const FORMATS: Readonly<Record<string, string>> = {
  long: 'l',
  verbose: 'l',
  commas: 'm',
  'single-column': '1',
  vertical: 'C',
  across: 'x',
  horizontal: 'x',
}
const INDICATORS: Readonly<Record<string, string>> = { slash: 'p', 'file-type': 'file-type', classify: 'F', none: '' }
const DEFAULT_WIDTH = 80

export interface LsOptions {
  flags: ReadonlySet<string>
  timeStyle: string
  zone: Zone
  width: number
  isLeftOut: (name: string) => boolean
}

export type ReadLs =
  | { ok: true; options: LsOptions; operands: string[]; help: string | null }
  | { ok: false; problem: string; exitCode: number }

const HELP = 'Usage: ls [OPTION]... [FILE]...\nList information about the FILEs (the current directory by default).\n'

export function lsOptions(args: readonly string[], env: Readonly<Record<string, string>>): ReadLs {
  const read = readGnuOptions(args, { letters: LETTERS, long: LONG })
  if (!read.ok) return refusal(`${read.problem}${HINT}`)
  const flags = new Set<string>()
  for (const option of read.options) {
    const problem = apply(flags, option)
    if (problem !== null) return problem
  }
  const last = (name: string) => read.options.findLast((option) => option.name === name)?.value ?? null
  if (['n', 'o', 'g', 'full'].some((flag) => flags.has(flag))) flags.add('l')
  const style = flags.has('full') ? 'full-iso' : (last('style') ?? env.TIME_STYLE ?? 'locale').replace(/^posix-/, '')
  if (flags.has('l') && !/^(full-iso|long-iso|iso|locale|\+[\s\S]*)$/.test(style))
    return refusal(`invalid argument ‘${style}’ for ‘time style’${HINT}`)
  const width = Number(last('w') ?? env.COLUMNS ?? DEFAULT_WIDTH)
  if (!Number.isInteger(width) || width < 0) return refusal(`invalid line width: ‘${last('w')}’`)
  const options = {
    flags,
    timeStyle: style,
    zone: zoneOf(env.TZ ?? ''),
    width: width || Number.POSITIVE_INFINITY,
    isLeftOut: leftOut(flags, read.options),
  }
  return { ok: true, options, operands: read.operands, help: flags.has('help') ? HELP : null }
}

type Refusal = Extract<ReadLs, { ok: false }>

const HINT = "\nTry 'ls --help' for more information."
const refusal = (problem: string, exitCode = 2): Refusal => ({ ok: false, problem, exitCode })

/** An invalid word of a list has a different exit code. */
const unknownWord = (word: string | null, option: string): Refusal =>
  refusal(`invalid argument ‘${word}’ for ‘--${option}’${HINT}`, 1)

/** Of mutually exclusive options, the last one is used. */
const RIVALS: readonly (readonly string[])[] = [
  ['l', '1', 'm', 'C', 'x'],
  ['t', 'S', 'U', 'X', 'v', 'name'],
  ['F', 'p', 'file-type'],
  ['a', 'A'],
  ['h', 'si'],
  ['Q', 'b', 'N'],
]

function apply(flags: Set<string>, { name, value }: GnuOption): Refusal | null {
  const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    sort: SORTS,
    format: FORMATS,
    indicator: INDICATORS,
    quoting: QUOTINGS,
  }
  const known = words[name]
  if (known) {
    const flag = Object.hasOwn(known, value ?? '') ? known[value ?? ''] : undefined
    if (flag === undefined)
      return name === 'quoting'
        ? refusal(`--quoting-style=${value} is not available here`)
        : unknownWord(value, name === 'indicator' ? 'indicator-style' : name)
    choose(flags, flag)
    return null
  }
  if ((name === 'color' || name === 'F') && value && !WHEN.test(value)) {
    return unknownWord(value, name === 'F' ? 'classify' : name)
  }
  if (name === 'color')
    return value !== null && /^(always|yes|force)$/.test(value) ? refusal('--color=always is not available here') : null
  if (name === 'hyperlink')
    return value === null || /^(always|yes|force|)$/.test(value)
      ? refusal('--hyperlink=always is not available here')
      : null
  // Automatic marks are for terminals only.
  if (name === 'F' && value !== null && /^(never|no|none|auto|tty|if-tty)$/.test(value)) return null
  // A long listing has one line per file already.
  if (name === '1' && flags.has('l')) return null
  if (name === 'f') {
    for (const flag of ['a', 'U']) choose(flags, flag)
    for (const flag of ['l', 's']) flags.delete(flag)
  } else choose(flags, name)
  return null
}

const WHEN = /^(always|yes|force|never|no|none|auto|tty|if-tty)$/

function choose(flags: Set<string>, flag: string): void {
  for (const rival of RIVALS.find((group) => group.includes(flag)) ?? []) flags.delete(rival)
  if (flag !== '') flags.add(flag)
}

function leftOut(flags: ReadonlySet<string>, options: readonly GnuOption[]): (name: string) => boolean {
  const globs = (wanted: string) =>
    options.flatMap(({ name, value }) => (name === wanted ? [globExpression(value ?? '')] : []))
  const [ignored, hidden] = [globs('I'), globs('hide')]
  const showsAll = flags.has('a') || flags.has('A')
  return (name) => {
    if (ignored.some((glob) => glob.test(name)) || (flags.has('B') && name.endsWith('~'))) return true
    return !showsAll && (name.startsWith('.') || hidden.some((glob) => glob.test(name)))
  }
}
