// `expr`: evaluates an expression. It fails if the result is empty or zero.

import { byteText } from '../../../byte-locale.ts'
import type { PosixRegex } from '../../../posix-regex/posix-regex.ts'
import { RegexError } from '../../../posix-regex/syntax.ts'
import { basicRegex } from '../basic-regex.ts'
import type { TextCall } from '../call.ts'
import { holds } from '../comparison.ts'
import { Misuse, refusal } from '../misuse.ts'

const EXIT_INVALID = 2
/** Lowest first. */
const LEVELS: readonly (readonly string[])[] = [
  ['|'],
  ['&'],
  ['<', '<=', '=', '==', '!=', '>=', '>'],
  ['+', '-'],
  ['*', '/', '%'],
  [':'],
]
const WORDS = ['match', 'substr', 'index', 'length', '+']

export async function expr(call: TextCall): Promise<void> {
  call.misuseExit = EXIT_INVALID
  if (call.args.length === 1 && call.args[0] === '--help') return call.writeText('Usage: expr EXPRESSION\n')
  const given = call.args[0] === '--' ? call.args.slice(1) : call.args
  const words = call.isByteLocale ? given.map(byteText) : given
  if (words.length === 0) throw new Misuse('missing operand')
  const reader = new Expression(words)
  const value = reader.whole()
  call.writeText(`${value}\n`)
  call.exitCode = isNothing(value) ? 1 : 0
}

function isNothing(value: string): boolean {
  return value === '' || /^-?0+$/.test(value)
}

class Expression {
  readonly #words: readonly string[]
  #at = 0
  /** The nesting depth of right sides whose value is not needed. */
  #idle = 0

  constructor(words: readonly string[]) {
    this.#words = words
  }

  whole(): string {
    const value = this.#level(0)
    const rest = this.#words[this.#at]
    if (rest !== undefined) throw refusal(`syntax error: unexpected argument ‘${rest}’`)
    return value
  }

  #level(level: number): string {
    const operators = LEVELS[level]
    if (!operators) return this.#word()
    let value = this.#level(level + 1)
    for (;;) {
      const operator = this.#words[this.#at]
      if (operator === undefined || !operators.includes(operator)) return value
      this.#at++
      value = this.#rightOf(operator, value, level)
    }
  }

  /** If the left side decides the result, the right side is parsed but not evaluated: it may even divide by zero. */
  #rightOf(operator: string, left: string, level: number): string {
    const isDecided = operator === '|' ? !isNothing(left) : operator === '&' && isNothing(left)
    this.#idle += isDecided ? 1 : 0
    const right = this.#level(level + 1)
    if (isDecided) this.#idle--
    return this.#idle > 0 && !'|&'.includes(operator) ? right : applied(operator, left, right)
  }

  #next(): string {
    const word = this.#words[this.#at]
    if (word === undefined) throw refusal(`syntax error: missing argument after ‘${this.#words[this.#at - 1] ?? ''}’`)
    this.#at++
    return word
  }

  #word(): string {
    const word = this.#next()
    if (word === '(') {
      const value = this.#level(0)
      const closing = this.#words[this.#at]
      if (closing === undefined) throw refusal(`syntax error: expecting ')' after ‘${this.#words[this.#at - 1] ?? ''}’`)
      if (closing !== ')') throw refusal(`syntax error: expecting ')' instead of ‘${closing}’`)
      this.#at++
      return value
    }
    if (word === ')') throw refusal(`syntax error: unexpected ')'`)
    if (!WORDS.includes(word)) return word
    return this.#function(word)
  }

  #function(name: string): string {
    if (name === '+') return this.#next()
    const first = this.#word()
    if (name === 'length') return String([...first].length)
    const second = this.#word()
    if (name === 'match') return this.#idle > 0 ? '' : matched(first, second)
    const chars = [...first]
    if (name === 'index') {
      const wanted = new Set(second)
      return String(chars.findIndex((char) => wanted.has(char)) + 1)
    }
    const [start, length] = [numberIn(second), numberIn(this.#word())]
    if (start === null || length === null || start < 1n || length < 1n) return ''
    return chars.slice(Number(start) - 1, Number(start) - 1 + Number(length)).join('')
  }
}

function numberIn(text: string): bigint | null {
  return /^-?\d+$/.test(text) ? BigInt(text) : null
}

function applied(operator: string, a: string, b: string): string {
  if (operator === '|') return isNothing(a) ? (isNothing(b) ? '0' : b) : a
  if (operator === '&') return isNothing(a) || isNothing(b) ? '0' : a
  if (operator === ':') return matched(a, b)
  const [x, y] = [numberIn(a), numberIn(b)]
  if ('+-*/%'.includes(operator)) return calculated(operator, x, y)
  const compared = x !== null && y !== null ? (x < y ? -1 : x > y ? 1 : 0) : compareText(a, b)
  return holds(operator, compared) ? '1' : '0'
}

function compareText(a: string, b: string): number {
  const [x, y] = [new TextEncoder().encode(a), new TextEncoder().encode(b)]
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}

function calculated(operator: string, x: bigint | null, y: bigint | null): string {
  if (x === null || y === null) throw refusal('non-integer argument')
  if ((operator === '/' || operator === '%') && y === 0n) throw refusal('division by zero')
  if (operator === '+') return String(x + y)
  if (operator === '-') return String(x - y)
  if (operator === '*') return String(x * y)
  return String(operator === '/' ? x / y : x % y)
}

/** The text of the first group, or the number of matched characters. */
function matched(text: string, pattern: string): string {
  const regex = regexOf(pattern)
  // The leftmost match starts at the beginning if any does.
  const isFound = regex.find(text) && regex.slots[0] === 0
  const [, end = 0, groupStart = -1, groupEnd = -1] = isFound ? regex.slots : []
  if (regex.groups > 0) return groupStart < 0 ? '' : text.slice(groupStart, groupEnd)
  return String([...text.slice(0, end)].length)
}

function regexOf(pattern: string): PosixRegex {
  try {
    return basicRegex(pattern)
  } catch (error) {
    if (error instanceof RegexError) throw refusal(error.message)
    throw error
  }
}
