// Reads the tokens of an awk program one after another.

import { type Token, tokensOf } from './lexer.ts'
import { type AwkError, mistake } from './syntax.ts'

export class TokenReader {
  readonly #tokens: Token[]
  #at = 0

  constructor(source: string) {
    this.#tokens = tokensOf(source)
  }

  get token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', line: 1 }
  }

  ahead(count: number): Token | undefined {
    return this.#tokens[this.#at + count]
  }

  advance(): Token {
    const { token } = this
    this.#at++
    return token
  }

  is(text: string): boolean {
    const { kind } = this.token
    return this.token.text === text && (kind === 'sign' || kind === 'keyword' || kind === 'newline')
  }

  take(text: string): boolean {
    if (!this.is(text)) return false
    this.#at++
    return true
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.unexpected()
  }

  skipNewlines(): void {
    while (this.token.kind === 'newline') this.#at++
  }

  unexpected(): AwkError {
    const { kind, line, text } = this.token
    if (kind === 'end') return mistake(line, 'missing } near end of file')
    if (kind === 'newline')
      return mistake(this.ahead(1)?.kind === 'end' ? line + 1 : line, 'syntax error at or near end of line')
    if (text === ')' || text === '}' || text === ']') return mistake(line, `extra '${text}'`)
    return mistake(line, `syntax error at or near ${kind === 'regex' ? `/${text}/` : text}`)
  }

  name(): string {
    if (this.token.kind !== 'name') throw this.unexpected()
    return this.advance().text
  }
}
