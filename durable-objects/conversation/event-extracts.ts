// Parts of the log that leave the object as the texts that are stored.

import { NOT_REMEMBERED, rememberPrompt } from '../../src/agent/remember.ts'
import type { EventLog } from './event-log.ts'
import type { EventFilter } from './event-search.ts'

/** `last` is the id of the newest event of all. */
export type EventBatch = { events: string[]; last: number }

const MAX_BATCH = 1_000
const BEFORE = 4
const AFTER = 5

/** The events that follow the given id, without a gap: as many as one call should carry, at least one while there are any. */
export function eventsAfter(log: EventLog, after: number): EventBatch {
  return { events: log.since(after, MAX_BATCH).map(({ text }) => text), last: log.last }
}

const MEMORABLE: EventFilter = {
  excludeHidden: true,
  query: null,
  includeTypes: null,
  excludeTypes: [...NOT_REMEMBERED],
  source: null,
  startDate: null,
  endDate: null,
}

/**
 * The instruction to remember what was going on at an event, made from up to four events ending at it and up to five after
 * it. Null when there is no such event.
 */
export function promptAround(log: EventLog, id: number): string | null {
  if (id < 0 || id > log.last) return null
  const before = log.search({ startId: 0, endId: id, reverse: true, limit: BEFORE, filter: MEMORABLE })
  const after = log.search({ startId: id + 1, endId: null, reverse: false, limit: AFTER, filter: MEMORABLE })
  return rememberPrompt([...before.events.reverse(), ...after.events])
}
