// The pattern being parsed, with the meaning of its characters in the syntax.

import { ASCII_SPACE, ASCII_WORD, BLANKS, DIGITS, namedClass, property, union, wordRanges } from './char-sets.ts'
import { BadPattern, type Ranges } from './syntax.ts'

/** `basic` and `extended` like in GNU grep, `perl` like its `-P`, `rust` like ripgrep. */
export type Flavour = 'basic' | 'extended' | 'perl' | 'rust'

export class Syntax {
  readonly flavour: Flavour
  readonly isPerl: boolean
  /** Whether classes contain characters beyond ASCII. */
  readonly isUnicode: boolean
  ignoresCase: boolean
  dotMatchesAll = false

  constructor(flavour: Flavour, ignoresCase: boolean) {
    this.flavour = flavour
    this.isPerl = flavour === 'perl' || flavour === 'rust'
    this.isUnicode = flavour !== 'perl'
    this.ignoresCase = ignoresCase
  }

  /** The sets of `\d` and similar, by the lower-case letter. */
  escapedSets(letter: string): Ranges | null {
    const { isUnicode, isPerl, flavour } = this
    if (letter === 'w') return wordRanges(isUnicode)
    if (letter === 's') return isUnicode ? namedClass('space', true) : ASCII_SPACE
    if (letter === 'd' && isPerl) return flavour === 'rust' ? property('Nd') : DIGITS
    if (letter === 'h' && flavour === 'perl')
      return union([BLANKS, [0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x3000, 0x3000]])
    return null
  }

  wordRanges(): Ranges {
    return this.isUnicode ? wordRanges(true) : ASCII_WORD
  }
}

const CONTROLS: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, f: 12, v: 11, a: 7, e: 27 }

export class PatternText {
  readonly source: string
  readonly syntax: Syntax
  at = 0

  constructor(source: string, syntax: Syntax) {
    this.source = source
    this.syntax = syntax
  }

  get isAtEnd(): boolean {
    return this.at >= this.source.length
  }

  rest(length: number): string {
    return this.source.slice(this.at, this.at + length)
  }

  skip(length: number): void {
    this.at += length
  }

  take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  /** The match of the expression at this position. */
  takeMatch(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.at
    const found = sticky.exec(this.source)
    if (found) this.at += found[0].length
    return found
  }

  /** The text before the end mark, which is skipped; null if there is none. */
  upTo(end: string): string | null {
    const at = this.source.indexOf(end, this.at)
    if (at < 0) return null
    const found = this.source.slice(this.at, at)
    this.at = at + end.length
    return found
  }

  character(): number {
    const code = this.source.codePointAt(this.at) ?? 0
    this.at += code > 0xffff ? 2 : 1
    return code
  }

  /** After a backslash. `inBrackets` is the letter that means backspace there. */
  escapedCharacter(inBrackets?: number): number {
    const hex = this.takeMatch(
      /x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))|u(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4}))/y,
    )
    if (hex) return Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? hex[4] ?? '0', 16)
    const octal = this.takeMatch(/0[0-7]{0,2}/y)
    if (octal) return Number.parseInt(octal[0], 8)
    const code = this.character()
    if (code === inBrackets) return 8
    const letter = String.fromCodePoint(code)
    const control = Object.hasOwn(CONTROLS, letter) ? CONTROLS[letter] : undefined
    if (control !== undefined) return control
    if (/[A-Za-z0-9]/.test(letter)) throw new BadPattern(`\\${letter} is not available here`)
    return code
  }
}
