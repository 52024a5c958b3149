// jq's regular expressions, implemented with those of JavaScript, which are nearly the same.

import { JqError, valueLabel } from './operators.ts'
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
  if (typeof input !== 'string') throw new JqError(`${valueLabel(input)} cannot be matched, as it is not a string`)
  if (typeof re !== 'string') throw new JqError(`${valueLabel(re)} is not a string`)
  if (flags !== null && typeof flags !== 'string') throw new JqError(`${valueLabel(flags)} is not a string`)
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
  // Only p lets `.` match line ends. x allows comments, i ignores case. `^` always is the beginning of the text.
  const [head = '', own = ''] = INLINE.exec(re) ?? []
  const has = (flag: string, inline = flag) => flags.includes(flag) || own.includes(inline)
  const options = `dgu${has('i') ? 'i' : ''}${has('p', 's') ? 's' : ''}`
  const rest = re.slice(head.length)
  const source = translated(withBrackets(has('x') ? withoutComments(rest) : rest))
  const asked = { pattern: compiled(source, options), isGlobal: flags.includes('g'), skipsEmpty: flags.includes('n') }
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, asked)
  return asked
}

/** Flags for a whole pattern, at its beginning. */
const INLINE = /^\(\?([isx]+)\)/
/** A closing bracket at the start of a class. */
const CLOSED_AT_ONCE = /((?:^|[^\\])(?:\\\\)*\[\^?)\](?=([^\]]*\])?)/g

/** It is a literal there, and the class is closed by another one. */
function withBrackets(re: string): string {
  return re.replace(CLOSED_AT_ONCE, (_, start: string, closed?: string) => {
    if (closed === undefined) throw new JqError(`${re} (at offset 0) is not a valid regex: empty char-class`)
    return `${start}\\]`
  })
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
  ...{ alpha: '\\p{L}', digit: '\\p{Nd}', alnum: '\\p{L}\\p{N}', upper: '\\p{Lu}', lower: '\\p{Ll}', space: '\\s' },
  ...{
    punct: '\\p{P}',
    xdigit: '0-9A-Fa-f',
    blank: '\\p{Zs}\\t',
    cntrl: '\\p{Cc}',
    word: '\\p{L}\\p{M}\\p{N}\\p{Pc}',
    print: ' -~',
    graph: '!-~',
  },
}

const PART =
  /\[:(\^?)(\w+):\]|\\([AzZhHGK])|\\([\s\S])|(\(\?>)|(\(\?#[^)]*\))|\(\?([imx]+)\)|([*+?}])\+|(\[)|([\]{}])|(\$)/g

/** Translates Oniguruma's different notations. */
function translated(re: string): string {
  let open = 0
  return re.replace(
    PART,
    (whole, negated, name, anchor, escaped, atomic, comment, flags, possessive, bracket, closing, dollar) => {
      // The end of the text, or the line end before it, but not line ends inside.
      if (dollar !== undefined) return open > 0 ? whole : anchorOf('Z', re)
      if (name !== undefined && open > 0) return classOf(name, negated === '^', re)
      if (anchor !== undefined) return anchorOf(anchor, re)
      if (escaped !== undefined) return escapeOf(escaped, open > 0)
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

const WORD = '\\p{L}\\p{M}\\p{N}\\p{Pc}'
/** Words and digits are those of all languages. */
const WIDE: Readonly<Record<string, string>> = {
  ...{ w: `[${WORD}]`, W: `[^${WORD}]`, d: '\\p{Nd}', D: '\\P{Nd}' },
  ...{ b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))` },
  ...{ B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))` },
}
const WIDE_IN_CLASS: Readonly<Record<string, string>> = { w: WORD, d: '\\p{Nd}', D: '\\P{Nd}' }
const OTHERS: Readonly<Record<string, string>> = { a: '\\x07', e: '\\x1b', '-': '\\x2d' }

function escapeOf(letter: string, isInClass: boolean): string {
  if (!/[\w^$\\.*+?()[\]{}|/-]/.test(letter)) return letter
  return (isInClass ? WIDE_IN_CLASS : WIDE)[letter] ?? OTHERS[letter] ?? `\\${letter}`
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
    // An empty match may be found again: the search continues one character further.
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

/** Converts a position in JavaScript's text to the number of characters before it. */
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

/** The names of the groups, in the order of their opening brackets. */
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
