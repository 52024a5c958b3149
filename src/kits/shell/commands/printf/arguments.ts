// The arguments of `printf`, used one after another; missing ones are empty or zero.

import { type LongDouble, longDoubleOf, readLongDouble } from './long-double.ts'

const LARGEST = (1n << 63n) - 1n
const LEAST = -(1n << 63n)
const ALL_BITS = (1n << 64n) - 1n
const LARGEST_INT = 0x7fffffff
const OUT_OF_RANGE = 'Numerical result out of range'

const INTEGER = /^[ \t\n\v\f\r]*([+-]?)(0[xX][\da-fA-F]+|0[0-7]*|[1-9]\d*)?/

export class Arguments {
  readonly complaints: string[] = []
  /** An argument was not a number. */
  hasFailed = false
  readonly #words: readonly string[]
  #next = 0

  constructor(words: readonly string[]) {
    this.#words = words
  }

  get areLeft(): boolean {
    return this.#next < this.#words.length
  }

  get taken(): number {
    return this.#next
  }

  text(): string {
    return this.#words[this.#next++] ?? ''
  }

  /** In the range of signed 64-bit numbers. */
  signed(): bigint {
    return this.#integer(LEAST, LARGEST)
  }

  /** Negative numbers count back from the maximum. */
  unsigned(): bigint {
    return this.#integer(-ALL_BITS, ALL_BITS) & ALL_BITS
  }

  /** A width or a precision. */
  size(): number {
    const word = this.#words[this.#next] ?? ''
    const size = this.signed()
    if (size >= -BigInt(LARGEST_INT) - 1n && size <= BigInt(LARGEST_INT)) return Number(size)
    this.complain(`warning: ${word}: ${OUT_OF_RANGE}`)
    return size < 0n ? -LARGEST_INT - 1 : LARGEST_INT
  }

  number(): LongDouble {
    if (!this.areLeft) return longDoubleOf(0n)
    const word = this.text()
    if (isCharacter(word)) return longDoubleOf(codeOf(word))
    const { value, length, isOutOfRange } = readLongDouble(word)
    if (length < word.length) this.#noNumber(word)
    else if (isOutOfRange) this.complain(`warning: ${word}: ${OUT_OF_RANGE}`)
    return value
  }

  complain(message: string): void {
    this.complaints.push(message)
  }

  #integer(least: bigint, largest: bigint): bigint {
    if (!this.areLeft) return 0n
    const word = this.text()
    if (isCharacter(word)) return codeOf(word)
    const [all = '', sign, digits] = INTEGER.exec(word) ?? []
    if ((digits === undefined ? 0 : all.length) < word.length) this.#noNumber(word)
    if (digits === undefined) return 0n
    const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits)
    const value = sign === '-' ? -size : size
    if (value >= least && value <= largest) return value
    if (all.length === word.length) this.complain(`warning: ${word}: ${OUT_OF_RANGE}`)
    // For unsigned numbers both limits become the maximum.
    return value > largest || least === -ALL_BITS ? largest : least
  }

  #noNumber(word: string): void {
    const kind = /^0\d/.test(word) ? 'octal ' : /^0[xX]/.test(word) ? 'hex ' : ''
    this.complain(`${word}: invalid ${kind}number`)
    this.hasFailed = true
  }
}

export const isCharacter = (word: string): boolean => word.startsWith("'") || word.startsWith('"')

/** Of the character after the quote. */
function codeOf(word: string): bigint {
  const code = word.codePointAt(1) ?? 0
  // An invalid byte is represented by a lone surrogate.
  return BigInt(code >= 0xdc80 && code <= 0xddff ? code & 0xff : code)
}
