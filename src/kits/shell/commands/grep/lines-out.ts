// Prints the lines found by `grep`: with prefixes, and in colors.

import type { Span } from '../regex/matcher.ts'
import type { GrepSettings } from './settings.ts'

const COLOURS = { match: '01;31', name: '35', number: '32', separator: '36' }

export class LinesOut {
  text = ''
  /** The width of line numbers, if tabs must align. */
  numberWidth = 0
  readonly #settings: GrepSettings
  readonly #isColoured: boolean
  readonly #end: string
  #hasGroup = false

  constructor(settings: GrepSettings) {
    this.#settings = settings
    this.#isColoured = settings.flags.has('color')
    this.#end = settings.flags.has('z') ? '\0' : '\n'
  }

  fileName(name: string): void {
    this.text += this.#painted(name, COLOURS.name) + (this.#settings.flags.has('Z') ? '\0' : '\n')
  }

  count(name: string | null, count: number): void {
    if (name !== null) {
      const end = this.#settings.flags.has('Z') ? '\0' : this.#painted(':', COLOURS.separator)
      this.text += this.#painted(name, COLOURS.name) + end
    }
    this.text += `${count}\n`
  }

  /** Between lines that are not consecutive, after the first lines. */
  gap(): void {
    const { groupSeparator, before, after } = this.#settings
    if (this.#hasGroup && groupSeparator !== null && (before >= 0 || after >= 0)) {
      this.text += `${this.#painted(groupSeparator, COLOURS.separator)}\n`
    }
    this.#hasGroup = true
  }

  /** For a found line that is not shown: the next line is still separated from it. */
  hiddenGroup(): void {
    this.#hasGroup = true
  }

  line(place: { name: string | null; number: number; offset: number }, sign: ':' | '-', line: string): void {
    this.text += this.#head(place, sign, line) + line + this.#end
  }

  /** The line with the matches highlighted. */
  paintedLine(
    place: { name: string | null; number: number; offset: number },
    sign: ':' | '-',
    found: { line: string; spans: Span[] },
  ): void {
    const { line, spans } = found
    let painted = ''
    let from = 0
    for (const span of spans) {
      painted += line.slice(from, span.from) + this.#painted(line.slice(span.from, span.to), COLOURS.match)
      from = span.to
    }
    this.text += this.#head(place, sign, line) + painted + line.slice(from) + this.#end
  }

  match(place: { name: string | null; number: number; offset: number }, found: string): void {
    this.text += this.#head(place, ':', found) + this.#painted(found, COLOURS.match) + this.#end
  }

  #head(
    { name, number, offset }: { name: string | null; number: number; offset: number },
    sign: string,
    line: string,
  ): string {
    const { flags } = this.#settings
    if (name === null && !flags.has('n') && !flags.has('b')) return ''
    const between = this.#painted(sign, COLOURS.separator)
    const width = flags.has('T') ? this.numberWidth : 0
    let head = name === null ? '' : this.#painted(name, COLOURS.name) + (flags.has('Z') ? '\0' : between)
    if (flags.has('n')) head += this.#painted(String(number).padStart(width), COLOURS.number) + between
    if (flags.has('b')) head += this.#painted(String(offset).padStart(width), COLOURS.number) + between
    return flags.has('T') && line !== '' ? `${head}\t` : head
  }

  #painted(text: string, colour: string): string {
    return this.#isColoured ? `\x1b[${colour}m\x1b[K${text}\x1b[m\x1b[K` : text
  }
}
