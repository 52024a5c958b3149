// The page holds a window of a long log: some hundred events without gaps around the user's position. It moves page by
// page while scrolling, or jumps; events that leave it are requested again when the user comes back.

import { request } from '../api.ts'
import type { EventPage, StoredEvent } from '../wire.ts'

/** Beyond this number, events are dropped at the end that is further from the user. */
export const MOST_EVENTS = 320
const PAGE = 60
/** The number of events shown before the target of a jump. */
const LEAD = 20

export type Side = 'earlier' | 'later'

/** The window with one more page at one side. A page that does not connect is dropped: the window has moved meanwhile. */
export function extended(events: readonly StoredEvent[], page: readonly StoredEvent[], side: Side): StoredEvent[] {
  const [first, last] = [events[0], events.at(-1)]
  if (!first || !last) return [...page]
  if (side === 'earlier') {
    const fresh = page.filter(({ id }) => id < first.id)
    if (fresh.length > 0 && fresh.at(-1)?.id !== first.id - 1) return [...events]
    return [...fresh, ...events].slice(0, MOST_EVENTS)
  }
  const fresh = page.filter(({ id }) => id > last.id)
  if (fresh.length > 0 && fresh[0]?.id !== last.id + 1) return [...events]
  return [...events, ...fresh].slice(-MOST_EVENTS)
}

/** Live events are added if the window ends at the newest event; otherwise they are loaded later. */
export function withLive(events: readonly StoredEvent[], fresh: readonly StoredEvent[], newest: number): StoredEvent[] {
  const isAtEnd = (events.at(-1)?.id ?? -1) === newest
  return isAtEnd ? [...events, ...fresh].slice(-MOST_EVENTS) : [...events]
}

const read = (id: string, query: Readonly<Record<string, string>>) =>
  request<EventPage>(`/api/conversations/${encodeURIComponent(id)}/events?${new URLSearchParams(query)}`)

/** Oldest first. */
export async function pageBeside(id: string, events: readonly StoredEvent[], side: Side): Promise<StoredEvent[]> {
  const [first, last] = [events[0], events.at(-1)]
  if (side === 'later') {
    return (await read(id, { start_id: String((last?.id ?? -1) + 1), limit: String(PAGE) })).events
  }
  if (!first || first.id === 0) return []
  const page = await read(id, { reverse: 'true', end_id: String(first.id - 1), limit: String(PAGE) })
  return page.events.toReversed()
}

/** The events around one of them, or the newest if there is no such event, because a link may be wrong. */
export async function eventsAround(id: string, eventId: number): Promise<StoredEvent[]> {
  const { events } = await read(id, { start_id: String(Math.max(0, eventId - LEAD)), limit: '100' })
  return events.length > 0 ? events : (await read(id, { reverse: 'true', limit: '100' })).events.toReversed()
}

export type Hit = { id: number; at: string; text: string }

const MOST_HITS = 50

/** The newest events that contain the text. */
export async function searchEvents(id: string, query: string): Promise<Hit[]> {
  const { events } = await read(id, { query, reverse: 'true', limit: String(MOST_HITS), exclude_hidden: 'true' })
  return events.map((event) => ({ id: event.id, at: event.timestamp, text: excerpt(event, query) }))
}

const BEFORE = 30
const LONGEST = 160

/** The part of the event's text around the match. */
export function excerpt({ message, content, args }: StoredEvent, query: string): string {
  const said = [content, ...Object.values(args ?? {}), message].filter((part) => typeof part === 'string')
  const wanted = query.toLowerCase()
  const found = said.find((part) => part.toLowerCase().includes(wanted)) ?? message ?? ''
  const from = Math.max(0, found.toLowerCase().indexOf(wanted) - BEFORE)
  const cut = found.slice(from, from + LONGEST).replaceAll(/\s+/g, ' ')
  return `${from > 0 ? '…' : ''}${cut}${found.length > from + LONGEST ? '…' : ''}`
}

/** The cost of the conversation so far, from the newest action in the window. */
export type Cost = { dollars: number; tokens: number; fill: number | null }

export function costOf(events: readonly StoredEvent[]): Cost | null {
  const metrics = events.findLast(({ llm_metrics }) => llm_metrics !== undefined)?.llm_metrics
  const usage = metrics?.accumulated_token_usage
  if (typeof usage !== 'object' || usage === null) return null
  const of = (name: string): number => {
    const value: unknown = Reflect.get(usage, name)
    return typeof value === 'number' ? value : 0
  }
  const dollars = typeof metrics?.accumulated_cost === 'number' ? metrics.accumulated_cost : 0
  const room = of('context_window')
  return {
    dollars,
    tokens: of('prompt_tokens') + of('completion_tokens'),
    fill: room > 0 ? Math.min(1, of('per_turn_token') / room) : null,
  }
}
