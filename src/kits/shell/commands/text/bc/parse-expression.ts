// Parses expressions of `bc`, from the lowest to the highest precedence.

import type { Token } from './lexer.ts'
import { type Assignable, type Expression, ParseError, type Statement } from './syntax.ts'

const MAX_NESTING = 200
const SPECIAL = ['scale', 'ibase', 'obase', 'last', '.']
const BUILT_IN = ['sqrt', 'length', 'scale']
const ASSIGNING = ['=', '+=', '-=', '*=', '/=', '%=', '^=']
const COMPARING = ['==', '<=', '>=', '!=', '<', '>']

export class ExpressionParser {
  protected readonly tokens: readonly Token[]
  protected at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  protected get token(): Token {
    return this.tokens[this.at] ?? { kind: 'end', text: '', line: 0 }
  }

  protected wrong(): ParseError {
    return new ParseError(this.token.line + (this.token.kind === 'newline' ? 1 : 0))
  }

  protected is(operator: string): boolean {
    return this.token.kind === 'operator' && this.token.text === operator
  }

  protected take(operator: string): boolean {
    const isThere = this.is(operator)
    if (isThere) this.at++
    return isThere
  }

  protected need(operator: string): void {
    if (!this.take(operator)) throw this.wrong()
  }

  protected name(): string {
    const { kind, text } = this.token
    if (kind !== 'name') throw this.wrong()
    this.at++
    return text
  }

  /** Each level uses some of the stack, here and during evaluation. */
  protected within<T extends Expression | Statement>(read: () => T): T {
    if (++this.#depth > MAX_NESTING) throw new ParseError(this.token.line, 'nested too deeply')
    try {
      return read()
    } finally {
      this.#depth--
    }
  }

  protected expression(): Expression {
    return this.within(() => this.#leftToRight(['||'], () => this.#leftToRight(['&&'], () => this.#negation())))
  }

  #leftToRight(operators: readonly string[], operand: () => Expression): Expression {
    let left = operand()
    for (;;) {
      const operator = this.token.text
      if (this.token.kind !== 'operator' || !operators.includes(operator)) return left
      this.at++
      left = { kind: 'binary', operator, left, right: operand() }
    }
  }

  #negation(): Expression {
    if (this.take('!')) return this.within(() => ({ kind: 'not', operand: this.#negation() }))
    return this.#leftToRight(COMPARING, () => this.#sum())
  }

  #sum(): Expression {
    return this.#leftToRight(['+', '-'], () => this.#leftToRight(['*', '/', '%'], () => this.#power()))
  }

  #power(): Expression {
    const left = this.#unary()
    if (!this.take('^')) return left
    return this.within(() => ({ kind: 'binary', operator: '^', left, right: this.#power() }))
  }

  /** The sign has a higher precedence than a power: `-2^2` is 4. */
  #unary(): Expression {
    if (this.take('-')) return this.within(() => ({ kind: 'negate', operand: this.#unary() }))
    for (const [operator, by] of [
      ['++', 1n],
      ['--', -1n],
    ] as const) {
      if (this.take(operator)) return { kind: 'step', place: this.#placeFrom(this.#primary()), by, isPrefix: true }
    }
    const operand = this.#primary()
    const { kind, text } = this.token
    if (kind === 'operator' && ASSIGNING.includes(text)) {
      const place = this.#placeFrom(operand)
      this.at++
      return this.within(() => ({ kind: 'assign', operator: text, place, value: this.#sum() }))
    }
    if (this.is('++') || this.is('--')) {
      this.at++
      return { kind: 'step', place: this.#placeFrom(operand), by: text === '++' ? 1n : -1n, isPrefix: false }
    }
    return operand
  }

  #placeFrom(expression: Expression): Assignable {
    if (expression.kind === 'variable' || expression.kind === 'element' || expression.kind === 'special')
      return expression
    throw this.wrong()
  }

  #primary(): Expression {
    const { kind, text } = this.token
    if (kind === 'number') {
      this.at++
      return { kind: 'number', text }
    }
    if (this.take('(')) {
      const inner = this.expression()
      this.need(')')
      // In brackets an assignment is a value like any other.
      return inner.kind === 'assign'
        ? { kind: 'binary', operator: '+', left: inner, right: { kind: 'number', text: '0' } }
        : inner
    }
    if (this.take('.')) return { kind: 'special', name: 'last' }
    if (kind === 'name') return this.#named()
    throw this.wrong()
  }

  #named(): Expression {
    const name = this.name()
    if (this.is('(') && (BUILT_IN.includes(name) || !SPECIAL.includes(name))) return this.#call(name)
    if (SPECIAL.includes(name)) return { kind: 'special', name }
    if (!this.take('[')) return { kind: 'variable', name }
    const index = this.expression()
    this.need(']')
    return { kind: 'element', name, index }
  }

  #call(name: string): Expression {
    this.need('(')
    const args: (Expression | { kind: 'array'; name: string })[] = []
    while (!this.is(')')) {
      const next = this.tokens[this.at + 1]
      const after = this.tokens[this.at + 2]
      if (this.token.kind === 'name' && next?.text === '[' && after?.text === ']') {
        args.push({ kind: 'array', name: this.name() })
        this.at += 2
      } else args.push(this.expression())
      if (!this.take(',')) break
    }
    this.need(')')
    return { kind: 'call', name, args }
  }
}
