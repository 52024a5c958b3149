// Regular expressions as jq has them, done with those of JavaScript: both know nearly the same ones.

import { JqError, named } from './operators.ts'
import type { JqValue } from './value.ts'

interface Match {
  offset: number
  length: number
  text: string
  captures: { offset: number; length: number; text: string | null; name: string | null }[]
}

type CompiledRegex = { pattern: RegExp; isGlobal: boolean; skipsEmpty: boolean }

const kept = new Map<string, CompiledRegex>()
const MOST_KEPT = 64

/** The matches of a text as jq's objects, or whether there is one. */
export function matched(input: JqValue, [re = null, flags = null, onlyTests = null]: readonly JqValue[]): JqValue {
  if (typeof input !== 'string') throw new JqError(`${named(input)} cannot be matched, as it is not a string`)
  if (typeof re !== 'string') throw new JqError(`${named(re)} cannot be matched, as it is not a string`)
  if (flags !== null && typeof flags !== 'string') throw new JqError(`${named(flags)} is not a string`)
  const asked = patternOf(re, flags ?? '')
  if (onlyTests === true) return firstMatch(asked.pattern, input)
  return matchesIn(input, asked).map(matchObject)
}

function firstMatch(pattern: RegExp, input: string): boolean {
  pattern.lastIndex = 0
  return pattern.test(input)
}

function patternOf(re: string, flags: string): CompiledRegex {
  const key = `${flags}/${re}`
  const known = kept.get(key)
  if (known) return known
  const unknown = [...flags].find((flag) => !'gimnpslx'.includes(flag))
  if (unknown !== undefined) throw new JqError(`${flags} is not a valid modifier string`)
  if (flags.includes('l')) throw new JqError('the modifier l (longest match) is not available here')
  // `.` and the line end: s lets `.` match line ends, x allows comments, i is for any case. `^` is the beginning of the text.
  const options = `dgu${flags.includes('i') ? 'i' : ''}${/[sp]/.test(flags) ? 's' : ''}`
  const source = translated(flags.includes('x') ? withoutComments(re) : re)
  const asked = { pattern: compiled(source, options), isGlobal: flags.includes('g'), skipsEmpty: flags.includes('n') }
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, asked)
  return asked
}

function compiled(source: string, options: string): RegExp {
  try {
    return new RegExp(source, options)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new JqError(`${source} (at offset 0) is not a valid regex: ${error.message.replace(/^.*\/\w*: /s, '')}`)
  }
}

function withoutComments(re: string): string {
  return re.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]])*\]|\s+|#[^\n]*/g, (part) => (/^[\\[]/.test(part) ? part : ''))
}

const CLASSES: Readonly<Record<string, string>> = {
  ...{ alpha: '\\p{L}', digit: '\\d', alnum: '\\p{L}\\p{N}', upper: '\\p{Lu}', lower: '\\p{Ll}', space: '\\s' },
  ...{
    punct: '\\p{P}\\p{S}',
    xdigit: '0-9A-Fa-f',
    blank: ' \\t',
    cntrl: '\\p{Cc}',
    word: '\\w',
    print: ' -~',
    graph: '!-~',
  },
}

const PART =
  /\[:(\^?)(\w+):\]|\\([AzZhHGK])|\\([\s\S])|(\(\?>)|(\(\?#[^)]*\))|\(\?([imx]+)\)|([*+?}])\+|(\[)|([\]{}])|(\$)/g

/** What Oniguruma writes in another way. */
function translated(re: string): string {
  let open = 0
  return re.replace(
    PART,
    (whole, negated, name, anchor, escaped, atomic, comment, flags, possessive, bracket, closing, dollar) => {
      // The end of the text, or the line end before it: lines within are not looked at.
      if (dollar !== undefined) return open > 0 ? whole : anchorOf('Z', re)
      if (name !== undefined && open > 0) return classOf(name, negated === '^', re)
      if (anchor !== undefined) return anchorOf(anchor, re)
      if (escaped !== undefined) return /[\w^$\\.*+?()[\]{}|/-]/.test(escaped) ? letterOf(escaped) : escaped
      if (atomic !== undefined || possessive !== undefined || flags !== undefined) {
        throw new JqError(`${re} is not available here: ${whole} is not known`)
      }
      if (comment !== undefined) return ''
      if (bracket !== undefined) return open++ > 0 ? '\\[' : '['
      if (closing === ']') {
        if (open > 0) open = 0
        else return '\\]'
      }
      return whole
    },
  )
}

function letterOf(letter: string): string {
  if (letter === 'a') return '\\x07'
  if (letter === 'e') return '\\x1b'
  return letter === '-' ? '\\x2d' : `\\${letter}`
}

function classOf(name: string, isNegated: boolean, re: string): string {
  const body = CLASSES[name]
  if (body === undefined || isNegated) throw new JqError(`${re} is not available here: [:${name}:] is not known`)
  return body
}

function anchorOf(letter: string, re: string): string {
  const known: Readonly<Record<string, string>> = {
    ...{ A: '(?<![\\s\\S])', z: '(?![\\s\\S])', Z: '(?=\\n?(?![\\s\\S]))', h: '[0-9A-Fa-f]', H: '[^0-9A-Fa-f]' },
  }
  const meant = known[letter]
  if (meant === undefined) throw new JqError(`${re} is not available here: \\${letter} is not known`)
  return meant
}

/** Offsets count characters. */
function matchesIn(input: string, { pattern, isGlobal, skipsEmpty }: CompiledRegex): Match[] {
  const names = namesIn(pattern.source)
  const position = positionsIn(input)
  const found: Match[] = []
  for (let start = 0; ; ) {
    pattern.lastIndex = start
    const match = pattern.exec(input)
    if (!match) return found
    if (!(match[0] === '' && skipsEmpty)) found.push(described(match, { names, position }))
    // One that is empty may be found again: the search goes on one letter further, wherever it was.
    start = match[0] === '' ? start + (isWide(input, start) ? 2 : 1) : match.index + match[0].length
    if (!isGlobal || start >= input.length) return found
  }
}

const isWide = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff

type CaptureNames = { names: readonly (string | null)[]; position: (unit: number) => number }

function described(match: RegExpExecArray, { names, position }: CaptureNames): Match {
  const place = (range: readonly [number, number] | undefined, text: string | undefined) => ({
    offset: range && text !== undefined ? position(range[0]) : -1,
    length: range && text !== undefined ? position(range[1]) - position(range[0]) : 0,
    text: text ?? null,
  })
  const [whole, ...groups] = match
  const ranges = match.indices ?? []
  const captures = groups.map((text, i) => ({ ...place(ranges[i + 1], text), name: names[i] ?? null }))
  return { ...place(ranges[0], whole), text: whole, captures }
}

/** From the place in JavaScript's text to the number of characters before it. */
function positionsIn(input: string): (unit: number) => number {
  if (!/[\ud800-\udbff]/.test(input)) return (unit) => unit
  const before = new Uint32Array(input.length + 1)
  for (let unit = 0, char = 0; unit <= input.length; unit++) {
    before[unit] = char
    const code = input.charCodeAt(unit)
    if (!(code >= 0xd800 && code <= 0xdbff)) char++
  }
  return (unit) => before[unit] ?? 0
}

/** Of each group in the order in which they open, its name. */
function namesIn(source: string): (string | null)[] {
  const names: (string | null)[] = []
  for (const [, name, plain] of source.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]])*\]|\(\?<([A-Za-z_]\w*)>|(\((?!\?))/g)) {
    if (name !== undefined) names.push(name)
    else if (plain !== undefined) names.push(null)
  }
  return names
}

function matchObject({ offset, length, text, captures }: Match): JqValue {
  const shown = captures.map(
    (one) =>
      new Map<string, JqValue>([
        ['offset', one.offset],
        ['length', one.length],
        ['string', one.text],
        ['name', one.name],
      ]),
  )
  return new Map<string, JqValue>([
    ['offset', offset],
    ['length', length],
    ['string', text],
    ['captures', shown],
  ])
}
