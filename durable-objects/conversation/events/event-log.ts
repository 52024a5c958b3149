// A conversation is its event log. What a client sees is a row here first and a frame second, so "everything after 41"
// is always a complete answer, whatever a socket missed. Ids are dense from 0; an event never changes once it is stored.

import { isHidden, kindOf, type NewEvent, type StoredEvent } from '../../../src/agent/events.ts'
import { isoMicros } from '../../../src/lib/clock.ts'
import { giveWay } from '../../../src/lib/give-way.ts'
import { MAX_ROW_LENGTH, partsOf } from '../../named-texts.ts'
import { firstRow, rows } from '../../sql.ts'
import { type EventPage, matchingBodies, PAUSE } from './event-search.ts'
import { EventSearchIndex } from './event-search-index.ts'
import { RecentEvents } from './recent-events.ts'

const INSERT_ONE = 'INSERT INTO events (id, timestamp, source, kind, hidden, body) VALUES (?, ?, ?, ?, ?, ?)'

/** A batch travels as one JSON value: one statement, whatever the number of events. */
const INSERT_MANY = `
  INSERT INTO events (id, timestamp, source, kind, hidden, body)
  SELECT value ->> 0, ?1, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?2)`

/** A bound value holds at most 2 MB, like a row; a message with images may be twice as large. */
const MAX_BATCH_LENGTH = MAX_ROW_LENGTH
/** Characters that one read of the log loads, unless a single event is larger. */
const MAX_READ_BYTES = 256 * 1024
/**
 * Size of the newest events that are kept in memory. Not more than one read, so that a read from memory is never too
 * long.
 */
const MEMORY_BYTES = MAX_READ_BYTES
/**
 * The pause between two pieces of the index. While events arrive, indexing waits for QUIET_MS after the last one,
 * unless more than MAX_UNINDEXED wait: clients must not notice the work.
 */
const REST_MS = 20
const QUIET_MS = 1_000
const MAX_UNINDEXED = 20_000
/** Reading these takes a fraction of a millisecond. */
const FIRST_LOOK = 200
/** Reading these takes a few milliseconds when none of them match. */
const SLICE_EVENTS = 1_000
/** Characters of one page; a page may exceed it by one event. */
const MAX_PAGE_LENGTH = 8 * 1024 * 1024

export type FoundEvents = { events: string[]; hasMore: boolean }

export class EventLog {
  readonly #sql: SqlStorage
  readonly #index: EventSearchIndex
  readonly #recent: RecentEvents
  #last: number
  #lastAt: string
  #appendedAt = 0
  /** The newest id by kind, for kinds that were requested: the newest event of a rare kind can be a million events back. */
  readonly #newest = new Map<string, number>()

  constructor(sql: SqlStorage, memoryBytes = MEMORY_BYTES) {
    this.#sql = sql
    this.#index = new EventSearchIndex(sql)
    const newest = firstRow<{ id: number; timestamp: string }>(
      sql,
      'SELECT id, timestamp FROM events ORDER BY id DESC LIMIT 1',
    )
    this.#last = newest?.id ?? -1
    this.#lastAt = newest?.timestamp ?? ''
    this.#recent = new RecentEvents(sql, this.#last, memoryBytes)
  }

  /** The id of the newest event, -1 when there is none. */
  get last(): number {
    return this.#last
  }

  /** When the newest event was stored; null when there is none. */
  get lastAt(): string | null {
    return this.#last < 0 ? null : this.#lastAt
  }

  /** Numbers and stores the events, all or none, and returns them as clients will get them. */
  append(events: readonly NewEvent[]): StoredEvent[] {
    this.#appendedAt = Date.now()
    let at = isoMicros(this.#appendedAt)
    // A clock that was set back must not put a later event before an earlier one.
    if (at < this.#lastAt) at = this.#lastAt
    const stored: StoredEvent[] = []
    let id = this.#last
    for (const event of events) {
      id += 1
      const text = `{"id":${id},"timestamp":"${at}",${JSON.stringify(event).slice(1)}`
      stored.push({ id, kind: kindOf(event), source: event.source, text })
    }
    this.#insert(at, events, stored)
    return stored
  }

  /** Adds events that another log has numbered and stored; they must follow the newest event here. */
  adopt(texts: readonly string[]): void {
    for (const text of texts) {
      // The rows come from another log of this service.
      const event = JSON.parse(text) as NewEvent & { id: number; timestamp: string }
      if (event.id !== this.#last + 1) throw new Error(`event ${event.id} does not follow ${this.#last}`)
      const { id, timestamp, source } = event
      this.#insert(timestamp, [event], [{ id, kind: kindOf(event), source, text }])
    }
  }

  /** The state in memory changes only after the rows were written. */
  #insert(at: string, events: readonly NewEvent[], stored: readonly StoredEvent[]): void {
    const hidden = events.map(isHidden)
    this.#index.added(stored.reduce((sum, { text }) => sum + text.length, 0))
    this.#insertRows(at, hidden, stored)
    for (const [i, event] of stored.entries()) {
      this.#recent.add(event, hidden[i] === true)
      if (this.#newest.has(event.kind)) this.#newest.set(event.kind, event.id)
    }
    this.#last = stored.at(-1)?.id ?? this.#last
    this.#lastAt = at
  }

  #insertRows(at: string, hidden: readonly boolean[], stored: readonly StoredEvent[]): void {
    const length = stored.reduce((sum, { text }) => sum + text.length, 0)
    if (stored.length > 1 && length <= MAX_BATCH_LENGTH) {
      const batch = stored.map(({ id, source, kind, text }, i) => [id, source, kind, Number(hidden[i]), text])
      this.#sql.exec(INSERT_MANY, at, JSON.stringify(batch))
      return
    }
    for (const [i, { id, source, kind, text }] of stored.entries()) {
      const large = text.length > MAX_ROW_LENGTH
      this.#sql.exec(INSERT_ONE, id, at, source, kind, Number(hidden[i]), large ? '' : text)
      if (large) this.#insertParts(id, text)
    }
  }

  #insertParts(id: number, text: string): void {
    for (const [part, piece] of partsOf(text).entries()) {
      this.#sql.exec('INSERT INTO event_parts (event_id, part, text) VALUES (?, ?, ?)', id, part, piece)
    }
  }

  #whole(id: number, body: string): string {
    if (body !== '') return body
    const parts = rows<{ text: string }>(this.#sql, 'SELECT text FROM event_parts WHERE event_id = ? ORDER BY part', id)
    return parts.map(({ text }) => text).join('')
  }

  /** The event's text, or null. */
  get(id: number): string | null {
    const known = this.#recent.get(id)
    if (known !== null) return known
    const row = firstRow<{ body: string }>(this.#sql, 'SELECT body FROM events WHERE id = ?', id)
    return row === null ? null : this.#whole(id, row.body)
  }

  /** The id of the newest event of this kind, -1 when there is none. */
  newestOf(kind: string): number {
    const id = this.#newest.get(kind) ?? this.#findNewest(kind)
    this.#newest.set(kind, id)
    return id
  }

  /** Walks back from the newest event: the requested one is nearly always near the end. */
  #findNewest(kind: string): number {
    const row = firstRow<{ id: number }>(
      this.#sql,
      'SELECT id FROM events WHERE kind = ? ORDER BY id DESC LIMIT 1',
      kind,
    )
    return row?.id ?? -1
  }

  /** The events that come after the given id, in order: up to `limit`, or fewer when together they are long. */
  since(after: number, limit: number): StoredEvent[] {
    const known = this.#recent.since(after, limit)
    if (known !== null) return known
    const found = rows<StoredEvent>(
      this.#sql,
      'SELECT id, kind, source, body AS text FROM events WHERE id > ? AND id <= ? ORDER BY id',
      after,
      this.#endOfRead(after, limit),
    )
    return found.map((event) => ({ ...event, text: this.#whole(event.id, event.text) }))
  }

  /** The id of the last event that one read takes. */
  #endOfRead(after: number, limit: number): number {
    const sizes = rows<{ id: number; bytes: number }>(
      this.#sql,
      'SELECT id, octet_length(body) AS bytes FROM events WHERE id > ? ORDER BY id LIMIT ?',
      after,
      limit,
    )
    let total = 0
    for (const { id, bytes } of sizes) {
      // An empty body means a large event, whose text is stored elsewhere.
      total += bytes === 0 ? MAX_READ_BYTES : bytes
      if (total > MAX_READ_BYTES) return Math.max(id - 1, after + 1)
    }
    return sizes.at(-1)?.id ?? after
  }

  /** The first event after the given id that is of one of the kinds and from the given source. */
  firstAfter(after: number, source: string, kinds: readonly string[]): StoredEvent | null {
    const found = firstRow<StoredEvent>(
      this.#sql,
      `SELECT id, kind, source, body AS text FROM events
       WHERE id > ? AND source = ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT 1`,
      after,
      source,
      JSON.stringify(kinds),
    )
    if (found === null || found.text !== '') return found
    // The text is read lazily: a caller that only asks whether there is such an event must not pay for a large one.
    const read = () => this.#whole(found.id, '')
    let known: string | null = null
    return {
      ...found,
      get text() {
        known ??= read()
        return known
      },
    }
  }

  /** Whether so many events came after the last index update that searches would become slow. */
  get isIndexDue(): boolean {
    return this.#index.isDue(this.#last)
  }

  /**
   * Adds the next piece of the log to the text index: a few milliseconds of work, postponed while events arrive. Returns the
   * pause in ms before the next piece, null when nothing is left.
   */
  fillIndex(now: number): number | null {
    const isBusy = now - this.#appendedAt < QUIET_MS && this.#last - this.#index.covered < MAX_UNINDEXED
    if (isBusy) return QUIET_MS
    return this.#index.fill(this.#last, (id) => this.get(id) ?? '') ? REST_MS : null
  }

  /**
   * A page of matching events in walking direction, and whether at least one more match lies beyond it. A page that
   * would be too large to send ends early.
   */
  search(page: EventPage): FoundEvents {
    const found = new PageOfEvents(page.limit)
    for (const body of this.#bodies(page)) if (body !== PAUSE && found.isFullFor(body)) break
    return found.events
  }

  /**
   * Like `search`, but lets other requests run between the pieces; null if `isThere` then says that the log is gone.
   */
  async searchPatiently(page: EventPage, isThere: () => boolean): Promise<FoundEvents | null> {
    const found = new PageOfEvents(page.limit)
    for (const body of this.#bodies(page)) {
      if (body === PAUSE) {
        await giveWay()
        if (!isThere()) return null
      } else if (found.isFullFor(body)) break
    }
    return found.events
  }

  #bodies(page: EventPage): Iterable<string | typeof PAUSE> {
    const whole = (id: number, body: string) => this.#whole(id, body)
    const how = { whole, firstLook: FIRST_LOOK, slice: SLICE_EVENTS }
    const searched = { sql: this.#sql, index: this.#index, last: this.#last, ...how }
    return this.#recent.page(page) ?? matchingBodies(page, searched)
  }
}

/** A page that fills up to a number of events, or to fewer when they are long. */
class PageOfEvents {
  readonly #limit: number
  readonly #texts: string[] = []
  #length = 0
  #hasMore = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get events(): FoundEvents {
    return { events: this.#texts, hasMore: this.#hasMore }
  }

  /** Adds the text, or returns true when there is no room for it. */
  isFullFor(text: string): boolean {
    if (this.#texts.length === this.#limit || this.#length > MAX_PAGE_LENGTH) {
      this.#hasMore = true
      return true
    }
    this.#texts.push(text)
    this.#length += text.length
    return false
  }
}
