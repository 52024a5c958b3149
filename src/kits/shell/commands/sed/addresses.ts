// Parses the addresses of sed commands, and the expressions and texts between delimiters.

import { PosixRegex, type RegexOptions, SED_BASIC, SED_EXTENDED } from '../../posix-regex/posix-regex.ts'
import { RegexError } from '../../posix-regex/syntax.ts'
import type { Address, EndAddress, Selection } from './script.ts'
import type { Source } from './source.ts'

export interface ScriptOptions {
  isExtended: boolean
  /** Lines end with NUL, so nothing within a line is a line end. */
  isZero: boolean
  /** Commands that access files or run programs are refused. */
  isSandbox: boolean
}

export class AddressParser {
  protected readonly source: Source
  protected readonly options: ScriptOptions

  constructor(source: Source, options: ScriptOptions) {
    this.source = source
    this.options = options
  }

  protected selection(): Selection {
    const source = this.source
    const from = this.#address()
    const isZero = from?.kind === 'line' && from.line === 0
    let to: EndAddress | null = null
    source.skip(/[ \t]+/)
    if (from && source.take(',')) {
      source.skip(/[ \t]+/)
      to = this.#endAddress()
      if (!to) throw source.mistake("unexpected `,'", source.at + 1)
    }
    if (isZero && to?.kind !== 'regex') throw source.mistake('invalid usage of line address 0', source.at + 1)
    source.skip(/\s+/)
    const isNegated = source.take('!')
    source.skip(/\s+/)
    if (isNegated && source.take('!')) throw source.mistake("multiple `!'s")
    return { from, to, isNegated, range: { state: isZero ? 'inside' : 'before', lastLine: 0 } }
  }

  #address(): Address | null {
    const source = this.source
    const number = source.skip(/\d+/)
    if (number !== '') {
      const first = Number(number)
      const step = source.skip(/[ \t]*~[ \t]*\d*/)
      return step === ''
        ? { kind: 'line', line: first }
        : { kind: 'every', first, step: Number(step.replace(/\D/g, '')) }
    }
    if (source.next === '+' || source.next === '~') {
      throw source.mistake('invalid usage of +N or ~N as first address', source.at + 2)
    }
    if (source.take('$')) return { kind: 'last' }
    const isCustom = source.take('\\')
    if (!isCustom && source.next !== '/') return null
    const delimiter = source.next
    source.at++
    const pattern = delimiter === '' ? null : this.delimited(delimiter, 'regex')
    if (pattern === null) throw source.mistake('unterminated address regex')
    const flags = source.skip(/[ \t]*[IM]+/)
    const options = { ignoreCase: flags.includes('I'), multiline: flags.includes('M') }
    return { kind: 'regex', regex: this.regex(pattern, options) }
  }

  #endAddress(): EndAddress | null {
    const source = this.source
    const sign = source.skip(/[+~]\d+/)
    if (sign === '') return this.#address()
    const number = Number(sign.slice(1))
    return sign.startsWith('+') ? { kind: 'more', lines: number } : { kind: 'multiple', of: number }
  }

  /** Null for the most recently used expression. */
  protected regex(pattern: string, options: RegexOptions): PosixRegex | null {
    if (pattern === '') {
      if (options.ignoreCase || options.multiline) throw this.source.mistake('no previous regular expression')
      return null
    }
    const { isExtended, isZero } = this.options
    try {
      return new PosixRegex(pattern, isExtended ? SED_EXTENDED : SED_BASIC, {
        ...options,
        multiline: options.multiline === true && !isZero,
      })
    } catch (error) {
      if (error instanceof RegexError) throw this.source.mistake(error.message)
      throw error
    }
  }

  /** Up to the delimiter, which is not read; null if there is none. */
  protected delimited(delimiter: string, kind: 'regex' | 'text'): string | null {
    const source = this.source
    let text = ''
    for (; !source.isAtEnd; source.at++) {
      const char = source.next
      if (char === delimiter) {
        source.at++
        return text
      }
      if (char === '\n' && kind === 'regex') return null
      if (char === '[' && kind === 'regex') {
        const bracket = this.#bracket()
        // An unclosed bracket includes the delimiter.
        if (bracket === '') {
          source.at = source.text.length
          return null
        }
        text += bracket
        source.at--
        continue
      }
      if (char !== '\\') {
        text += char
        continue
      }
      source.at++
      text += this.#escaped(delimiter, kind)
    }
    return null
  }

  /** The backslash only prevents the delimiter from ending the text: its meaning in the expression is unchanged. */
  #escaped(delimiter: string, kind: 'regex' | 'text'): string {
    const { next } = this.source
    if (next !== delimiter) return `\\${next}`
    return kind === 'text' && next === '&' ? '\\&' : next
  }

  /** A whole bracket expression, in which the delimiter is a normal character. */
  #bracket(): string {
    return this.source.skip(/\[\^?\]?(?:\[:\w+:\]|\[\.[^\n]*?\.\]|\[=[^\n]*?=\]|[^\]\n])*\]/)
  }
}
