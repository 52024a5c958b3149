// Bash's grammar on the tokens of `scanner.ts`: throws a `SyntaxProblem` at the first unexpected token.

import { unexpected } from './problems.ts'
import type { Token } from './token.ts'
import { REDIRECTING, TokenReader } from './token-reader.ts'

/** They end a list, and start no command. */
const CLOSING: ReadonlySet<string> = new Set(['then', 'else', 'elif', 'fi', 'do', 'done', 'esac', '}'])
const CLOSING_SIGNS: ReadonlySet<string> = new Set([')', ';;', ';&', ';;&'])
const COMPOUND: ReadonlySet<string> = new Set(['if', 'for', 'select', 'while', 'until', 'case', '{', '[['])
const IS_ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/s

export class Grammar {
  readonly #tokens: TokenReader

  constructor(text: string) {
    this.#tokens = new TokenReader(text, () => this.#listWithin())
  }

  /**
   * Reads what bash reads before it runs anything: up to the end of a line. Returns the start of that part, or null at
   * the end.
   */
  begin(): number | null {
    return this.#tokens.scanner.nextUnit()
  }

  unit(): void {
    for (;;) {
      this.#andOr()
      const { kind, text, start } = this.#tokens.scanner.peek()
      if (kind === 'end') return
      const isSeparator = kind === 'sign' && (text === ';' || text === '&')
      if (!isSeparator && kind !== 'newline') throw unexpected(text, start)
      this.#tokens.scanner.take()
      if (kind === 'newline') return
      const next = this.#tokens.scanner.peek()
      if (next.kind === 'newline' || next.kind === 'end') {
        this.#tokens.scanner.take()
        return
      }
    }
  }

  /** In a substitution, which may be empty. */
  #listWithin(): void {
    this.#tokens.newlines()
    const { kind, text } = this.#tokens.peek()
    if (kind === 'end' || (kind === 'sign' && text === ')')) return
    this.#list()
  }

  #list(): void {
    this.#tokens.newlines()
    for (;;) {
      this.#andOr()
      const { kind, text } = this.#tokens.scanner.peek()
      if (kind !== 'newline' && text !== ';' && text !== '&') return
      this.#tokens.scanner.take()
      this.#tokens.newlines()
      if (endsList(this.#tokens.scanner.peek())) return
    }
  }

  #andOr(): void {
    this.#pipeline()
    while (this.#tokens.takeSign('&&') || this.#tokens.takeSign('||')) {
      this.#tokens.newlines()
      this.#pipeline()
    }
  }

  #pipeline(): void {
    let isEmpty = false
    for (;;) {
      const { text } = this.#tokens.scanner.peek()
      if (text !== '!' && text !== 'time') break
      this.#tokens.scanner.take()
      isEmpty = true
      if (text === 'time' && this.#tokens.scanner.peek().text === '-p') this.#tokens.scanner.take()
    }
    const { kind, text } = this.#tokens.scanner.peek()
    if (isEmpty && (kind === 'newline' || kind === 'end' || text === ';' || text === '&' || text === ')')) return
    this.#command()
    while (this.#tokens.takeSign('|') || this.#tokens.takeSign('|&')) {
      this.#tokens.newlines()
      this.#command()
    }
  }

  #command(): void {
    const token = this.#tokens.scanner.peek()
    const { kind, text, start } = token
    if (kind === 'end') throw this.#tokens.atEnd()
    if (beginsCompound(token)) this.#compound()
    else if (kind === 'newline' || (kind === 'sign' && !REDIRECTING.test(text))) throw unexpected(text, start)
    else if (kind === 'word' && CLOSING.has(text)) throw unexpected(text, start)
    else if (text === 'function') this.#function()
    else if (text === 'coproc') this.#coprocess()
    else this.#simple()
  }

  #simple(): void {
    let words = 0
    let isAssigning = true
    for (;;) {
      const { kind, text, start } = this.#tokens.scanner.peek()
      if (kind === 'sign' && text === '(') {
        if (words !== 1 || isAssigning) throw unexpected(text, start)
        this.#tokens.scanner.take()
        this.#tokens.expectSign(')')
        this.#body()
        return
      }
      if (kind === 'word') {
        this.#tokens.scanner.take()
        isAssigning &&= IS_ASSIGNMENT.test(text)
        words++
      } else if (!this.#tokens.redirection()) return
    }
  }

  #function(): void {
    this.#tokens.scanner.take()
    this.#tokens.word()
    if (this.#tokens.takeSign('(')) this.#tokens.expectSign(')')
    this.#body()
  }

  #body(): void {
    this.#tokens.newlines()
    const token = this.#tokens.scanner.peek()
    if (token.kind === 'end') throw this.#tokens.atEnd()
    if (!beginsCompound(token)) throw unexpected(token.text, token.start)
    this.#compound()
  }

  #coprocess(): void {
    this.#tokens.scanner.take()
    const { kind, text } = this.#tokens.scanner.peek()
    if (kind === 'word' && !COMPOUND.has(text)) {
      this.#tokens.scanner.take()
      if (!beginsCompound(this.#tokens.scanner.peek())) {
        this.#simple()
        return
      }
    }
    this.#command()
  }

  #compound(): void {
    const { text, start } = this.#tokens.scanner.take()
    if (text === '(') this.#parenthesized(start)
    else if (text === '[[') this.#tokens.scanner.skipTest()
    else if (text === '{') {
      this.#list()
      this.#tokens.expectWord('}')
    } else if (text === 'if') this.#if()
    else if (text === 'case') this.#case()
    else if (text === 'for' || text === 'select') this.#for()
    else {
      this.#list()
      this.#doGroup()
    }
    this.#tokens.redirections()
  }

  #parenthesized(start: number): void {
    if (this.#tokens.scanner.text[start + 1] === '(' && this.#tokens.scanner.skipArithmetic(start)) return
    this.#list()
    this.#tokens.expectSign(')')
  }

  #if(): void {
    this.#list()
    this.#tokens.expectWord('then')
    this.#list()
    for (;;) {
      if (this.#tokens.takeWord('elif')) {
        this.#list()
        this.#tokens.expectWord('then')
        this.#list()
      } else if (this.#tokens.takeWord('else')) this.#list()
      else break
    }
    this.#tokens.expectWord('fi')
  }

  #doGroup(): void {
    this.#tokens.expectWord('do')
    this.#list()
    this.#tokens.expectWord('done')
  }

  #for(): void {
    const { kind, text, start } = this.#tokens.scanner.peek()
    if (kind === 'sign' && text === '(' && this.#tokens.scanner.text[start + 1] === '(') {
      this.#tokens.scanner.take()
      this.#tokens.scanner.skipArithmetic(start)
      this.#tokens.takeSign(';')
    } else {
      this.#tokens.word()
      this.#tokens.newlines()
      if (this.#tokens.takeWord('in')) this.#forWords()
      else this.#tokens.takeSign(';')
    }
    this.#tokens.newlines()
    if (this.#tokens.takeWord('{')) {
      this.#list()
      this.#tokens.expectWord('}')
    } else this.#doGroup()
  }

  #forWords(): void {
    while (this.#tokens.scanner.peek().kind === 'word') this.#tokens.scanner.take()
    const { kind, text, start } = this.#tokens.scanner.take()
    if (kind === 'end') throw this.#tokens.atEnd()
    if (kind !== 'newline' && text !== ';') throw unexpected(text, start)
  }

  #case(): void {
    this.#tokens.word()
    this.#tokens.newlines()
    this.#tokens.expectWord('in')
    for (;;) {
      this.#tokens.newlines()
      if (this.#tokens.takeWord('esac')) return
      this.#tokens.takeSign('(')
      this.#tokens.word()
      while (this.#tokens.takeSign('|')) this.#tokens.word()
      this.#tokens.expectSign(')')
      this.#tokens.newlines()
      if (!endsList(this.#tokens.scanner.peek())) this.#list()
      this.#tokens.newlines()
      const { kind, text } = this.#tokens.scanner.peek()
      if (kind === 'sign' && CLOSING_SIGNS.has(text) && text !== ')') this.#tokens.scanner.take()
      else {
        this.#tokens.expectWord('esac')
        return
      }
    }
  }
}

function endsList({ kind, text }: Token): boolean {
  return kind === 'end' || (kind === 'word' ? CLOSING.has(text) : CLOSING_SIGNS.has(text))
}

function beginsCompound({ kind, text }: Token): boolean {
  return kind === 'word' ? COMPOUND.has(text) : kind === 'sign' && text === '('
}
