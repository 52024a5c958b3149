// The tokens of an expression: names, numbers, operators. Like in bash, the meaning of an operator depends on the token
// before it (`x++`, `++x`, `5++`).

import { constant } from './constants.ts'
import type { Int } from './int64.ts'

/** `end`, `number`, `name`, `assign` (with an operator), the four increments, or the operator itself. */
export type Token = string

const NUMBER = /[0-9][0-9A-Za-z#@_]*/y
const INCREMENTS: ReadonlySet<string> = new Set(['x++', 'x--', '++x', '--x'])
const TWO = ['==', '!=', '>=', '<=', '&&', '||', '**']
const ASSIGNING = '*/%+-&^|'
const SINGLE = '=><+-*/%!()&|^~?:,'

/** The length of an expression in a message: longer ones are not written by hand. */
const MOST_SAID = 500

const shortened = (text: string): string => (text.length > MOST_SAID ? `${text.slice(0, MOST_SAID)}…` : text)

export class ArithmeticError extends Error {
  override readonly name = 'ArithmeticError'
}

export interface Target {
  name: string
  /** The text between the brackets. */
  subscript: string | null
}

export class Scanner {
  readonly text: string
  token: Token = 'end'
  /** The previous one. */
  last: Token = 'end'
  /** Of a number. */
  value: Int = 0
  /** Of the last name. */
  target: Target = { name: '', subscript: null }
  /** Of an assignment with an operator. */
  operator = ''
  at = 0
  start = 0

  constructor(text: string) {
    this.text = text
    this.at = this.afterBlanks(0)
  }

  /** With bash's message: the whole expression, and its rest from the token with the error. */
  fail(problem: string, end = this.text.length): never {
    const text = shortened(this.text.slice(this.afterBlanks(0), end))
    throw new ArithmeticError(`${text}: ${problem} (error token is "${shortened(this.text.slice(this.start, end))}")`)
  }

  next(): void {
    const { text } = this
    const at = this.afterBlanks(this.at)
    this.at = at
    if (at >= text.length) {
      this.become('end')
      return
    }
    this.start = at
    const code = text.charCodeAt(at)
    if (code >= 48 && code <= 57) this.#number()
    else if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95) this.#name()
    else this.#operator()
  }

  become(token: Token): void {
    this.last = this.token
    this.token = token
  }

  afterBlanks(from: number): number {
    const { text } = this
    let at = from
    for (let code = text.charCodeAt(at); isBlank(code); code = text.charCodeAt(at)) at++
    return at
  }

  /** Whether `=` follows, not `==`: then the name before it is not read. */
  isAssigned(): boolean {
    const at = this.afterBlanks(this.at)
    return this.text[at] === '=' && this.text[at + 1] !== '='
  }

  /** Reads `++` or `--` after a name. */
  takeIncrement(): '++' | '--' | null {
    const at = this.afterBlanks(this.at)
    const found = this.text.slice(at, at + 2)
    if (found !== '++' && found !== '--') return null
    this.start = at
    this.at = at + 2
    return found
  }

  #number(): void {
    NUMBER.lastIndex = this.at
    const [digits = ''] = NUMBER.exec(this.text) ?? []
    this.at += digits.length
    const found = constant(digits)
    if ('error' in found) this.fail(found.error, this.at)
    this.value = found.value
    this.become('number')
  }

  #name(): void {
    const start = this.at
    while (isNameCode(this.text.charCodeAt(this.at))) this.at++
    const name = this.text.slice(start, this.at)
    let subscript: string | null = null
    if (this.text[this.at] === '[') {
      const end = endOfSubscript(this.text, this.at)
      if (end === -1) this.fail('bad array subscript')
      subscript = this.text.slice(this.at + 1, end)
      this.at = end + 1
    }
    this.target = { name, subscript }
    this.become('name')
  }

  #operator(): void {
    const { text, at } = this
    const char = text[at] ?? ''
    const two = text.slice(at, at + 2)
    if (two === '<<' || two === '>>') {
      if (text[at + 2] === '=') this.#assigning(two)
      else this.#take(two)
    } else if (TWO.includes(two)) this.#take(two)
    else if (two === '++' || two === '--') this.#increment(two)
    else if (ASSIGNING.includes(char) && two[1] === '=') this.#assigning(char)
    else if (SINGLE.includes(char)) this.#take(char)
    else {
      const isOperand = this.token === 'number' || this.token === 'name'
      this.fail(isOperand ? 'syntax error: invalid arithmetic operator' : 'syntax error: operand expected')
    }
  }

  #take(operator: string): void {
    this.at += operator.length
    this.become(operator)
  }

  #assigning(operator: string): void {
    this.at += operator.length + 1
    this.operator = operator
    this.become('assign')
  }

  #increment(two: '++' | '--'): void {
    if (this.token === 'number' && INCREMENTS.has(this.last)) this.fail(`${two}: assignment requires lvalue`)
    const after = this.afterBlanks(this.at + 2)
    const isBeforeName = /[A-Za-z_]/.test(this.text[after] ?? '')
    this.at += isBeforeName ? 2 : 1
    this.become(isBeforeName ? `${two}x` : (two[0] ?? ''))
  }
}

const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13

function isNameCode(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
}

/** The closing bracket of the one at this position; -1 if there is none. */
function endOfSubscript(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '[') depth++
    else if (char === ']' && --depth === 0) return at
    else if (char === '"' || char === "'") {
      const end = text.indexOf(char, at + 1)
      if (end !== -1) at = end
    }
  }
  return -1
}
