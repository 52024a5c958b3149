// Sets of characters, and the named classes.

import type { Ranges } from './syntax.ts'

const LAST = 0x10ffff
/** Surrogates are not characters; some of them represent invalid UTF-8 bytes. Those of the locale `C` are its characters. */
const SURROGATES: Ranges = [0xd800, 0xdd7f, 0xde00, 0xdfff]
export const DIGITS: Ranges = [0x30, 0x39]
export const ASCII_WORD: Ranges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
export const ASCII_SPACE: Ranges = [0x09, 0x0d, 0x20, 0x20]
export const BLANKS: Ranges = [0x09, 0x09, 0x20, 0x20]

/** By the names in `[[:name:]]`: in ASCII, and beyond. */
const CLASSES: Readonly<Record<string, { ascii: Ranges; beyond: RegExp | null }>> = {
  alpha: { ascii: [0x41, 0x5a, 0x61, 0x7a], beyond: /[\p{Alphabetic}\p{Nd}]/u },
  digit: { ascii: DIGITS, beyond: null },
  alnum: { ascii: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a], beyond: /[\p{Alphabetic}\p{Nd}]/u },
  upper: { ascii: [0x41, 0x5a], beyond: /\p{Uppercase}/u },
  lower: { ascii: [0x61, 0x7a], beyond: /\p{Lowercase}/u },
  space: { ascii: ASCII_SPACE, beyond: /[\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]/u },
  blank: { ascii: BLANKS, beyond: /[\u1680\u2000-\u2006\u2008-\u200a\u205f\u3000]/u },
  punct: {
    ascii: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
    beyond: /(?![\p{Alphabetic}\p{Nd}])[\p{P}\p{S}\p{M}]/u,
  },
  print: { ascii: [0x20, 0x7e], beyond: /(?![\p{C}\u2028\u2029])\P{C}|\p{Cf}/u },
  graph: { ascii: [0x21, 0x7e], beyond: /(?![\p{C}\p{Z}])\P{C}|\p{Cf}/u },
  cntrl: { ascii: [0x00, 0x1f, 0x7f, 0x7f], beyond: /[\u0080-\u009f\u2028\u2029]/u },
  xdigit: { ascii: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66], beyond: null },
  word: { ascii: ASCII_WORD, beyond: /[\p{Alphabetic}\p{Nd}]/u },
}

const computed = new Map<string, Ranges>()

/** Null for an unknown name. */
export function namedClass(name: string, isUnicode: boolean): Ranges | null {
  const named = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined
  if (!named) return null
  const { ascii, beyond } = named
  return isUnicode && beyond ? remembered(name, () => union([ascii, matching(beyond, 0x80)])) : ascii
}

/** `\p{…}`; null for an unknown property. */
export function property(name: string): Ranges | null {
  let test: RegExp
  try {
    test = new RegExp(`\\p{${name}}`, 'u')
  } catch {
    // The engine throws for an unknown property; there is no other way to check it.
    return null
  }
  return remembered(`\\p{${name}}`, () => matching(test, 0))
}

export const wordRanges = (isUnicode: boolean): Ranges =>
  isUnicode ? (namedClass('word', true) ?? ASCII_WORD) : ASCII_WORD

function remembered(name: string, find: () => Ranges): Ranges {
  const known = computed.get(name)
  if (known) return known
  const found = find()
  computed.set(name, found)
  return found
}

/** Nothing is assigned between the third plane of ideographs and the tags. */
const UNASSIGNED: Ranges = [0x33480, 0xdffff]

function matching(test: RegExp, from: number): Ranges {
  const ranges: number[] = []
  let open = false
  for (let code = from; code <= LAST; code++) {
    if (code === UNASSIGNED[0]) code = (UNASSIGNED[1] ?? code) + 1
    const isIn = (code < 0xd800 || code > 0xdfff) && code < 0xe0200 && test.test(String.fromCodePoint(code))
    if (isIn && !open) ranges.push(code)
    else if (!isIn && open) ranges.push(code - 1)
    open = isIn
    if (code >= 0xe0200) break
  }
  return ranges
}

export function union(sets: readonly Ranges[]): Ranges {
  const pairs: [number, number][] = []
  for (const set of sets) for (let i = 0; i < set.length; i += 2) pairs.push([set[i] ?? 0, set[i + 1] ?? 0])
  pairs.sort((a, b) => a[0] - b[0])
  const joined: number[] = []
  for (const [first, last] of pairs) {
    const end = joined.at(-1)
    if (end !== undefined && first <= end + 1) joined[joined.length - 1] = Math.max(end, last)
    else joined.push(first, last)
  }
  return joined
}

/** Every character that is not in the set. */
export function negated(set: Ranges): Ranges {
  const others: number[] = []
  let next = 0
  const taken = union([set, SURROGATES])
  for (let i = 0; i < taken.length; i += 2) {
    const first = taken[i] ?? 0
    if (first > next) others.push(next, first - 1)
    next = (taken[i + 1] ?? 0) + 1
  }
  if (next <= LAST) others.push(next, LAST)
  return others
}

export function without(set: Ranges, code: number): Ranges {
  return has(set, code) ? negated(union([negated(set), [code, code]])) : set
}

export function has(set: Ranges, code: number): boolean {
  let low = 0
  let high = set.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if ((set[2 * middle + 1] ?? 0) < code) low = middle + 1
    else high = middle
  }
  const first = set[2 * low]
  return first !== undefined && first <= code
}

let casePairs: Map<number, number[]> | null = null

/** The set with all cases of its letters. */
export function anyCase(set: Ranges): Ranges {
  casePairs ??= pairsOfCases()
  const others: number[] = []
  if (set.length === 2 && set[0] === set[1]) {
    return union([set, ...(casePairs.get(set[0] ?? 0) ?? []).map((other) => [other, other])])
  }
  for (const [code, cases] of casePairs) {
    if (has(set, code)) for (const other of cases) others.push(other, other)
  }
  return union([set, others])
}

function pairsOfCases(): Map<number, number[]> {
  const pairs = new Map<number, number[]>()
  const add = (from: number, to: number) => pairs.set(from, [...(pairs.get(from) ?? []), to])
  const single = (text: string, code: number) => {
    const other = text.codePointAt(0)
    return other !== undefined && other !== code && String.fromCodePoint(other) === text ? other : null
  }
  for (let code = 0x41; code < 0x1f000; code++) {
    if (code === 0xd800) code = 0xe000
    if (code === 0x3400) code = 0xa000
    const char = String.fromCodePoint(code)
    for (const other of [single(char.toLowerCase(), code), single(char.toUpperCase(), code)]) {
      if (other === null) continue
      add(code, other)
      add(other, code)
    }
  }
  return pairs
}
