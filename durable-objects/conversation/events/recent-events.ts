// The newest events of a log, in memory. The code that stores an event also adds it here, so the memory holds the
// stored texts without a gap up to the newest one. After the log is opened, the first request for them reads them from
// the tables. Events never change, so no entry becomes invalid; the oldest are dropped when there is no room.

import { Buffer } from 'node:buffer'
import type { StoredEvent } from '../../../src/agent/events.ts'
import { must } from '../../../src/lib/assert.ts'
import { rows } from '../../sql.ts'
import type { EventPage } from './event-search.ts'

type Remembered = { event: StoredEvent; isHidden: boolean; bytes: number }
type Row = StoredEvent & { hidden: number; bytes: number }

/** Events that are read after the log was opened. */
const LOADED_EVENTS = 100

export class RecentEvents {
  readonly #sql: SqlStorage
  readonly #room: number
  /** By id, without a gap. */
  readonly #events = new Map<number, Remembered>()
  #bytes = 0
  #last: number
  /** Whether older events were read or dropped; after that no more are read. */
  #isLoaded = false

  /** `room` is in bytes of text; with 0 every answer is null. */
  constructor(sql: SqlStorage, last: number, room: number) {
    this.#sql = sql
    this.#last = last
    this.#room = room
    this.#isLoaded = room === 0
  }

  /** To be called when the event is stored. */
  add(event: StoredEvent, isHidden: boolean): void {
    const bytes = Buffer.byteLength(event.text)
    this.#events.set(event.id, { event, isHidden, bytes })
    this.#bytes += bytes
    this.#last = event.id
    if (this.#bytes > this.#room) this.#drop()
  }

  get(id: number): string | null {
    return this.#events.get(id)?.event.text ?? null
  }

  /** The events after the given id, at most `limit`; null when not all of them are in memory. */
  since(after: number, limit: number): StoredEvent[] | null {
    const from = after + 1
    if (!this.#reaches(from)) return null
    const found: StoredEvent[] = []
    for (let id = from; id <= this.#last && found.length < limit; id++) found.push(this.#at(id).event)
    return found
  }

  /**
   * The events of a page in walking direction, plus the next one; null when the memory cannot answer. The only filter
   * that it supports is the one for hidden events.
   */
  page({ startId, endId, reverse, limit, filter }: EventPage): string[] | null {
    const { excludeHidden, query, includeTypes, excludeTypes, source, startDate, endDate } = filter
    if ([query, includeTypes, excludeTypes, source, startDate, endDate].some((each) => each !== null)) return null
    const to = Math.min(endId ?? this.#last, this.#last)
    if (!this.#reaches(reverse ? to : startId)) return null
    const found: string[] = []
    const step = reverse ? -1 : 1
    for (let id = reverse ? to : startId; id >= startId && id <= to && found.length <= limit; id += step) {
      const here = this.#events.get(id)
      if (here === undefined) return null
      if (!excludeHidden || !here.isHidden) found.push(here.event.text)
    }
    return found
  }

  get #first(): number {
    return this.#last + 1 - this.#events.size
  }

  #at(id: number): Remembered {
    return must(this.#events.get(id), 'an event between the first and the last')
  }

  /** Whether all events from this one on are in memory. */
  #reaches(id: number): boolean {
    if (!Number.isSafeInteger(id)) return false
    if (!this.#isLoaded && id < this.#first && id > this.#last - LOADED_EVENTS) this.#load()
    return id >= this.#first
  }

  #load(): void {
    this.#isLoaded = true
    const sizes = rows<{ id: number; bytes: number }>(
      this.#sql,
      'SELECT id, octet_length(body) AS bytes FROM events WHERE id < ? ORDER BY id DESC LIMIT ?',
      this.#first,
      LOADED_EVENTS,
    )
    let room = this.#room - this.#bytes
    const end = sizes.findIndex(({ bytes }) => {
      room -= bytes
      // An empty body means a large event, which does not fit.
      return bytes === 0 || room < 0
    })
    const fitting = end < 0 ? sizes : sizes.slice(0, end)
    const oldest = fitting.at(-1)
    if (oldest === undefined) return
    const found = rows<Row>(
      this.#sql,
      `SELECT id, kind, source, hidden, body AS text, octet_length(body) AS bytes FROM events
       WHERE id >= ? AND id < ? ORDER BY id`,
      oldest.id,
      this.#first,
    )
    for (const { hidden, bytes, ...event } of found) {
      this.#events.set(event.id, { event, isHidden: hidden === 1, bytes })
      this.#bytes += bytes
    }
  }

  #drop(): void {
    this.#isLoaded = true
    while (this.#bytes > this.#room) {
      const id = this.#first
      this.#bytes -= this.#at(id).bytes
      this.#events.delete(id)
    }
  }
}
