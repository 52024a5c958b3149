// Reads a text record by record. RS may change between two records.

import type { RegexCache } from '../../posix-regex/posix-regex.ts'

export class RecordReader {
  readonly #text: string
  readonly #regexes: RegexCache
  #at = 0

  constructor(text: string, regexes: RegexCache) {
    this.#text = text
    this.#regexes = regexes
  }

  /** Null at the end. */
  read(separator: string): string | null {
    if (separator === '') return this.#paragraph()
    if (this.#at >= this.#text.length) return null
    return separator.length === 1 ? this.#upTo(separator) : this.#upToMatch(separator)
  }

  #upTo(separator: string): string {
    const found = this.#text.indexOf(separator, this.#at)
    const end = found < 0 ? this.#text.length : found
    return this.#take(end, end + 1)
  }

  #upToMatch(separator: string): string {
    const regex = this.#regexes.get(separator)
    for (let at = this.#at; at <= this.#text.length && regex.find(this.#text, at); ) {
      const [start = 0, end = 0] = regex.slots
      if (end > start) return this.#take(start, end)
      at = end + 1
    }
    return this.#take(this.#text.length, this.#text.length)
  }

  /** Records are separated by blank lines; those at both ends are ignored. */
  #paragraph(): string | null {
    while (this.#text[this.#at] === '\n') this.#at++
    if (this.#at >= this.#text.length) return null
    const found = this.#text.indexOf('\n\n', this.#at)
    if (found >= 0) return this.#take(found, found + 2)
    const last = this.#take(this.#text.length, this.#text.length)
    return last.endsWith('\n') ? last.slice(0, -1) : last
  }

  #take(end: number, next: number): string {
    const record = this.#text.slice(this.#at, end)
    this.#at = next
    return record
  }
}
