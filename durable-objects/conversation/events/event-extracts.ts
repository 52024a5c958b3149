// Parts of the log that leave the object as stored texts.

import { NOT_REMEMBERED, rememberPrompt, rememberQuestion, updatePromptIn } from '../../../src/agent/remember.ts'
import { errorFields, log as logger } from '../../../src/lib/log.ts'
import { type LanguageModel, ModelError } from '../../../src/llm/model.ts'
import type { EventLog } from './event-log.ts'
import type { EventFilter } from './event-search.ts'

/** `last` is the id of the newest event of all. */
export type EventBatch = { events: string[]; last: number }

const MAX_BATCH = 1_000
const BEFORE = 4
const AFTER = 5

/** The events after the given id, without a gap: as many as fit into one call, at least one while there are any. */
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
