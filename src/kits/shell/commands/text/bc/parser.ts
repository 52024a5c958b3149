// Parses statements of `bc`, line by line.

import { ExpressionParser } from './parse-expression.ts'
import { type Expression, type Local, ParseError, type Statement } from './syntax.ts'

export class Parser extends ExpressionParser {
  /** The statements of the next line, or null at the end. */
  line(): Statement[] | null {
    this.#newlines()
    if (this.token.kind === 'end') return null
    const statements: Statement[] = []
    while (!this.#endsLine()) {
      if (this.take(';')) continue
      const statement = this.#statement()
      statements.push(statement)
      // A function needs no separator after it.
      if (statement.kind !== 'define' && !this.#endsLine() && !this.is(';')) throw this.wrong()
    }
    return statements
  }

  #endsLine(): boolean {
    return this.token.kind === 'newline' || this.token.kind === 'end'
  }

  /** Skips the line with an error. */
  skipLine(): void {
    while (this.token.kind !== 'newline' && this.token.kind !== 'end') this.at++
  }

  #takeWord(word: string): boolean {
    const isThere = this.token.kind === 'name' && this.token.text === word
    if (isThere) this.at++
    return isThere
  }

  #newlines(): void {
    while (this.token.kind === 'newline') this.at++
  }

  #statement(): Statement {
    return this.within(() => this.#statementWithin())
  }

  #statementWithin(): Statement {
    const { kind, text } = this.token
    if (kind === 'string') {
      this.at++
      return { kind: 'string', text }
    }
    if (this.is('{')) return { kind: 'block', body: this.#block() }
    if (kind === 'name') {
      const known = this.#keyword(text)
      if (known) return known
    }
    const expression = this.expression()
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
        this.at++
        return { kind: 'return', value: this.#endsStatement() ? null : this.expression() }
      case 'break':
      case 'continue':
        this.at++
        return { kind: word }
      case 'quit':
      case 'halt':
        this.at++
        return { kind: 'halt' }
      case 'limits':
      case 'warranty':
        throw new ParseError(this.token.line, `${word} is not available here`)
      default:
        return null
    }
  }

  #endsStatement(): boolean {
    return this.token.kind === 'newline' || this.token.kind === 'end' || this.is(';') || this.is('}')
  }

  #block(): Statement[] {
    this.need('{')
    return this.#restOfBlock()
  }

  #restOfBlock(): Statement[] {
    const body: Statement[] = []
    for (;;) {
      while (this.token.kind === 'newline' || this.is(';')) this.at++
      if (this.take('}')) return body
      if (this.token.kind === 'end') throw this.wrong()
      body.push(this.#statement())
      if (!this.#endsStatement()) throw this.wrong()
    }
  }

  #condition(): Statement {
    this.at++
    this.need('(')
    const test = this.expression()
    this.need(')')
    this.#newlines()
    const then = this.#statement()
    const before = this.at
    // `else` may be on the next line inside a block; otherwise the line end counts.
    while (this.token.kind === 'newline' || this.is(';')) this.at++
    if (this.#takeWord('else')) {
      this.#newlines()
      return { kind: 'if', test, then, otherwise: this.#statement() }
    }
    this.at = before
    return { kind: 'if', test, then, otherwise: null }
  }

  #loop(word: 'while' | 'for'): Statement {
    this.at++
    this.need('(')
    const part = (end: string) => {
      const expression = this.is(end) ? null : this.expression()
      this.need(end)
      return expression
    }
    const [start, test, step] = word === 'while' ? [null, part(')'), null] : [part(';'), part(';'), part(')')]
    this.#newlines()
    return { kind: 'loop', start, test, step, body: this.#statement() }
  }

  #definition(): Statement {
    this.at++
    this.#takeWord('void')
    const name = this.name()
    this.need('(')
    const parameters = this.is(')') ? [] : this.#locals()
    this.need(')')
    this.#newlines()
    this.need('{')
    while (this.token.kind === 'newline' || this.is(';')) this.at++
    const locals = this.#takeWord('auto') ? this.#locals() : []
    return { kind: 'define', name, definition: { parameters, locals, body: this.#restOfBlock() } }
  }

  #locals(): Local[] {
    const locals: Local[] = []
    do {
      this.take('*')
      const name = this.name()
      const isArray = this.take('[')
      if (isArray) this.need(']')
      locals.push({ name, isArray })
    } while (this.take(','))
    return locals
  }

  #print(): Statement {
    this.at++
    const items: (Expression | string)[] = []
    do {
      if (this.token.kind === 'string') {
        items.push(this.token.text)
        this.at++
      } else items.push(this.expression())
    } while (this.take(','))
    return { kind: 'print', items }
  }
}
