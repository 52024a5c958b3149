// A full-text index over the event log: which groups of three characters each event contains. An alarm fills it piece by
// piece. It is not updated when an event is stored, because that would make storing ten times slower. So it covers the log
// up to some event, and a search reads the rest itself. It contains no text and no positions: a query returns candidates.
//
// Most conversations end before they need the index. Its tables are created when it is filled for the first time.

import { firstRow, rows } from '../../sql.ts'
import { SEARCH_TABLES } from '../schema.ts'
import type { IndexTerms, TextQuery } from './event-search-query.ts'

/**
 * Index pages that are merged with each piece: about six times as many as a piece adds, so that unmerged pages do not
 * accumulate.
 */
const MERGE = "INSERT INTO event_search (event_search, rank) VALUES ('merge', 24)"

/** Up to this many events or characters after the end of the index, reading them is faster than indexing them. */
const DUE_EVENTS = 500
const DUE_LENGTH = 1024 * 1024
/** Characters that are indexed in one piece: a few milliseconds. */
const PIECE_LENGTH = 16 * 1024
const PIECE_EVENTS = 64
/** Two characters of up to two UTF-16 units each, and the half of a third one that a cut may leave. */
const OVERLAP = 6
/** A text is common when more groups than these begin with it: a scan of the log finds it soon. */
const MAX_PREFIXED = 200

/** The newest event that is completely indexed, and the number of indexed characters of the next one. */
type Progress = { covered: number; ahead: number }

export class EventSearchIndex {
  readonly #sql: SqlStorage
  #progress: Progress
  /** Characters that were stored since the index was complete, as far as this instance knows. */
  #pendingLength = 0
  /** An event that is indexed in pieces. */
  #large: { id: number; text: string } | null = null

  constructor(sql: SqlStorage) {
    this.#sql = sql
    const row = firstRow<{ value: string }>(sql, "SELECT value FROM meta WHERE name = 'search'")
    // This class wrote the row, with the same type.
    this.#progress = row === null ? { covered: -1, ahead: 0 } : (JSON.parse(row.value) as Progress)
  }

  /** The id of the newest event that the index covers, -1 when there is none. */
  get covered(): number {
    return this.#progress.covered
  }

  /** To be called with the number of characters of each stored event. */
  added(length: number): void {
    this.#pendingLength += length
  }

  /** Whether it is worth filling the index up to this event. */
  isDue(last: number): boolean {
    return last - this.covered >= DUE_EVENTS || (this.#pendingLength >= DUE_LENGTH && last > this.covered)
  }

  /** Indexes the next piece of the log, up to this event; false when nothing is left. */
  fill(last: number, read: (id: number) => string): boolean {
    const { covered } = this.#progress
    if (covered < 0) this.#sql.exec(SEARCH_TABLES)
    if (covered < last && !this.#fillEvents()) this.#fillPart(covered + 1, read)
    if (this.covered < last) return true
    this.#pendingLength = 0
    return false
  }

  /**
   * The MATCH expression that returns every covered event that may contain the text, and perhaps others. Null when the
   * index is of no use, an empty text when no covered event contains it.
   */
  expression({ forms }: TextQuery): string | null {
    const parts: string[] = []
    for (const form of forms) {
      const part = this.covered < 0 ? null : this.#part(form)
      if (part === null) return null
      if (part !== '') parts.push(`(${part})`)
    }
    return parts.join(' OR ')
  }

  #part(form: IndexTerms): string | null {
    if (form === null) return null
    if ('groups' in form) return form.groups.map(quoted).join(' AND ')
    const terms = rows<{ term: string }>(
      this.#sql,
      'SELECT term FROM event_terms WHERE term >= ? AND term < ? LIMIT ?',
      form.prefix,
      // Sorts after every group that begins with the prefix.
      `${form.prefix}\u{10ffff}\u{10ffff}`,
      MAX_PREFIXED + 1,
    )
    return terms.length > MAX_PREFIXED ? null : terms.map(({ term }) => quoted(term)).join(' OR ')
  }

  /** Indexes as many whole events as make a piece; false when the next one alone is larger than a piece. */
  #fillEvents(): boolean {
    const { covered, ahead } = this.#progress
    if (ahead > 0) return false
    const next = rows<{ id: number; length: number }>(
      this.#sql,
      'SELECT id, length(body) AS length FROM events WHERE id > ? ORDER BY id LIMIT ?',
      covered,
      PIECE_EVENTS,
    )
    let to = covered
    let total = 0
    for (const { id, length } of next) {
      total += length
      // An empty body means a large event, whose text is stored elsewhere.
      if (length === 0 || total > PIECE_LENGTH) break
      to = id
    }
    if (to === covered) return false
    const insert = 'INSERT INTO event_search (rowid, text) SELECT id, body FROM events WHERE id > ? AND id <= ?'
    this.#sql.exec(insert, covered, to)
    this.#advance({ covered: to, ahead: 0 })
    return true
  }

  /** The next characters of one event. The pieces overlap, so that every group is complete in one of them. */
  #fillPart(id: number, read: (id: number) => string): void {
    const { covered, ahead } = this.#progress
    if (this.#large?.id !== id) this.#large = { id, text: read(id) }
    const { text } = this.#large
    const to = Math.min(ahead + PIECE_LENGTH, text.length)
    const piece = text.slice(Math.max(ahead - OVERLAP, 0), to)
    this.#sql.exec('INSERT INTO event_search (rowid, text) VALUES (?, ?)', id, piece)
    if (to < text.length) {
      this.#advance({ covered, ahead: to })
    } else {
      this.#large = null
      this.#advance({ covered: id, ahead: 0 })
    }
  }

  #advance(progress: Progress): void {
    this.#sql.exec(MERGE)
    this.#progress = progress
    const write = "INSERT OR REPLACE INTO meta (name, value) VALUES ('search', ?)"
    this.#sql.exec(write, JSON.stringify(progress))
  }
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
