// Iterates over the lines of a text for a search.

import type { Matcher, Span } from '../regex/matcher.ts'

export interface RecordsOptions {
  matcher: Matcher
  separator: string
  /** Selects the lines that do not match. */
  inverted: boolean
  /** Set if the matches are already known, because they may extend over several lines. */
  blocks: readonly Span[] | null
}

export class Records {
  readonly #text: string
  readonly #options: RecordsOptions
  /** The next match, and whether it is known. */
  #match: Span | null = null
  #isKnown = false

  constructor(text: string, options: RecordsOptions) {
    this.#text = text
    this.#options = options
  }

  /** The line that starts there; its end is the position of its separator. */
  at(from: number): Span {
    const end = this.#text.indexOf(this.#options.separator, from)
    return { from, to: end < 0 ? this.#text.length : end }
  }

  /** The first selected line from there on. */
  next(from: number): Span | null {
    if (!this.#options.inverted) return this.#matching(from)
    for (let at = from; at < this.#text.length; ) {
      if (!this.#isKnown || (this.#match && this.#match.from < at)) {
        this.#match = this.#matching(at)
        this.#isKnown = true
      }
      if (this.#match?.from !== at) return this.at(at)
      at = this.#match.to + 1
    }
    return null
  }

  #matching(from: number): Span | null {
    const { matcher, separator, blocks } = this.#options
    const text = this.#text
    if (from >= text.length) return null
    if (blocks) return this.#inBlock(from, blocks)
    const place = matcher.find(text, from, text.length)
    if (place < 0 || (place === text.length && text.endsWith(separator))) return null
    const start = place === 0 ? 0 : text.lastIndexOf(separator, place - 1) + 1
    return this.at(Math.max(from, start))
  }

  #inBlock(from: number, blocks: readonly Span[]): Span | null {
    // A match that ends with a line end does not include the next line.
    const block = blocks.find(({ to }) => to > from)
    if (!block) return null
    const start = block.from === 0 ? 0 : this.#text.lastIndexOf(this.#options.separator, block.from - 1) + 1
    return this.at(Math.max(from, start))
  }
}
