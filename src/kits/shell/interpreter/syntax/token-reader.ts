// Reads expected and optional tokens of a text.

import { SyntaxProblem, unexpected } from './problems.ts'
import { Scanner } from './scanner.ts'
import type { Token } from './token.ts'

export const REDIRECTING = /^(?:&?>>?|[<>]&|<>|>\||<<<|<<-?|<)$/

export class TokenReader {
  readonly #scanner: Scanner

  constructor(text: string, list: () => void) {
    this.#scanner = new Scanner(text, list)
  }

  get scanner(): Scanner {
    return this.#scanner
  }

  peek(): Token {
    return this.#scanner.peek()
  }

  redirection(): boolean {
    const { kind, text } = this.#scanner.peek()
    if (kind !== 'sign' || !REDIRECTING.test(text)) return false
    this.#scanner.take()
    const target = this.word()
    if (text === '<<' || text === '<<-') this.#scanner.expectDocument(target, text === '<<-')
    return true
  }

  redirections(): void {
    for (;;) {
      if (this.redirection()) continue
      const { kind, text } = this.#scanner.peek()
      if (kind !== 'word' || !/^(?:\d+|\{\w+\})$/.test(text) || !/[<>]/.test(this.#scanner.following)) return
      this.#scanner.take()
    }
  }

  newlines(): void {
    while (this.#scanner.peek().kind === 'newline') this.#scanner.take()
  }

  word(): string {
    const { kind, text, start } = this.#scanner.take()
    if (kind === 'end') throw this.#scanner.text.endsWith('\n') ? this.atEnd() : unexpected('newline', start)
    if (kind !== 'word') throw unexpected(text, start)
    return text
  }

  takeSign(sign: string): boolean {
    const { kind, text } = this.#scanner.peek()
    if (kind !== 'sign' || text !== sign) return false
    this.#scanner.take()
    return true
  }

  takeWord(word: string): boolean {
    const { kind, text } = this.#scanner.peek()
    if (kind !== 'word' || text !== word) return false
    this.#scanner.take()
    return true
  }

  expectSign(sign: string): void {
    const { kind, text, start } = this.#scanner.peek()
    if (kind === 'end') throw this.atEnd()
    if (kind !== 'sign' || text !== sign) throw unexpected(text, start)
    this.#scanner.take()
  }

  expectWord(word: string): void {
    const { kind, text, start } = this.#scanner.peek()
    if (kind === 'end') throw this.atEnd()
    if (kind !== 'word' || text !== word) throw unexpected(text, start)
    this.#scanner.take()
  }

  atEnd(): SyntaxProblem {
    return new SyntaxProblem('syntax error: unexpected end of file', this.#scanner.text.length, false)
  }
}
