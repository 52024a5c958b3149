// Searches one text for `grep`, and writes the output.

import { byteLength } from '../../../../workspace/file-system.ts'
import { type FileText, hasStrayBytes } from '../file-text.ts'
import type { Matcher, Span } from '../regex/matcher.ts'
import type { LinesOut } from './lines-out.ts'
import { Records } from './records.ts'
import type { GrepSettings } from './settings.ts'

/** The size of the original's buffer, after which it checks for binary data. */
const BUFFER_CHARS = 96 * 1024

export interface Searched {
  selected: number
  /** Found lines were not shown, because they are binary. */
  isBinary: boolean
}

export interface Search {
  settings: GrepSettings
  matcher: Matcher
  out: LinesOut
  /** Matches over several lines, each of which is selected. */
  blocks?: readonly Span[] | null
  /** Replaces a line and its matches in the output. */
  rewrite?: (line: string) => { line: string; matches: string[] }
}

/** Searches the text; `name` is the prefix of each line, or null. */
export function searchText(content: FileText, name: string | null, search: Search): Searched {
  return new TextSearch(content, name, search).run()
}

class TextSearch {
  readonly #text: string
  readonly #name: string | null
  readonly #search: Search
  readonly #records: Records
  /** Lines from there on are not shown, because they contain binary data. */
  readonly #binaryFrom: number
  readonly #isCounting: boolean
  readonly #isMixed: boolean
  #hasHidden = false
  #lastOut = -1
  #counted = { at: 0, lines: 0 }
  #measured = { at: 0, bytes: 0 }

  constructor({ text, isMixed }: FileText, name: string | null, search: Search) {
    const { settings, matcher } = search
    const nul = settings.binary === 'text' || settings.flags.has('z') ? -1 : text.indexOf('\0')
    this.#binaryFrom = nul < 0 ? Number.POSITIVE_INFINITY : BUFFER_CHARS * Math.floor(nul / BUFFER_CHARS)
    // In binary data, each NUL ends a line.
    this.#text = nul < 0 ? text : text.replaceAll('\0', '\n')
    this.#isMixed = isMixed && settings.binary !== 'text'
    this.#name = name
    this.#search = search
    this.#isCounting = ['c', 'l', 'L', 'q'].some((flag) => settings.flags.has(flag))
    const separator = settings.flags.has('z') ? '\0' : '\n'
    this.#records = new Records(this.#text, {
      matcher,
      separator,
      inverted: settings.flags.has('v'),
      blocks: search.blocks ?? null,
    })
  }

  run(): Searched {
    const { settings } = this.#search
    const isWithout = settings.binary === 'without-match' && this.#binaryFrom < Number.POSITIVE_INFINITY
    if (isWithout) return { selected: 0, isBinary: false }
    const stopsAtFirst = ['l', 'L', 'q'].some((flag) => settings.flags.has(flag))
    const most = stopsAtFirst ? Math.min(1, settings.maxCount) : settings.maxCount
    let [selected, end] = [0, 0]
    for (let record = this.#records.next(0); record !== null && selected < most; record = this.#records.next(end)) {
      selected++
      if (!this.#isCounting) {
        if (selected > 1 || this.#lastOut >= 0) this.#trailing(end, record.from)
        if (record.from >= this.#binaryFrom) {
          this.#search.out.hiddenGroup()
          return { selected, isBinary: true }
        }
        this.#leading(record, end)
        this.#write(record, ':')
      }
      end = record.to + 1
    }
    if (!this.#isCounting && selected > 0) this.#trailing(end, this.#text.length)
    return { selected, isBinary: this.#hasHidden }
  }

  /** Binary data is not shown; only its existence is reported. */
  #isText({ from, to }: Span): boolean {
    const isText = !(this.#isMixed && hasStrayBytes(this.#text.slice(from, to)))
    if (!isText) this.#hasHidden = true
    return isText
  }

  /** The context before a selected line, at the earliest from the end of the last selected one. */
  #leading(record: Span, end: number): void {
    const before = Math.max(0, this.#search.settings.before)
    const earliest = Math.max(end, this.#lastOut, 0)
    let from = record.from
    for (let i = 0; i < before && from > earliest; i++) {
      from = Math.max(earliest, this.#text.lastIndexOf(this.#separator, from - 2) + 1)
      if (from < earliest) from = earliest
    }
    if (from !== this.#lastOut) this.#search.out.gap()
    for (let at = from; at < record.from; ) at = this.#context(at)
  }

  /** The context after a selected line, up to the next one or, at the end of the search, to the end of the text. */
  #trailing(end: number, next: number): void {
    const { after } = this.#search.settings
    for (let at = end, i = 0; i < after && at < next; i++) at = this.#context(at)
  }

  get #separator(): string {
    return this.#search.settings.flags.has('z') ? '\0' : '\n'
  }

  #context(at: number): number {
    const record = this.#records.at(at)
    this.#write(record, '-')
    return record.to + 1
  }

  #write(record: Span, sign: ':' | '-'): void {
    const { settings, matcher, out } = this.#search
    const { flags } = settings
    if (!flags.has('o') && !this.#isText(record)) return
    this.#lastOut = record.to + 1
    const isMatching = (sign === ':') !== flags.has('v')
    const line = this.#text.slice(record.from, record.to)
    const { rewrite } = this.#search
    if (rewrite && isMatching && sign === ':') this.#writeRewritten(record, rewrite(line))
    else if (flags.has('o')) {
      if (sign === ':' && isMatching) this.#writeMatches(record)
    } else if (flags.has('color') && isMatching) {
      const spans = matcher.spans(line, { from: 0, to: line.length })
      out.paintedLine(this.#place(record, record.from), sign, { line, spans })
    } else out.line(this.#place(record, record.from), sign, line)
  }

  #writeMatches(record: Span): void {
    const { matcher, out } = this.#search
    for (const span of matcher.spans(this.#text, record)) {
      if (this.#isText(span)) out.match(this.#place(record, span.from), this.#text.slice(span.from, span.to))
    }
  }

  #writeRewritten(record: Span, { line, matches }: { line: string; matches: string[] }): void {
    const { settings, out } = this.#search
    const place = this.#place(record, record.from)
    if (settings.flags.has('o')) for (const match of matches) out.match(place, match)
    else out.line(place, ':', line)
  }

  #place(record: Span, from: number): { name: string | null; number: number; offset: number } {
    const { flags } = this.#search.settings
    const number = flags.has('n') ? this.#lineNumber(record.from) : 0
    return { name: this.#name, number, offset: flags.has('b') ? this.#offset(from) : 0 }
  }

  #lineNumber(at: number): number {
    const separator = this.#separator
    let { at: counted, lines } = this.#counted
    for (
      let end = this.#text.indexOf(separator, counted);
      end >= 0 && end < at;
      end = this.#text.indexOf(separator, counted)
    ) {
      lines++
      counted = end + 1
    }
    this.#counted = { at: counted, lines }
    return lines + 1
  }

  /** In bytes. */
  #offset(at: number): number {
    const between = this.#text.slice(this.#measured.at, at)
    // An invalid byte is one byte, but is represented by a character of three.
    const stray =
      this.#isMixed || !between.isWellFormed() ? (between.match(/[\udc80-\udcff\udd80-\uddff]/gu)?.length ?? 0) : 0
    this.#measured = { at, bytes: this.#measured.bytes + byteLength(between) - 2 * stray }
    return this.#measured.bytes
  }
}
