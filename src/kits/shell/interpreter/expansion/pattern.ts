// Matches a shell pattern like bash: with a whole text, the shortest or longest of its prefixes and suffixes, or the
// leftmost match. A simple one uses the runtime's regular expressions. One with several stars or with groups is matched
// with sets of positions, so that the time is bounded.

import { byteText } from '../../byte-locale.ts'
import { type Element, elementsOf, inClass } from './pattern-syntax.ts'

export interface PatternOptions {
  hasGroups: boolean
  ignoresCase: boolean
  /** Texts are converted to bytes, as the pattern already is. */
  isOfBytes?: boolean
}

/** With more of them, the engine may try the same positions repeatedly. */
const MOST_STARS = 2
const MOST_KNOWN = 500
const KNOWN = new Map<string, Pattern>()

export function patternOf(text: string, options: PatternOptions): Pattern {
  const key = `${options.hasGroups ? 1 : 0}${options.ignoresCase ? 1 : 0}${options.isOfBytes ? 1 : 0}${text}`
  const known = KNOWN.get(key)
  if (known) return known
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear()
  const pattern = new Pattern(text, options)
  KNOWN.set(key, pattern)
  return pattern
}

/** Escapes a text for a pattern. */
export const asText = (text: string): string => text.replace(/[\\*?[\]@+!()|^-]/g, '\\$&')

export class Pattern {
  readonly #elements: readonly Element[]
  readonly #source: string | null
  readonly #stars: number
  #mirrored: Element[] | null = null
  readonly #isOfBytes: boolean
  readonly #flags: string
  readonly #tests = new Map<string, RegExp>()
  readonly #regexes = new Map<string, RegExp>()

  constructor(text: string, { hasGroups, ignoresCase, isOfBytes = false }: PatternOptions) {
    this.#isOfBytes = isOfBytes
    this.#elements = elementsOf(text, hasGroups)
    this.#flags = ignoresCase ? 'iu' : 'u'
    this.#stars = this.#elements.filter(({ kind }) => kind === 'many').length
    const isPlain = this.#stars <= MOST_STARS && this.#elements.every(({ kind }) => kind !== 'group')
    this.#source = isPlain ? this.#elements.map((one) => sourceOf(one)).join('') : null
  }

  get isEmpty(): boolean {
    return this.#elements.length === 0
  }

  matches(given: string): boolean {
    const text = this.#isOfBytes ? byteText(given) : given
    if (this.#source !== null) return this.#regex('whole', `^(?:${this.#source})$`).test(text)
    const chars = Array.from(text)
    return this.#ends(this.#elements, chars, new Set([0])).has(chars.length)
  }

  /** The end of the shortest or longest matching prefix; null if there is none. */
  prefix(text: string, isLongest: boolean): number | null {
    const chars = Array.from(text)
    const ends = this.#ends(this.#elements, chars, new Set([0]))
    if (ends.size === 0) return null
    return lengthOf(chars, 0, extreme(ends, isLongest))
  }

  /** The start of the shortest or longest matching suffix: the reversed text is matched. */
  suffix(text: string, isLongest: boolean): number | null {
    this.#mirrored ??= mirrored(this.#elements)
    const chars = Array.from(text).reverse()
    const ends = this.#ends(this.#mirrored, chars, new Set([0]))
    if (ends.size === 0) return null
    return text.length - lengthOf(chars, 0, extreme(ends, isLongest))
  }

  /** The leftmost longest match from this position on. */
  find(text: string, from: number): [start: number, end: number] | null {
    if (this.#source !== null && this.#stars < MOST_STARS) {
      const regex = this.#regex('find', this.#source, 'g')
      regex.lastIndex = from
      const found = regex.exec(text)
      return found ? [found.index, found.index + found[0].length] : null
    }
    const chars = Array.from(text.slice(from))
    for (let start = 0; start <= chars.length; start++) {
      const ends = this.#ends(this.#elements, chars, new Set([start]))
      if (ends.size === 0) continue
      const at = from + lengthOf(chars, 0, start)
      return [at, at + lengthOf(chars, start, extreme(ends, true))]
    }
    return null
  }

  #regex(kind: string, source: string, flags = ''): RegExp {
    const known = this.#regexes.get(kind)
    if (known) return known
    const regex = new RegExp(source, this.#flags + flags)
    this.#regexes.set(kind, regex)
    return regex
  }

  /** All possible ends of the elements for these start positions. */
  #ends(elements: readonly Element[], chars: readonly string[], starts: Set<number>): Set<number> {
    let places = starts
    for (const element of elements) {
      if (places.size === 0) return places
      places = this.#after(element, chars, places)
    }
    return places
  }

  #after(element: Element, chars: readonly string[], places: Set<number>): Set<number> {
    if (element.kind === 'many') return from(extreme(places, false), chars.length)
    if (element.kind === 'group') return this.#afterGroup(element, chars, places)
    const next = new Set<number>()
    for (const place of places) {
      const char = chars[place]
      if (char !== undefined && this.#isOne(element, char)) next.add(place + 1)
    }
    return next
  }

  #afterGroup({ sign, choices }: Element & { kind: 'group' }, chars: readonly string[], places: Set<number>) {
    const once = (starts: Set<number>) => {
      const ends = new Set<number>()
      for (const choice of choices) for (const end of this.#ends(choice, chars, new Set(starts))) ends.add(end)
      return ends
    }
    if (sign === '@') return once(places)
    if (sign === '?') return new Set([...places, ...once(places)])
    if (sign === '!') {
      const others = new Set<number>()
      for (const place of places) {
        const refused = once(new Set([place]))
        for (let end = place; end <= chars.length; end++) if (!refused.has(end)) others.add(end)
      }
      return others
    }
    const reached = sign === '*' ? new Set(places) : new Set<number>()
    for (let open = once(places); open.size > 0; ) {
      const fresh = new Set([...open].filter((place) => !reached.has(place)))
      for (const place of fresh) reached.add(place)
      open = fresh.size > 0 ? once(fresh) : fresh
    }
    return reached
  }

  #isOne(element: Exclude<Element, { kind: 'many' | 'group' }>, char: string): boolean {
    if (element.kind === 'one') return true
    if (element.kind === 'char' && !this.#flags.includes('i')) return element.char === char
    const source = sourceOf(element)
    let test = this.#tests.get(source)
    if (!test) {
      test = new RegExp(`^${source}$`, this.#flags)
      this.#tests.set(source, test)
    }
    return test.test(char)
  }
}

function sourceOf(element: Element): string {
  switch (element.kind) {
    case 'one':
      return '[^]'
    case 'many':
      return '[^]*'
    case 'list':
      return element.source
    case 'char':
      return `[${inClass(element.char)}]`
    case 'group':
      throw new Error('a group is no plain element')
  }
}

function mirrored(elements: readonly Element[]): Element[] {
  return elements.map((one) => (one.kind === 'group' ? { ...one, choices: one.choices.map(mirrored) } : one)).reverse()
}

function extreme(places: ReadonlySet<number>, isGreatest: boolean): number {
  let found = -1
  for (const place of places) if (found === -1 || place > found === isGreatest) found = place
  return found
}

function from(start: number, end: number): Set<number> {
  const places = new Set<number>()
  for (let place = start; place <= end; place++) places.add(place)
  return places
}

/** The length of a range of characters in UTF-16 units. */
function lengthOf(chars: readonly string[], start: number, end: number): number {
  let length = 0
  for (let i = start; i < end; i++) length += chars[i]?.length ?? 0
  return length
}
