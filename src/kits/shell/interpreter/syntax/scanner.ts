// The tokens of a script, like in bash. They are not used to run it: this finds the position of the first error in an
// invalid script.

import { Cursor } from './cursor.ts'
import { SyntaxProblem, unexpected } from './problems.ts'
import type { Token } from './token.ts'
import { Words } from './words.ts'

const SIGN = /;;&|&>>|<<<|<<-|;;|;&|&>|&&|\|\||\|&|<<|<&|<>|>>|>&|>\||[;&|<>()]/y
const BLANKS = /(?:[ \t]|\\\n)+/y

type Document = { delimiter: string; stripsTabs: boolean }

export class Scanner {
  readonly #cursor: Cursor
  readonly #words: Words
  #ahead: Token | null = null
  readonly #documents: Document[] = []

  constructor(text: string, list: () => void) {
    this.#cursor = new Cursor(text)
    this.#words = new Words(this.#cursor, { list: () => this.#within(() => list()), next: () => this.#next() })
  }

  peek(): Token {
    this.#ahead ??= this.#next()
    return this.#ahead
  }

  take(): Token {
    const token = this.peek()
    this.#ahead = null
    return token
  }

  /** The start of the next command, before anything of it is read; null at the end. */
  nextUnit(): number | null {
    for (;;) {
      this.#cursor.skip(BLANKS)
      const sign = this.#cursor.text[this.#cursor.at]
      if (sign === undefined) return null
      if (sign === '#') this.#cursor.toLineEnd()
      else if (sign === '\n') this.#newline()
      else return this.#cursor.at
    }
  }

  /** The delimiter of a here-document, whose text starts on the next line. */
  expectDocument(word: string, stripsTabs: boolean): void {
    this.#documents.push({ delimiter: word.replace(/["'\\]/g, ''), stripsTabs })
  }

  #next(): Token {
    this.#cursor.skip(BLANKS)
    const start = this.#cursor.at
    if (this.#cursor.text[start] === '#') this.#cursor.toLineEnd()
    if (this.#cursor.at >= this.#cursor.text.length) return { kind: 'end', text: '', start: this.#cursor.at }
    if (this.#cursor.text[this.#cursor.at] === '\n') return this.#newline()
    const [sign] = this.#cursor.match(SIGN) ?? []
    const opens = (sign === '<' || sign === '>') && this.#cursor.text[start + 1] === '('
    if (sign === undefined || opens) return { kind: 'word', text: this.#words.word(), start }
    this.#cursor.at += sign.length
    return { kind: 'sign', text: sign, start }
  }

  #newline(): Token {
    const start = this.#cursor.at++
    for (const one of this.#documents.splice(0)) this.#document(one)
    return { kind: 'newline', text: 'newline', start }
  }

  #document({ delimiter, stripsTabs }: Document): void {
    while (this.#cursor.at < this.#cursor.text.length) {
      const start = this.#cursor.at
      this.#cursor.toLineEnd()
      const line = this.#cursor.text.slice(start, this.#cursor.at++)
      if ((stripsTabs ? line.replace(/^\t+/, '') : line) === delimiter) return
    }
    this.#cursor.at = Math.min(this.#cursor.at, this.#cursor.text.length)
  }

  get text(): string {
    return this.#cursor.text
  }

  /** The operator after the last token. */
  get following(): string {
    return this.#cursor.text[this.#cursor.at] ?? ''
  }

  skipArithmetic(at: number): boolean {
    return this.#words.skipArithmetic(at)
  }

  skipTest(): void {
    this.#words.skipTest()
  }

  #within(list: () => void): void {
    const ahead = this.#ahead
    this.#ahead = null
    list()
    const { kind, text, start } = this.take()
    if (kind === 'end')
      throw new SyntaxProblem("unexpected EOF while looking for matching `)'", this.text.length, false)
    if (text !== ')') throw unexpected(text, start)
    this.#ahead = ahead
  }
}
