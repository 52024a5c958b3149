// The text of a script, from the parts on the command line, read by character.

import { SedError } from './script.ts'

export interface Piece {
  text: string
  /** Null for one from the command line. */
  file: string | null
}

export class Source {
  readonly text: string
  at = 0
  readonly #starts: { at: number; file: string | null; number: number }[] = []

  constructor(pieces: readonly Piece[]) {
    let at = 0
    let number = 0
    for (const { text, file } of pieces) {
      this.#starts.push({ at, file, number: file === null ? ++number : 0 })
      at += text.length + 1
    }
    this.text = pieces.map(({ text }) => text).join('\n')
  }

  /** The next character, '' at the end. */
  get next(): string {
    return this.text[this.at] ?? ''
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  take(char: string): boolean {
    if (this.next !== char || char === '') return false
    this.at++
    return true
  }

  skip(pattern: RegExp): string {
    const sticky = new RegExp(pattern.source, 'y')
    sticky.lastIndex = this.at
    const [found = ''] = sticky.exec(this.text) ?? []
    this.at += found.length
    return found
  }

  /** In GNU's format, with the current position. */
  mistake(problem: string, place: number = this.at): SedError {
    const piece = this.#starts.findLast(({ at }) => at <= Math.max(0, place - 1)) ?? this.#starts[0]
    if (!piece) return new SedError(problem)
    if (piece.file === null)
      return new SedError(`-e expression #${piece.number}, char ${place === 0 ? 0 : place - piece.at}: ${problem}`)
    const line = this.text.slice(piece.at, Math.max(piece.at, place - 1)).split('\n').length
    return new SedError(`file ${piece.file} line ${line}: ${problem}`)
  }
}
