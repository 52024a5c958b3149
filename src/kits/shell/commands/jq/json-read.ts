// Reads JSON texts one after another, like jq.

import { JqError } from './operators.ts'
import type { JqValue } from './value.ts'

/** A key that waits for its value counts as a level. */
const MAX_DEPTH = 256
const SPACE = /[ \t\r\n]*/y
/** A number, or a word that could be one. */
const LITERAL = /[^ \t\r\n[\]{},:"]+/y
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const NO_FINITE_NUMBER = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i
const PLAIN_TEXT = /[^"\\]*/y
/** jq accepts U+001F and the zero byte. */
const CONTROL = new RegExp(`[${String.fromCharCode(1)}-${String.fromCharCode(0x1e)}]`)
const STRUCTURE = '[]{},:'

type Open = { list: JqValue[] } | { object: Map<string, JqValue>; key: string | null }

/** Reads values from a text; each call of `next` returns one, or null at the end. */
export class JsonReader {
  readonly #text: string
  #at = 0
  #lines = 0
  #countedTo = 0
  /** The unclosed arrays and objects. */
  #open: Open[] = []
  #depth = 0
  /** The last value, which is not stored yet. */
  #value: JqValue | undefined

  constructor(text: string) {
    this.#text = text.startsWith('\ufeff') ? text.slice(1) : text
  }

  /** The number of started lines, for positions in messages. */
  get lines(): number {
    const end = this.#text.indexOf('\n', Math.max(this.#at - 1, 0))
    const to = end < 0 ? this.#text.length : end + 1
    for (; this.#countedTo < to; this.#countedTo++) if (this.#text.charCodeAt(this.#countedTo) === 10) this.#lines++
    return this.#lines
  }

  next(): { value: JqValue } | null {
    for (;;) {
      this.#skipSpace()
      const first = this.#text.charAt(this.#at)
      if (first === '' && this.#open.length > 0) throw this.#failed('Unfinished JSON term at EOF')
      if (first === '') return null
      if (STRUCTURE.includes(first)) this.#structure()
      else if (first === '"') this.#found(this.#string())
      else this.#literal()
      const value = this.#value
      if (this.#open.length > 0 || value === undefined) continue
      this.#value = undefined
      if (!STRUCTURE.includes(first) && first !== '"') this.#endLiteral()
      return { value }
    }
  }

  /** If the text ends within a value: its complete parts, from the outermost to the innermost. */
  get unfinished(): readonly [key: JqValue, value: JqValue | undefined][][] {
    return this.#open.map((open, i) => {
      const isLast = i === this.#open.length - 1 && typeof this.#value === 'object' && this.#value !== null
      const last = isLast ? this.#value : undefined
      if ('list' in open) return [...open.list.entries(), [open.list.length, last]]
      return [...open.object, [open.key, last]]
    })
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  /** The character that ends a number or a word at the top level is read together with it. */
  #endLiteral(): void {
    const next = this.#text.charAt(this.#at)
    if (next !== '' && STRUCTURE.includes(next)) this.#structure()
    else if (next !== '' && next !== '"') this.#at++
  }

  #found(value: JqValue): void {
    if (this.#value !== undefined) throw this.#failed('Expected separator between values')
    this.#value = value
  }

  #structure(): void {
    const char = this.#text.charAt(this.#at++)
    if (char === '[') this.#begin({ list: [] })
    else if (char === '{') this.#begin({ object: new Map(), key: null })
    else if (char === ':') this.#colon()
    else if (char === ',') this.#comma()
    else if (char === ']') this.#closeList()
    else this.#closeObject()
  }

  #begin(open: Open): void {
    if (this.#depth >= MAX_DEPTH) throw this.#failed('Exceeds depth limit for parsing')
    if (this.#value !== undefined) throw this.#failed('Expected separator between values')
    this.#open.push(open)
    this.#depth++
  }

  #colon(): void {
    const inner = this.#open.at(-1)
    if (this.#value === undefined) throw this.#failed("Expected string key before ':'")
    if (inner === undefined || 'list' in inner || inner.key !== null) throw this.#failed("':' not as part of an object")
    if (typeof this.#value !== 'string') throw this.#failed('Object keys must be strings')
    inner.key = this.#value
    this.#value = undefined
    this.#depth++
  }

  #comma(): void {
    const inner = this.#open.at(-1)
    if (inner === undefined || this.#value === undefined) throw this.#failed("Expected value before ','")
    this.#keep(inner, this.#value)
  }

  #keep(inner: Open, value: JqValue): void {
    this.#value = undefined
    if ('list' in inner) inner.list.push(value)
    else if (inner.key === null) throw this.#failed('Objects must consist of key:value pairs')
    else {
      inner.object.set(inner.key, value)
      inner.key = null
      this.#depth--
    }
  }

  #closeList(): void {
    const inner = this.#open.at(-1)
    if (inner === undefined || !('list' in inner)) throw this.#failed("Unmatched ']'")
    if (this.#value !== undefined) this.#keep(inner, this.#value)
    else if (inner.list.length > 0) throw this.#failed('Expected another array element')
    this.#close(inner.list)
  }

  #closeObject(): void {
    const inner = this.#open.at(-1)
    if (inner === undefined) throw this.#failed("Unmatched '}'")
    if (this.#value !== undefined) {
      if ('list' in inner) throw this.#failed('Objects must consist of key:value pairs')
      this.#keep(inner, this.#value)
    } else if ('list' in inner || inner.key !== null) throw this.#failed("Unmatched '}'")
    else if (inner.object.size > 0) throw this.#failed('Expected another key-value pair')
    if ('object' in inner) this.#close(inner.object)
  }

  #close(value: JqValue): void {
    this.#open.pop()
    this.#depth--
    this.#value = value
  }

  #string(): string {
    const from = ++this.#at
    for (;;) {
      PLAIN_TEXT.lastIndex = this.#at
      PLAIN_TEXT.exec(this.#text)
      this.#at = PLAIN_TEXT.lastIndex
      const end = this.#text.charAt(this.#at)
      if (end === '"') break
      this.#at += 2
      if (this.#at > this.#text.length || end === '') {
        this.#at = this.#text.length
        throw this.#failed('Unfinished string at EOF')
      }
    }
    const raw = this.#text.slice(from, this.#at++)
    if (!raw.includes('\\') && !CONTROL.test(raw)) return raw
    return this.#unescaped(raw)
  }

  #unescaped(raw: string): string {
    const text = raw.replace(ESCAPE, (whole, pair?: string, unit?: string, other?: string) => {
      if (pair !== undefined) {
        const both = pairOf(pair)
        if (both === null) throw this.#failed('Invalid \\uXXXX\\uXXXX surrogate pair escape')
        return both
      }
      if (unit !== undefined) {
        if (whole.length < UNIT) throw this.#failed('Invalid \\uXXXX escape')
        if (!HEX_UNIT.test(whole)) throw this.#failed('Invalid characters in \\uXXXX escape')
        return String.fromCharCode(Number.parseInt(whole.slice(2), 16))
      }
      const plain = other === undefined ? undefined : ESCAPES[other]
      if (plain === undefined) throw this.#failed(other === undefined ? CONTROLS : 'Invalid escape')
      return plain
    })
    return text.toWellFormed()
  }

  #literal(): void {
    LITERAL.lastIndex = this.#at
    const word = LITERAL.exec(this.#text)?.[0] ?? ''
    this.#at += word.length
    const value = WORDS.has(word) ? WORDS.get(word) : numberOf(word)
    if (value === undefined)
      throw this.#failedAfterLiteral(/^[tfn]/.test(word) ? 'Invalid literal' : 'Invalid numeric literal')
    else if (this.#value !== undefined) throw this.#failedAfterLiteral('Expected separator between values')
    else this.#value = value
  }

  /** A literal is checked after the character behind it has been read. */
  #failedAfterLiteral(message: string): JsonError {
    const isAtEnd = this.#at >= this.#text.length
    if (!isAtEnd) this.#at++
    return this.#failed(isAtEnd ? `${message} at EOF` : message)
  }

  /** Columns count bytes. */
  #failed(message: string): JsonError {
    const before = this.#text.slice(0, this.#at)
    const line = before.split('\n').length
    const column = new TextEncoder().encode(before.slice(before.lastIndexOf('\n') + 1)).byteLength
    return new JsonError(`${message} at line ${line}, column ${column}`)
  }
}

/** `\u1234`. */
const UNIT = 6
const HEX_UNIT = /^\\u[0-9a-fA-F]{4}$/
/** The first of a surrogate pair with any text in place of the second; any other escape; a control character. */
const ESCAPE = new RegExp(
  `\\\\(u[dD][89abAB][0-9a-fA-F]{2}(?:\\\\u[\\s\\S]{4})?)|\\\\(u)[\\s\\S]{0,4}|\\\\([\\s\\S])|${CONTROL.source}`,
  'g',
)
const CONTROLS = 'Invalid string: control characters from U+0000 through U+001F must be escaped'
const LOW = /^u(....)\\u([dD][c-fC-F][0-9a-fA-F]{2})$/

function pairOf(escapes: string): string | null {
  const [, high = '', low] = LOW.exec(escapes) ?? []
  return low === undefined ? null : String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16))
}

function numberOf(word: string): number | undefined {
  if (NUMBER.test(word)) return Number(word)
  const [whole, sign, infinite] = NO_FINITE_NUMBER.exec(word) ?? []
  if (whole === undefined || /^n/.test(word)) return undefined
  if (infinite === undefined) return Number.NaN
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
}
const WORDS: ReadonlyMap<string, JqValue> = new Map<string, JqValue>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Invalid JSON. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** The only value in the text, for programs that request it. */
export function parsedJson(text: string): JqValue {
  try {
    const reader = new JsonReader(text)
    const first = reader.next()
    if (first === null) throw new JsonError('Expected JSON value')
    if (reader.next() !== null) throw new JsonError('Unexpected extra JSON values')
    return first.value
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new JqError(`${error.message} (while parsing '${text}')`)
  }
}
