// Selects the events of a page: filters in SQL, the text with the index where it covers the log, and the rest by reading. An
// open cursor locks the tables, and reading costs time. So rows are read only on demand, and a consumer that stops early
// leaves no cursor open.

import { rows, type SqlValue } from '../../sql.ts'
import type { EventSearchIndex } from './event-search-index.ts'
import { type TextQuery, textQuery } from './event-search-query.ts'

export type EventFilter = {
  excludeHidden: boolean
  /** A substring of the event's JSON text, case-insensitive. */
  query: string | null
  /** Wire names (`run`) or exact kinds (`action:run`); null does not filter, an empty list matches nothing. */
  includeTypes: string[] | null
  excludeTypes: string[] | null
  source: string | null
  /** Inclusive, in the form of the stored timestamps. */
  startDate: string | null
  endDate: string | null
}

export type EventPage = {
  /** Inclusive at both ends; `endId` null is the newest. */
  startId: number
  endId: number | null
  reverse: boolean
  limit: number
  filter: EventFilter
}

/** What a search reads: the rows, their index, the newest id, and a function that completes a row's text. */
export type Searched = {
  sql: SqlStorage
  index: EventSearchIndex
  last: number
  whole: (id: number, body: string) => string
  /** Events that are read before the index is used. */
  firstLook: number
  /** Events that are scanned without the index between two pauses. */
  slice: number
}

type Conditions = { where: string[]; bindings: SqlValue[] }

/** A part of the page's range; with an expression, the index is used first. */
type Stretch = { expression: string | null; from: number; to: number }

type Selection = { columns: string; stretch: Stretch; conditions: Conditions; reverse: boolean; count: number }

type Candidate = { id: number; bytes: number }

/** Candidates that the first query asks for beyond those that the page needs, and the maximum of a query. */
const SPARE_CANDIDATES = 16
const MAX_CANDIDATES = 2_000
/** Characters of the texts in memory at a time, unless a single text is larger. */
const MAX_BATCH_BYTES = 256 * 1024
/** Batches that are read between two pauses. */
const SLICE_BATCHES = 4

/** Yielded between two pieces of the work, with no cursor open: a caller that can wait lets other requests run. */
export const PAUSE = Symbol('pause')

/** The texts of all events that match, in walking direction. */
export function matchingBodies(page: EventPage, searched: Searched): Iterable<string | typeof PAUSE> {
  const { query } = page.filter
  return query === null ? filtered(page, searched) : new TextSearch(page, textQuery(query), searched).bodies()
}

function* filtered(page: EventPage, { sql, last, whole, slice }: Searched): Generator<string | typeof PAUSE> {
  const { reverse } = page
  const conditions = conditionsOf(page.filter)
  const range = { expression: null, from: page.startId, to: Math.min(page.endId ?? last, last) }
  let count = page.limit + 1
  let isFirst = true
  for (const stretch of slicesOf(range, slice, reverse)) {
    if (!isFirst) yield PAUSE
    isFirst = false
    const { statement, bindings } = select({ columns: 'id, body', stretch, conditions, reverse, count })
    const cursor = sql.exec(statement, ...bindings)
    try {
      for (const row of cursor) {
        count -= 1
        yield whole(Number(row.id), String(row.body))
      }
    } finally {
      while (!cursor.next().done);
    }
    if (count === 0) return
  }
}

/** The range in walking direction, in slices of at most `most` events. */
function* slicesOf(range: Stretch, most: number, reverse: boolean): Generator<Stretch> {
  for (let { from, to } = range; from <= to; ) {
    const slice = reverse
      ? { ...range, from: Math.max(from, to - most + 1), to }
      : { ...range, from, to: Math.min(to, from + most - 1) }
    yield slice
    if (reverse) to = slice.from - 1
    else from = slice.to + 1
  }
}

class TextSearch {
  readonly #page: EventPage
  readonly #text: TextQuery
  readonly #searched: Searched
  readonly #conditions: Conditions
  /** Events since the last pause. */
  #looked = 0

  constructor(page: EventPage, text: TextQuery, searched: Searched) {
    this.#page = page
    this.#text = text
    this.#searched = searched
    this.#conditions = likely(conditionsOf(page.filter), text)
  }

  *bodies(): Generator<string | typeof PAUSE> {
    let count = this.#page.limit + SPARE_CANDIDATES
    for (const stretch of this.#pieces()) {
      for (
        let left: Stretch | null = stretch;
        left !== null && left.from <= left.to;
        count = Math.min(count * 4, MAX_CANDIDATES)
      ) {
        if (this.#looked >= this.#searched.slice) {
          this.#looked = 0
          yield PAUSE
        }
        const found = this.#candidates(left, count)
        this.#looked += left.expression === null ? left.to - left.from + 1 : found.length
        for (const [at, batch] of batchesOf(found).entries()) {
          if (at % SLICE_BATCHES === SLICE_BATCHES - 1) yield PAUSE
          yield* this.#matches(batch)
        }
        left = found.length < count ? null : this.#beyond(left, found)
      }
    }
  }

  /** The range of one statement: an indexed stretch as a whole, any other one slice by slice. */
  *#pieces(): Generator<Stretch> {
    for (const stretch of this.#stretches()) {
      if (stretch.expression !== null) yield stretch
      else yield* slicesOf(stretch, this.#searched.slice, this.#page.reverse)
    }
  }

  /**
   * The page's range in walking direction: the indexed part, and the part to be read. The first events are read before
   * the index is used, because a common text fills the page from them alone.
   */
  *#stretches(): Generator<Stretch> {
    const { startId, endId, reverse } = this.#page
    const { index, last, firstLook } = this.#searched
    const to = Math.min(endId ?? last, last)
    const middle = Math.min(Math.max(index.covered, startId - 1), to)
    const rest = { expression: null, from: middle + 1, to }
    if (reverse) yield rest
    const first = reverse ? Math.max(middle - firstLook + 1, startId) : Math.min(startId + firstLook - 1, middle)
    yield reverse ? { expression: null, from: first, to: middle } : { expression: null, from: startId, to: first }
    const expression = index.expression(this.#text)
    const indexed = reverse ? { from: startId, to: first - 1 } : { from: first + 1, to: middle }
    if (expression !== '') yield { expression, ...indexed }
    if (!reverse) yield rest
  }

  #candidates(stretch: Stretch, count: number): Candidate[] {
    const columns = 'id, octet_length(body) AS bytes'
    const { reverse } = this.#page
    const { statement, bindings } = select({ columns, stretch, conditions: this.#conditions, reverse, count })
    return rows<Candidate>(this.#searched.sql, statement, ...bindings)
  }

  #matches(ids: number[]): string[] {
    const order = this.#page.reverse ? 'DESC' : 'ASC'
    const query = `SELECT id, body FROM events WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id ${order}`
    return rows<{ id: number; body: string }>(this.#searched.sql, query, JSON.stringify(ids))
      .map(({ id, body }) => this.#searched.whole(id, body))
      .filter(this.#text.matches)
  }

  #beyond(stretch: Stretch, found: Candidate[]): Stretch {
    const id = found.at(-1)?.id ?? 0
    return this.#page.reverse ? { ...stretch, to: id - 1 } : { ...stretch, from: id + 1 }
  }
}

/** Groups of ids whose texts fit into memory together. */
function batchesOf(found: Candidate[]): number[][] {
  const batches: number[][] = []
  let total = MAX_BATCH_BYTES
  for (const { id, bytes } of found) {
    // An empty body means a large event, whose text is stored elsewhere.
    const size = bytes === 0 ? MAX_BATCH_BYTES : bytes
    if (total + size > MAX_BATCH_BYTES) {
      batches.push([])
      total = 0
    }
    batches.at(-1)?.push(id)
    total += size
  }
  return batches
}

function select({ columns, stretch, conditions, reverse, count }: Selection) {
  const { expression, from, to } = stretch
  const isIndexed = expression !== null
  const id = isIndexed ? 'event_search.rowid' : 'id'
  const source = isIndexed ? 'event_search CROSS JOIN events ON id = event_search.rowid' : 'events'
  const where = [...(isIndexed ? ['event_search MATCH ?'] : []), `${id} >= ?`, `${id} <= ?`, ...conditions.where]
  const order = `ORDER BY ${id} ${reverse ? 'DESC' : 'ASC'}`
  return {
    statement: `SELECT ${columns} FROM ${source} WHERE ${where.join(' AND ')} ${order} LIMIT ?`,
    bindings: [...(isIndexed ? [expression] : []), from, to, ...conditions.bindings, count],
  }
}

function conditionsOf(filter: EventFilter): Conditions {
  const where: string[] = []
  const bindings: SqlValue[] = []
  const add = (condition: string, ...values: SqlValue[]) => {
    where.push(condition)
    bindings.push(...values)
  }
  if (filter.excludeHidden) add('hidden = 0')
  if (filter.source !== null) add('source = ?', filter.source)
  if (filter.startDate !== null) add('timestamp >= ?', filter.startDate)
  if (filter.endDate !== null) add('timestamp <= ?', filter.endDate)
  if (filter.includeTypes !== null) add('kind IN (SELECT value FROM json_each(?))', kindList(filter.includeTypes))
  if (filter.excludeTypes !== null) add('kind NOT IN (SELECT value FROM json_each(?))', kindList(filter.excludeTypes))
  return { where, bindings }
}

/**
 * Adds conditions that exclude non-matching events in SQL, which is several times faster. Large events have no body
 * there.
 */
function likely({ where, bindings }: Conditions, { patterns }: TextQuery): Conditions {
  if (patterns === null) return { where, bindings }
  const like = patterns.map(() => "body LIKE ? ESCAPE '\\'")
  return { where: [...where, `(${["body = ''", ...like].join(' OR ')})`], bindings: [...bindings, ...patterns] }
}

/** A wire name means both the action and the observation of that name. */
function kindList(types: string[]): string {
  return JSON.stringify(
    types.flatMap((name) => (name.includes(':') ? [name] : [`action:${name}`, `observation:${name}`])),
  )
}
