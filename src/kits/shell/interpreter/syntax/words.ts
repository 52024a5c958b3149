// Finds the end of words in a script, with the quotes, brackets and substitutions in them.

import type { Cursor } from './cursor.ts'
import { SyntaxProblem, unexpected, unmatched } from './problems.ts'
import type { Token } from './token.ts'

const WORD_END = /[\s;&|<>()]/
const ASSIGNED = /^[A-Za-z_]\w*(?:\[[^\n]*\])?\+?=$/
const GROUP_SIGNS = '@?*+!'
const SUBSCRIPT_END = /\]\+?=/
const MOST_OF_INDEX = 200
/** Of an element, in which `<<` is a shift. */
const KEY = /\s*\[[^\]\n'"$`]{1,200}\]\+?=/y

type ListReader = {
  /** Reads the contents of `$( )`, `<( )` and similar, with the closing bracket. */
  list: () => void
  next: () => Token
}

export class Words {
  readonly #cursor: Cursor
  readonly #around: ListReader
  /** After an unclosed one, no other expression is searched. */
  #hasOpenArithmetic = false

  constructor(cursor: Cursor, around: ListReader) {
    this.#cursor = cursor
    this.#around = around
  }

  word(): string {
    const start = this.#cursor.at
    for (;;) {
      const sign = this.#cursor.text[this.#cursor.at]
      if (sign === undefined) break
      if (WORD_END.test(sign)) {
        if (!this.#continues(sign, start)) break
      } else this.#piece(sign, start)
    }
    return this.#cursor.text.slice(start, this.#cursor.at)
  }

  /** An operator character that is part of a word. */
  #continues(sign: string, start: number): boolean {
    const { at, text } = this.#cursor
    if (sign === '(') {
      if (GROUP_SIGNS.includes(text[at - 1] ?? ' ') && at > start) this.#parentheses(at)
      else if (ASSIGNED.test(text.slice(start, at))) this.#array(at)
      else return false
      return true
    }
    if ((sign !== '<' && sign !== '>') || text[at + 1] !== '(') return false
    this.#substitution(at + 2)
    return true
  }

  #piece(sign: string, start: number): void {
    const { at, text } = this.#cursor
    if (sign === '\\') this.#cursor.at = Math.min(at + 2, text.length)
    else if (sign === "'") this.#cursor.to("'", at + 1)
    else if (sign === '"') this.#quoted(at)
    else if (sign === '`') this.#backquoted(at)
    else if (sign === '$') this.#dollar(at)
    else if (sign === '[' && /^[A-Za-z_]\w*$/.test(text.slice(start, at))) this.#subscript(at)
    else this.#cursor.at++
  }

  /** An index may contain blanks if a value follows it. */
  #subscript(at: number): void {
    const [line = ''] = this.#cursor.text.slice(at, at + MOST_OF_INDEX).split('\n')
    const found = SUBSCRIPT_END.exec(line)
    const inner = found === null ? '' : line.slice(1, found.index)
    this.#cursor.at += found === null || /[;&|<>()'"`$]/.test(inner) ? 1 : found.index + 1
  }

  #quoted(at: number): void {
    this.#cursor.at = at + 1
    for (;;) {
      const sign = this.#cursor.text[this.#cursor.at]
      if (sign === undefined) throw unmatched('"', at)
      if (sign === '"') break
      if (sign === '\\') this.#cursor.at += 2
      else if (sign === '`') this.#backquoted(this.#cursor.at)
      else if (sign === '$' && /[({]/.test(this.#cursor.text[this.#cursor.at + 1] ?? '')) this.#dollar(this.#cursor.at)
      else this.#cursor.at++
    }
    this.#cursor.at++
  }

  #backquoted(at: number): void {
    this.#cursor.at = at + 1
    for (; this.#cursor.text[this.#cursor.at] !== '`'; this.#cursor.at++) {
      if (this.#cursor.at >= this.#cursor.text.length) throw unmatched('`', at)
      if (this.#cursor.text[this.#cursor.at] === '\\') this.#cursor.at++
    }
    this.#cursor.at++
  }

  #dollar(at: number): void {
    const { text } = this.#cursor
    const next = text[at + 1]
    if (next === "'") this.#escaped(at + 1)
    else if (next === '{') this.#braces(at)
    else if (next === '(' && text[at + 2] === '(' && this.skipArithmetic(at + 1)) return
    else if (next === '(') this.#substitution(at + 2)
    else this.#cursor.at = at + 1
  }

  #escaped(at: number): void {
    this.#cursor.at = at + 1
    for (; this.#cursor.text[this.#cursor.at] !== "'"; this.#cursor.at++) {
      if (this.#cursor.at >= this.#cursor.text.length) throw unmatched("'", at)
      if (this.#cursor.text[this.#cursor.at] === '\\') this.#cursor.at++
    }
    this.#cursor.at++
  }

  #braces(at: number): void {
    this.#cursor.at = at + 2
    for (let depth = 1; depth > 0; ) {
      const sign = this.#cursor.text[this.#cursor.at]
      if (sign === undefined) throw unmatched('}', at)
      if (sign === '}') depth--
      if (sign === '\\') this.#cursor.at += 2
      else if (sign === "'" && this.#cursor.text.indexOf("'", this.#cursor.at + 1) > 0) this.#mayQuote()
      else if (sign === '"') this.#quoted(this.#cursor.at)
      else if (sign === '`') this.#backquoted(this.#cursor.at)
      else if (sign === '$' && /[({']/.test(this.#cursor.text[this.#cursor.at + 1] ?? '')) this.#dollar(this.#cursor.at)
      else this.#cursor.at++
    }
  }

  /** Within braces, the surrounding quotes determine whether it is a quote: it is one if it is closed before a line end. */
  #mayQuote(): void {
    const { at, text } = this.#cursor
    const end = text.indexOf("'", at + 1)
    this.#cursor.at = text.slice(at, end).includes('\n') ? at + 1 : end + 1
  }

  /** From the first parenthesis of `((`; false if that starts a subshell in a subshell. */
  skipArithmetic(at: number): boolean {
    if (this.#hasOpenArithmetic) return false
    let depth = 0
    for (let i = at; i < this.#cursor.text.length; i++) {
      const sign = this.#cursor.text[i]
      if (sign === '\\') i++
      else if (sign === '(') depth++
      else if (sign === ')') {
        depth--
        if (depth === 1 && this.#cursor.text[i + 1] === ')') {
          this.#cursor.at = i + 2
          return true
        }
        if (depth <= 1) return false
      }
    }
    this.#hasOpenArithmetic = true
    throw unmatched(')', at)
  }

  #substitution(start: number): void {
    this.#cursor.at = start
    this.#around.list()
  }

  #array(at: number): void {
    this.#cursor.at = at + 1
    for (;;) {
      this.#cursor.skip(KEY)
      const { kind, text, start } = this.#around.next()
      if (kind === 'end') throw unmatched(')', at)
      if (kind === 'sign' && text === ')') return
      if (kind === 'sign') throw unexpected(text, start)
    }
  }

  #parentheses(at: number): void {
    this.#cursor.at = at + 1
    for (let depth = 1; depth > 0; ) {
      const sign = this.#cursor.text[this.#cursor.at]
      if (sign === undefined) throw unmatched(')', at)
      if (sign === '(') depth++
      if (sign === ')') depth--
      if (sign === '(' || sign === ')' || WORD_END.test(sign)) this.#cursor.at++
      else this.#piece(sign, this.#cursor.at)
    }
  }

  /** After `[[`, to its end. */
  skipTest(): void {
    const start = this.#cursor.at
    for (;;) {
      const sign = this.#cursor.text[this.#cursor.at]
      if (sign === undefined) throw new SyntaxProblem('syntax error: unexpected end of file', start, false)
      if (WORD_END.test(sign)) {
        this.#cursor.at++
        if (
          /\s/.test(sign) &&
          /^\]\](?:[\s;&|<>()]|$)/.test(this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 3))
        )
          break
      } else this.#piece(sign, this.#cursor.at)
    }
    this.#cursor.at += 2
  }
}
