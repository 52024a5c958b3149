// JSON texts one after the other, as jq reads its input.

import { JqError } from './operators.ts'
import type { JqObject, JqValue } from './value.ts'

const MAX_DEPTH = 256
const SPACE = /[ \t\r\n]*/y
/** A number, or a word that could be one. */
const LITERAL = /[^\s[\]{},:"]+/y
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const PLAIN_TEXT = /[^"\\]*/y

/** Reads values from a text; each call of `next` gives one, or null when there are no more. */
export class JsonReader {
  readonly #text: string
  #at = 0
  #lines = 0
  #countedTo = 0

  constructor(text: string) {
    this.#text = text.startsWith('\ufeff') ? text.slice(1) : text
  }

  /** Lines that were begun to be read, as messages name the place. */
  get lines(): number {
    const end = this.#text.indexOf('\n', Math.max(this.#at - 1, 0))
    const to = end < 0 ? this.#text.length : end + 1
    for (; this.#countedTo < to; this.#countedTo++) if (this.#text.charCodeAt(this.#countedTo) === 10) this.#lines++
    return this.#lines
  }

  next(): { value: JqValue } | null {
    this.#skipSpace()
    if (this.#at >= this.#text.length) return null
    const isScalar = !'[{"'.includes(this.#text.charAt(this.#at))
    const value = this.#value(0)
    // A number ends with what follows it, which is read as well.
    if (isScalar && this.#at < this.#text.length) this.#at++
    return { value }
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  #value(depth: number): JqValue {
    if (depth > MAX_DEPTH) this.#fail('Exceeds depth limit for parsing')
    const first = this.#text.charAt(this.#at)
    if (first === '"') return this.#string()
    if (first === '[') return this.#array(depth)
    if (first === '{') return this.#object(depth)
    if (first === '') this.#fail('Unfinished JSON term')
    return this.#literal()
  }

  #array(depth: number): JqValue[] {
    const items: JqValue[] = []
    this.#at++
    this.#skipSpace()
    if (this.#text.charAt(this.#at) === ']') {
      this.#at++
      return items
    }
    for (;;) {
      this.#skipSpace()
      if (this.#text.charAt(this.#at) === ']') this.#fail('Expected another array element')
      items.push(this.#value(depth + 1))
      this.#skipSpace()
      const next = this.#text.charAt(this.#at++)
      if (next === ']') return items
      if (next === '') this.#fail('Unfinished JSON term')
      if (next !== ',') this.#fail(next === ':' ? "':' not as part of an object" : 'Expected separator between values')
    }
  }

  #object(depth: number): JqObject {
    const entries = new Map<string, JqValue>()
    this.#at++
    this.#skipSpace()
    if (this.#text.charAt(this.#at) === '}') {
      this.#at++
      return entries
    }
    for (;;) {
      this.#skipSpace()
      const key = this.#value(depth + 1)
      if (typeof key !== 'string') this.#fail('Object keys must be strings')
      this.#skipSpace()
      if (this.#text.charAt(this.#at++) !== ':') {
        this.#fail(this.#at > this.#text.length ? 'Unfinished JSON term' : 'Objects must consist of key:value pairs')
      }
      this.#skipSpace()
      entries.set(String(key), this.#value(depth + 1))
      this.#skipSpace()
      const next = this.#text.charAt(this.#at++)
      if (next === '}') return entries
      if (next === '') this.#fail('Unfinished JSON term')
      if (next !== ',') this.#fail('Expected separator between values')
    }
  }

  #string(): string {
    const from = ++this.#at
    for (;;) {
      PLAIN_TEXT.lastIndex = this.#at
      PLAIN_TEXT.exec(this.#text)
      this.#at = PLAIN_TEXT.lastIndex
      const end = this.#text.charAt(this.#at)
      if (end === '') this.#fail('Unfinished string')
      if (end === '"') break
      this.#at += 2
    }
    const raw = this.#text.slice(from, this.#at++)
    return raw.includes('\\') ? this.#unescaped(raw) : raw
  }

  #unescaped(raw: string): string {
    const text = raw.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]?))/g, (_, hex: string | undefined, plain: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      const meant = ESCAPES[plain]
      if (meant === undefined) this.#fail('Invalid escape')
      return meant ?? ''
    })
    return text.toWellFormed()
  }

  #literal(): JqValue {
    LITERAL.lastIndex = this.#at
    const word = LITERAL.exec(this.#text)?.[0]
    if (word === undefined) {
      this.#at++
      this.#fail(UNEXPECTED[this.#text.charAt(this.#at - 1)] ?? 'Expected JSON value')
    }
    this.#at += String(word).length
    const known = WORDS.get(String(word))
    if (known !== undefined) return known
    if (NUMBER.test(String(word))) return Number(word)
    return this.#fail(/^[tfn]/.test(String(word)) ? 'Invalid literal' : 'Invalid numeric literal', true)
  }

  #fail(message: string, isLiteral = false): never {
    const at = isLiteral ? Math.min(this.#at + 1, this.#text.length) : Math.min(this.#at, this.#text.length)
    const before = this.#text.slice(0, at)
    const line = before.split('\n').length
    const column = at - (before.lastIndexOf('\n') + 1)
    const place =
      at >= this.#text.length && isLiteral ? 'EOF at line' : at >= this.#text.length ? 'EOF at line' : 'line'
    throw new JsonError(`${message} at ${place} ${line}, column ${column}`)
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
}
const WORDS: ReadonlyMap<string, JqValue> = new Map<string, JqValue>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['nan', Number.NaN],
])
const UNEXPECTED: Readonly<Record<string, string>> = {
  ']': "Unmatched ']'",
  '}': "Unmatched '}'",
  ',': "Expected value before ','",
  ':': "':' not as part of an object",
}

/** A text that is no JSON. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** The one value in the text, for programs that ask for it. */
export function parsedJson(text: string): JqValue {
  try {
    const reader = new JsonReader(text)
    const first = reader.next()
    if (first === null) return null
    if (reader.next() !== null) throw new JsonError('Unexpected extra JSON values')
    return first.value
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new JqError(`${error.message} (while parsing '${text}')`)
  }
}
