// Parts of the log that are sent out of the object as stored texts.

import { NOT_REMEMBERED, rememberPrompt, rememberQuestion, updatePromptIn } from '../../../src/agent/remember.ts'
import { errorFields, log as logger } from '../../../src/lib/log.ts'
import { type LanguageModel, ModelError } from '../../../src/llm/model.ts'
import type { EventLog } from './event-log.ts'
import type { EventFilter } from './event-search.ts'

/** `last` is the id of the newest event of the log. */
export type EventBatch = { events: string[]; last: number }

const MAX_BATCH = 1_000
const BEFORE = 4
const AFTER = 5

/** The events after the given id, without a gap: as many as fit into one call, at least one if there are any. */
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

/** How long the model may take: a request waits for it. */
const WRITE_WAIT_MS = 60_000

/** Kinds that a shared link does not show: what the agent was told besides the messages. */
const NOT_SHARED = [
  'action:system',
  'action:recall',
  'observation:recall',
  'action:change_agent_state',
  'action:null',
  'observation:null',
]

/** The fields of an event that a shared link shows. Prices, tokens and the model's raw answers are not among them. */
const SHARED_FIELDS = new Set([
  'id',
  'timestamp',
  'source',
  'message',
  'cause',
  'action',
  'args',
  'observation',
  'content',
  'extras',
])

export type SharedPage = { startId: number; endId: number | null; reverse: boolean; limit: number; withHidden: boolean }

/** The events of a page as a shared link shows them. */
export function sharedEvents(log: EventLog, { withHidden, ...page }: SharedPage) {
  const filter = { ...MEMORABLE, excludeHidden: !withHidden, excludeTypes: NOT_SHARED }
  const { events, hasMore } = log.search({ ...page, filter })
  const shown = events.map((text) => {
    const event: unknown = JSON.parse(text)
    return Object.fromEntries(Object.entries(Object(event)).filter(([name]) => SHARED_FIELDS.has(name)))
  })
  return { events: shown, has_more: hasMore }
}

/** Up to four events that end at the given one, and up to five after it; null when there is no such event. */
export function eventsAround(log: EventLog, id: number): string[] | null {
  if (id < 0 || id > log.last) return null
  const before = log.search({ startId: 0, endId: id, reverse: true, limit: BEFORE, filter: MEMORABLE })
  const after = log.search({ startId: id + 1, endId: null, reverse: false, limit: AFTER, filter: MEMORABLE })
  return [...before.events.reverse(), ...after.events]
}

/** The prompt for a note about these events: written by the model, or by code when the model writes none. */
export async function instructionFrom(events: readonly string[], model: LanguageModel | null): Promise<string> {
  const own = rememberPrompt(events)
  if (model === null || events.length === 0) return own
  const signal = AbortSignal.timeout(WRITE_WAIT_MS)
  try {
    return updatePromptIn((await model.ask(rememberQuestion(events), { signal })).text) ?? own
  } catch (error) {
    if (!(error instanceof ModelError) && !signal.aborted) throw error
    logger.info('conversation.remember_prompt_by_code', errorFields(error))
    return own
  }
}
