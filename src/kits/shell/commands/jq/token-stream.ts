// Reads the tokens of a program one by one.

import type { Node } from './ast.ts'
import { JqSyntaxError, type Token } from './lexer.ts'

type ParsePipe = (stream: TokenStream) => Node

export class TokenStream {
  readonly #tokens: readonly Token[]
  readonly #parsePipe: ParsePipe
  #at = 0

  constructor(tokens: readonly Token[], parsePipe: ParsePipe) {
    this.#tokens = tokens
    this.#parsePipe = parsePipe
  }

  /** The longest expression that starts here. */
  pipe(): Node {
    return this.#parsePipe(this)
  }

  /** All of these tokens as one expression. */
  whole(tokens: readonly Token[]): Node {
    const inner = new TokenStream(tokens, this.#parsePipe)
    const node = inner.pipe()
    if (inner.next.kind !== 'end') inner.fail()
    return node
  }

  get next(): Token {
    return this.peek(0)
  }

  get isAtEnd(): boolean {
    return this.next.kind === 'end'
  }

  peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] ?? { kind: 'end', line: 1 }
  }

  take(): Token {
    const token = this.next
    this.#at++
    return token
  }

  is(text: string): boolean {
    const { next } = this
    return (next.kind === 'symbol' || next.kind === 'keyword') && next.text === text
  }

  takeIf(text: string): boolean {
    const found = this.is(text)
    if (found) this.#at++
    return found
  }

  expect(text: string): void {
    if (!this.takeIf(text)) this.fail()
  }

  word(kind: 'name' | 'variable'): string {
    const token = this.take()
    if (token.kind !== kind) return this.fail(token)
    return token.text
  }

  fail(token: Token = this.next): never {
    throw new JqSyntaxError(`syntax error, unexpected ${shown(token)}`)
  }
}

function shown(token: Token): string {
  switch (token.kind) {
    case 'end':
      return '$end'
    case 'number':
      return 'LITERAL'
    case 'text':
      return 'QQSTRING_START'
    case 'format':
      return 'FORMAT'
    case 'field':
      return 'FIELD'
    case 'variable':
      return "'$'"
    case 'name':
      return 'IDENT'
    case 'keyword':
      return token.text
    case 'symbol':
      return token.text.length === 1 ? `'${token.text}'` : token.text
  }
}
