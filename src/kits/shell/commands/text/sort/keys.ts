// Sort keys: parses `-k 2.3nr,4b`, and finds the key's part of a line.

import { curly, Misuse, refusal } from '../misuse.ts'
import type { GivenOptions } from '../options.ts'

export type Kind = 'text' | 'n' | 'g' | 'h' | 'M' | 'V' | 'R'

export interface Ordering {
  /** As given. */
  letters: ReadonlySet<string>
  kind: Kind
  isReversed: boolean
  foldsCase: boolean
  /** Ignored bytes: all but blanks, letters and digits, or all unprintable ones. */
  ignored: 'd' | 'i' | null
  skipsBlanksBefore: boolean
  skipsBlanksInEnd: boolean
}

export interface Key extends Ordering {
  /** Counted from zero; null for the whole line. */
  start: { field: number; char: number }
  /** `char` 0 is the end of the field. Null is the end of the line. */
  end: { field: number; char: number } | null
}

const KINDS = 'nghMVR'
const ORDERING_LETTERS = 'bdfghiMnRrV'

function orderingOf(letters: Iterable<string>): Ordering {
  const given = new Set(letters)
  const kind = [...KINDS].find((letter) => given.has(letter))
  return {
    letters: given,
    kind: (kind as Kind | undefined) ?? 'text',
    isReversed: given.has('r'),
    foldsCase: given.has('f'),
    ignored: given.has('d') ? 'd' : given.has('i') ? 'i' : null,
    skipsBlanksBefore: given.has('b'),
    skipsBlanksInEnd: given.has('b'),
  }
}

/** A line has one kind of comparison: as one kind of number, by some of its characters, or random. */
export function checkOrdering({ letters }: Ordering): void {
  const numbers = [...'nghM'].filter((letter) => letters.has(letter)).length
  const others = [...'VRdi'].some((letter) => letters.has(letter)) ? 1 : 0
  if (numbers + others < 2) return
  const shown = [...ORDERING_LETTERS].filter((letter) => letters.has(letter) && letter !== 'b' && letter !== 'r')
  throw refusal(`options '-${shown.join('')}' are incompatible`)
}

/** The options outside of keys; they apply to keys without options of their own. */
export function globalOrdering(given: GivenOptions): Ordering {
  const letters = given.list.map(({ name }) => name).filter((name) => ORDERING_LETTERS.includes(name))
  const word = given.value('sort') ?? ''
  const found = [...SORT_WORDS].filter(([name]) => name.startsWith(word))
  const named = given.has('sort') && found.length === 1 ? found[0]?.[1] : undefined
  if (given.has('sort') && named === undefined) {
    const valid = [...SORT_WORDS.keys()].map((word) => `\n  - ${curly(word)}`).join('')
    throw new Misuse(
      `${found.length > 1 ? 'ambiguous' : 'invalid'} argument ${curly(word)} for ${curly('--sort')}\nValid arguments are:${valid}`,
      { exitCode: 1 },
    )
  }
  return orderingOf(named === undefined ? letters : [...letters, named])
}

const SORT_WORDS = new Map([
  ['general-numeric', 'g'],
  ['human-numeric', 'h'],
  ['month', 'M'],
  ['numeric', 'n'],
  ['random', 'R'],
  ['version', 'V'],
])

const KEY = /^(\d+)(?:\.(\d+))?([A-Za-z]*)(?:,(\d+)(?:\.(\d+))?([A-Za-z]*))?$/

export function keyOf(text: string, inherited: Ordering): Key {
  const [, field, char, before = '', endField, endChar, after = ''] = KEY.exec(text) ?? []
  const invalid = (what: string) => refusal(`${what}: invalid field specification ${curly(text)}`)
  if (field === undefined) {
    const [, sign, rest = ''] = /^\d+(?:\.\d+)?[A-Za-z]*(?:,\d+)?([.,])(\D[\s\S]*|)$/.exec(text) ?? []
    if (sign !== undefined) throw refusal(`invalid number after '${sign}': invalid count at start of ${curly(rest)}`)
    throw /^\d/.test(text)
      ? invalid('stray character in field spec')
      : refusal(`invalid number at field start: invalid count at start of ${curly(text)}`)
  }
  if (Number(field) === 0 || (endField !== undefined && Number(endField) === 0)) throw invalid('field number is zero')
  if (char !== undefined && Number(char) === 0) throw invalid('character offset is zero')
  const letters = before + after
  if ([...letters].some((letter) => !ORDERING_LETTERS.includes(letter))) throw invalid('stray character in field spec')
  const ordering = letters === '' ? inherited : orderingOf(letters)
  checkOrdering(ordering)
  return {
    ...ordering,
    ...(letters === '' ? {} : { skipsBlanksBefore: before.includes('b'), skipsBlanksInEnd: after.includes('b') }),
    start: { field: Number(field) - 1, char: Number(char ?? 1) - 1 },
    end: endField === undefined ? null : { field: Number(endField), char: Number(endChar ?? 0) },
  }
}

export type Cut = (line: string) => string

/** Finds the part of a line for a key. */
export function cutter({ start, end, skipsBlanksBefore, skipsBlanksInEnd }: Key, separator: string | null): Cut {
  if (start.field === 0 && start.char === 0 && end === null && !skipsBlanksBefore) return (line) => line
  return (line) => {
    let from = fieldStart(line, start.field, separator)
    if (skipsBlanksBefore) from = pastBlanks(line, from)
    from = Math.min(line.length, from + start.char)
    if (end === null) return line.slice(from)
    let to: number
    if (end.char === 0) to = fieldEnd(line, end.field, separator)
    else {
      to = fieldStart(line, end.field - 1, separator)
      if (skipsBlanksInEnd) to = pastBlanks(line, to)
      to = Math.min(line.length, to + end.char)
    }
    return to > from ? line.slice(from, to) : ''
  }
}

/** The start of the field; without a separator the blanks before a field are part of it. */
function fieldStart(line: string, field: number, separator: string | null): number {
  let at = 0
  for (let i = 0; i < field && at < line.length; i++) {
    if (separator === null) at = pastWord(line, pastBlanks(line, at))
    else {
      const next = line.indexOf(separator, at)
      at = next < 0 ? line.length : next + 1
    }
  }
  return at
}

/** The end of the field with this number, counted from one. */
function fieldEnd(line: string, field: number, separator: string | null): number {
  if (separator === null) return fieldStart(line, field, null)
  let at = -1
  for (let i = 0; i < field; i++) {
    const next = line.indexOf(separator, at + 1)
    if (next < 0) return line.length
    at = next
  }
  return at
}

function pastBlanks(line: string, from: number): number {
  let at = from
  while (at < line.length && isBlank(line.charCodeAt(at))) at++
  return at
}

function pastWord(line: string, from: number): number {
  let at = from
  while (at < line.length && !isBlank(line.charCodeAt(at))) at++
  return at
}

/** A line end can be inside a line that ends with NUL. */
function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10
}
