// Programs for `bc` as trees.

import type { Token } from './lexer.ts'

export type Place =
  | { kind: 'variable'; name: string }
  | { kind: 'element'; name: string; index: Expression }
  | { kind: 'special'; name: string }

export type Expression =
  | { kind: 'number'; text: string }
  | Place
  | { kind: 'call'; name: string; args: (Expression | { kind: 'array'; name: string })[] }
  | { kind: 'negate' | 'not'; operand: Expression }
  | { kind: 'binary'; operator: string; left: Expression; right: Expression }
  | { kind: 'assign'; operator: string; place: Place; value: Expression }
  | { kind: 'step'; place: Place; by: 1n | -1n; isPrefix: boolean }

export type Statement =
  | { kind: 'expression'; expression: Expression; isShown: boolean }
  | { kind: 'string'; text: string }
  | { kind: 'print'; items: (Expression | string)[] }
  | { kind: 'block'; body: Statement[] }
  | { kind: 'if'; test: Expression; then: Statement; otherwise: Statement | null }
  | { kind: 'loop'; start: Expression | null; test: Expression | null; step: Expression | null; body: Statement }
  | { kind: 'break' | 'continue' | 'halt' | 'nothing' }
  | { kind: 'return'; value: Expression | null }
  | { kind: 'define'; name: string; definition: Definition }

export interface Definition {
  parameters: Local[]
  locals: Local[]
  body: Statement[]
}

export interface Local {
  name: string
  isArray: boolean
}

export class ParseError extends Error {
  readonly line: number

  constructor(line: number, message = 'syntax error') {
    super(message)
    this.line = line
  }
}

const SPECIAL = ['scale', 'ibase', 'obase', 'last', '.']
const BUILT_IN = ['sqrt', 'length', 'scale']
const ASSIGNING = ['=', '+=', '-=', '*=', '/=', '%=', '^=']
const COMPARING = ['==', '<=', '>=', '!=', '<', '>']

export class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** The statements of the next line, or null at the end. */
  line(): Statement[] | null {
    this.#newlines()
    if (this.#token.kind === 'end') return null
    const statements: Statement[] = []
    while (!this.#endsLine()) {
      if (this.#take(';')) continue
      const statement = this.#statement()
      statements.push(statement)
      // A function needs nothing between it and what follows.
      if (statement.kind !== 'define' && !this.#endsLine() && !this.#is(';')) throw this.#wrong()
    }
    return statements
  }

  #endsLine(): boolean {
    return this.#token.kind === 'newline' || this.#token.kind === 'end'
  }

  /** Past the line with an error in it. */
  skipLine(): void {
    while (this.#token.kind !== 'newline' && this.#token.kind !== 'end') this.#at++
  }

  get #token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', line: 0 }
  }

  #wrong(): ParseError {
    return new ParseError(this.#token.line + (this.#token.kind === 'newline' ? 1 : 0))
  }

  #is(operator: string): boolean {
    return this.#token.kind === 'operator' && this.#token.text === operator
  }

  #take(operator: string): boolean {
    const isThere = this.#is(operator)
    if (isThere) this.#at++
    return isThere
  }

  #need(operator: string): void {
    if (!this.#take(operator)) throw this.#wrong()
  }

  #takeWord(word: string): boolean {
    const isThere = this.#token.kind === 'name' && this.#token.text === word
    if (isThere) this.#at++
    return isThere
  }

  #name(): string {
    const { kind, text } = this.#token
    if (kind !== 'name') throw this.#wrong()
    this.#at++
    return text
  }

  #newlines(): void {
    while (this.#token.kind === 'newline') this.#at++
  }

  #statement(): Statement {
    const { kind, text } = this.#token
    if (kind === 'string') {
      this.#at++
      return { kind: 'string', text }
    }
    if (this.#is('{')) return { kind: 'block', body: this.#block() }
    if (kind === 'name') {
      const known = this.#keyword(text)
      if (known) return known
    }
    const expression = this.#expression()
    return { kind: 'expression', expression, isShown: expression.kind !== 'assign' }
  }

  #keyword(word: string): Statement | null {
    switch (word) {
      case 'if':
        return this.#condition()
      case 'while':
      case 'for':
        return this.#loop(word)
      case 'define':
        return this.#definition()
      case 'print':
        return this.#print()
      case 'return':
        this.#at++
        return { kind: 'return', value: this.#endsStatement() ? null : this.#expression() }
      case 'break':
      case 'continue':
        this.#at++
        return { kind: word }
      case 'quit':
      case 'halt':
        this.#at++
        return { kind: 'halt' }
      case 'limits':
      case 'warranty':
        throw new ParseError(this.#token.line, `${word} is not available here`)
      default:
        return null
    }
  }

  #endsStatement(): boolean {
    return this.#token.kind === 'newline' || this.#token.kind === 'end' || this.#is(';') || this.#is('}')
  }

  #block(): Statement[] {
    this.#need('{')
    return this.#restOfBlock()
  }

  #restOfBlock(): Statement[] {
    const body: Statement[] = []
    for (;;) {
      while (this.#token.kind === 'newline' || this.#is(';')) this.#at++
      if (this.#take('}')) return body
      if (this.#token.kind === 'end') throw this.#wrong()
      body.push(this.#statement())
      if (!this.#endsStatement()) throw this.#wrong()
    }
  }

  #condition(): Statement {
    this.#at++
    this.#need('(')
    const test = this.#expression()
    this.#need(')')
    this.#newlines()
    const then = this.#statement()
    const before = this.#at
    // `else` may stand on the next line inside of a block; where it does not, the line end counts.
    while (this.#token.kind === 'newline' || this.#is(';')) this.#at++
    if (this.#takeWord('else')) {
      this.#newlines()
      return { kind: 'if', test, then, otherwise: this.#statement() }
    }
    this.#at = before
    return { kind: 'if', test, then, otherwise: null }
  }

  #loop(word: 'while' | 'for'): Statement {
    this.#at++
    this.#need('(')
    const part = (end: string) => {
      const expression = this.#is(end) ? null : this.#expression()
      this.#need(end)
      return expression
    }
    const [start, test, step] = word === 'while' ? [null, part(')'), null] : [part(';'), part(';'), part(')')]
    this.#newlines()
    return { kind: 'loop', start, test, step, body: this.#statement() }
  }

  #definition(): Statement {
    this.#at++
    this.#takeWord('void')
    const name = this.#name()
    this.#need('(')
    const parameters = this.#is(')') ? [] : this.#locals()
    this.#need(')')
    this.#newlines()
    this.#need('{')
    while (this.#token.kind === 'newline' || this.#is(';')) this.#at++
    const locals = this.#takeWord('auto') ? this.#locals() : []
    return { kind: 'define', name, definition: { parameters, locals, body: this.#restOfBlock() } }
  }

  #locals(): Local[] {
    const locals: Local[] = []
    do {
      this.#take('*')
      const name = this.#name()
      const isArray = this.#take('[')
      if (isArray) this.#need(']')
      locals.push({ name, isArray })
    } while (this.#take(','))
    return locals
  }

  #print(): Statement {
    this.#at++
    const items: (Expression | string)[] = []
    do {
      if (this.#token.kind === 'string') {
        items.push(this.#token.text)
        this.#at++
      } else items.push(this.#expression())
    } while (this.#take(','))
    return { kind: 'print', items }
  }

  #expression(): Expression {
    return this.#leftToRight(['||'], () => this.#leftToRight(['&&'], () => this.#negation()))
  }

  #leftToRight(operators: readonly string[], operand: () => Expression): Expression {
    let left = operand()
    for (;;) {
      const operator = this.#token.text
      if (this.#token.kind !== 'operator' || !operators.includes(operator)) return left
      this.#at++
      left = { kind: 'binary', operator, left, right: operand() }
    }
  }

  #negation(): Expression {
    if (this.#take('!')) return { kind: 'not', operand: this.#negation() }
    return this.#leftToRight(COMPARING, () => this.#sum())
  }

  #sum(): Expression {
    return this.#leftToRight(['+', '-'], () => this.#leftToRight(['*', '/', '%'], () => this.#power()))
  }

  #power(): Expression {
    const left = this.#unary()
    if (!this.#take('^')) return left
    return { kind: 'binary', operator: '^', left, right: this.#power() }
  }

  /** The sign binds closer than a power: `-2^2` is 4. */
  #unary(): Expression {
    if (this.#take('-')) return { kind: 'negate', operand: this.#unary() }
    for (const [operator, by] of [
      ['++', 1n],
      ['--', -1n],
    ] as const) {
      if (this.#take(operator)) return { kind: 'step', place: this.#placeFrom(this.#primary()), by, isPrefix: true }
    }
    const operand = this.#primary()
    const { kind, text } = this.#token
    if (kind === 'operator' && ASSIGNING.includes(text)) {
      const place = this.#placeFrom(operand)
      this.#at++
      return { kind: 'assign', operator: text, place, value: this.#sum() }
    }
    if (this.#is('++') || this.#is('--')) {
      this.#at++
      return { kind: 'step', place: this.#placeFrom(operand), by: text === '++' ? 1n : -1n, isPrefix: false }
    }
    return operand
  }

  #placeFrom(expression: Expression): Place {
    if (expression.kind === 'variable' || expression.kind === 'element' || expression.kind === 'special')
      return expression
    throw this.#wrong()
  }

  #primary(): Expression {
    const { kind, text } = this.#token
    if (kind === 'number') {
      this.#at++
      return { kind: 'number', text }
    }
    if (this.#take('(')) {
      const inner = this.#expression()
      this.#need(')')
      // In brackets an assignment is a value like any other.
      return inner.kind === 'assign'
        ? { kind: 'binary', operator: '+', left: inner, right: { kind: 'number', text: '0' } }
        : inner
    }
    if (this.#take('.')) return { kind: 'special', name: 'last' }
    if (kind === 'name') return this.#named()
    throw this.#wrong()
  }

  #named(): Expression {
    const name = this.#name()
    if (this.#is('(') && (BUILT_IN.includes(name) || !SPECIAL.includes(name))) return this.#call(name)
    if (SPECIAL.includes(name)) return { kind: 'special', name }
    if (!this.#take('[')) return { kind: 'variable', name }
    const index = this.#expression()
    this.#need(']')
    return { kind: 'element', name, index }
  }

  #call(name: string): Expression {
    this.#need('(')
    const args: (Expression | { kind: 'array'; name: string })[] = []
    while (!this.#is(')')) {
      const next = this.#tokens[this.#at + 1]
      const after = this.#tokens[this.#at + 2]
      if (this.#token.kind === 'name' && next?.text === '[' && after?.text === ']') {
        args.push({ kind: 'array', name: this.#name() })
        this.#at += 2
      } else args.push(this.#expression())
      if (!this.#take(',')) break
    }
    this.#need(')')
    return { kind: 'call', name, args }
  }
}
