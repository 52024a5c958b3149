// The command line of `rg`, converted to the settings of `grep`, whose search it uses.

import { GrepSettings } from '../grep/settings.ts'
import { type GnuOption, readGnuOptions } from '../search-options.ts'
import { nameRules, type RgRule } from './rules.ts'
import { FILE_TYPES } from './types.ts'

const LETTERS = 'nNiSsFwxvclor:e:f:g:t:T:uUHIm:qLP0abA:B:C:d:j:.'
const LONG = {
  'after-context=': 'A',
  'before-context=': 'B',
  'byte-offset': 'b',
  'case-sensitive': 's',
  'color=': 'color',
  'context=': 'C',
  'context-separator=': 'separator',
  count: 'c',
  'count-matches': 'count-matches',
  'file=': 'f',
  files: 'files',
  'files-with-matches': 'l',
  'files-without-match': 'without',
  'fixed-strings': 'F',
  follow: 'L',
  'glob=': 'g',
  heading: 'heading',
  hidden: '.',
  'iglob=': 'iglob',
  'ignore-case': 'i',
  'invert-match': 'v',
  'line-number': 'n',
  'line-regexp': 'x',
  'max-count=': 'm',
  'max-depth=': 'd',
  multiline: 'U',
  'multiline-dotall': 'dotall',
  'no-config': 'none',
  'no-filename': 'I',
  'no-heading': 'no-heading',
  'no-ignore': 'no-ignore',
  'no-ignore-vcs': 'no-ignore-vcs',
  'no-line-number': 'N',
  'no-messages': 'no-messages',
  'no-mmap': 'none',
  null: '0',
  'only-matching': 'o',
  pcre2: 'P',
  quiet: 'q',
  'regexp=': 'e',
  'replace=': 'r',
  'smart-case': 'S',
  'sort=': 'sort',
  'sortr=': 'sortr',
  text: 'a',
  'threads=': 'j',
  'type=': 't',
  'type-not=': 'T',
  'type-list': 'type-list',
  unrestricted: 'u',
  'with-filename': 'H',
  'word-regexp': 'w',
}

export class RgMisuse extends Error {}

export class RgSettings {
  readonly grep = new GrepSettings()
  /** By letter; the number of occurrences of `u` matters. */
  readonly given = new Map<string, number>()
  readonly rules: RgRule[] = []
  readonly types: string[] = []
  readonly otherTypes: string[] = []
  replacement: string | null = null
  maxDepth = Number.POSITIVE_INFINITY
  isReversed = false

  has(name: string): boolean {
    return this.given.has(name)
  }

  get readsHidden(): boolean {
    return this.has('.') || (this.given.get('u') ?? 0) >= 2
  }

  get heedsIgnores(): boolean {
    return !this.has('no-ignore') && !this.has('u')
  }
}

export function rgSettings(args: readonly string[]): RgSettings {
  const read = readGnuOptions(args, { letters: LETTERS, long: LONG })
  if (!read.ok) throw new RgMisuse(`error: ${read.problem}`)
  const settings = new RgSettings()
  for (const option of read.options) apply(settings, option)
  const { grep } = settings
  grep.files = read.operands
  if (settings.has('type-list') && grep.files.length + grep.patterns.length > 0) {
    throw new RgMisuse("error: The argument '<PATTERN>' cannot be used with '--type-list'")
  }
  if (!settings.has('files') && !settings.has('type-list') && grep.patterns.length === 0) {
    const first = grep.files.shift()
    if (first === undefined)
      throw new RgMisuse('error: The following required arguments were not provided:\n    <PATTERN>')
    grep.patterns.push({ text: first, isFile: false })
  }
  grep.binary = 'text'
  if (settings.has('0')) grep.flags.add('Z')
  for (const type of [...settings.types, ...settings.otherTypes]) {
    if (!Object.hasOwn(FILE_TYPES, type)) throw new RgMisuse(`unrecognized file type: ${type}`)
  }
  return settings
}

/** Those with the same meaning as in `grep`. */
const SHARED = 'nvclowxqb'

function apply(settings: RgSettings, { name, value }: GnuOption): void {
  const { grep } = settings
  const text = value ?? ''
  settings.given.set(name, (settings.given.get(name) ?? 0) + 1)
  const set = Object.hasOwn(VALUED, name) ? VALUED[name] : undefined
  if (set) set(settings, text)
  else if (SHARED.includes(name)) grep.flags.add(name)
  else if (name === 'N') grep.flags.delete('n')
  else if (name === 'H' || name === 'I') grep.namesFiles = name === 'H'
  else if (name === 'heading' || name === 'no-heading') {
    settings.given.delete(name === 'heading' ? 'no-heading' : 'heading')
  } else if (['i', 's', 'S'].includes(name)) {
    for (const rival of ['i', 's', 'S']) if (rival !== name) settings.given.delete(rival)
  }
}

const VALUED: Readonly<Record<string, (settings: RgSettings, value: string) => void>> = {
  e: ({ grep }, text) => grep.patterns.push({ text, isFile: false }),
  f: ({ grep }, text) => grep.patterns.push({ text, isFile: true }),
  A: ({ grep }, value) => Object.assign(grep, { after: count(value, '--after-context') }),
  B: ({ grep }, value) => Object.assign(grep, { before: count(value, '--before-context') }),
  C: ({ grep }, value) => Object.assign(grep, { before: count(value, '--context'), after: count(value, '--context') }),
  m: ({ grep }, value) => Object.assign(grep, { maxCount: count(value, '--max-count') }),
  d: (settings, value) => Object.assign(settings, { maxDepth: count(value, '--max-depth') }),
  j: (_, value) => {
    count(value, '--threads')
  },
  g: ({ rules }, glob) => rules.push(...nameRules(glob, false)),
  iglob: ({ rules }, glob) => rules.push(...nameRules(glob, true)),
  t: ({ types }, type) => types.push(type),
  T: ({ otherTypes }, type) => otherTypes.push(type),
  r: (settings, replacement) => Object.assign(settings, { replacement }),
  separator: ({ grep }, groupSeparator) => Object.assign(grep, { groupSeparator }),
  color: (_, value) => {
    if (/^(always|ansi)$/.test(value)) throw new RgMisuse(`error: --color=${value} is not available here`)
    if (!/^(never|auto)$/.test(value)) throw new RgMisuse(`error: '${value}' isn't a valid value for '--color <WHEN>'`)
  },
  sort: sorted,
  sortr: (settings, value) => {
    sorted(settings, value)
    settings.isReversed = value === 'path'
  },
}

function sorted(_: RgSettings, value: string): void {
  if (value !== 'path' && value !== 'none') throw new RgMisuse(`error: --sort=${value} is not available here`)
}

function count(value: string, name: string): number {
  if (!/^\d+$/.test(value))
    throw new RgMisuse(`error: Invalid value for '${name} <NUM>': invalid digit found in string`)
  return Number(value)
}
