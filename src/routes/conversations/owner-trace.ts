// The actions of all of an owner's conversations whose risk was judged: the newest of them, in the order of their times.
// Conversations are asked in the order of their last activity, until no other can have a newer one.

import { z } from 'zod'
import { judgedAction } from '../../agent/trajectory.ts'
import { conversation } from '../../bindings.ts'
import { recentConversations } from '../../db/conversations.ts'

export const MAX_TRACE = 1_000
export const MAX_TRACE_CONVERSATIONS = 50
const MAX_TRACE_LENGTH = 8 * 1024 * 1024
const PAGE = 100

const Event = z.looseObject({ id: z.int(), timestamp: z.string() })
const Page = z.object({ events: z.array(Event), has_more: z.boolean() })

type Judged = { conversation: string; id: number; timestamp: string; text: string }

/** The text of the JSON array. Every action says which conversation it is of: its id is unique only there. */
export async function ownerTrace(env: Env, owner: string): Promise<string> {
  let newest: Judged[] = []
  for (const { id, lastAt } of await recentConversations(env.DB, owner, MAX_TRACE_CONVERSATIONS)) {
    const oldest = newest.at(-1)
    if (newest.length === MAX_TRACE && oldest !== undefined && lastAt <= oldest.timestamp) break
    newest = bounded([...newest, ...(await newestJudged(env, owner, id))])
  }
  return `[${newest
    .reverse()
    .map(({ text }) => text)
    .join(',')}]`
}

/** Those of one conversation, newest first; none of one that has gone meanwhile. */
async function newestJudged(env: Env, owner: string, id: string): Promise<Judged[]> {
  const judged: Judged[] = []
  let length = 0
  for (let endId: number | null = null; judged.length < MAX_TRACE && length < MAX_TRACE_LENGTH; ) {
    const page = await pageUpTo(env, { owner, id, endId })
    for (const event of page.events) {
      const item = judgedOf(id, event)
      if (item === null) continue
      judged.push(item)
      length += item.text.length
    }
    const last = page.events.at(-1)
    if (!page.has_more || last === undefined || last.id === 0) break
    endId = last.id - 1
  }
  return judged
}

/** What names the argument anywhere, so that not every event has to leave its object. */
async function pageUpTo(
  env: Env,
  { owner, id, endId }: { owner: string; id: string; endId: number | null },
): Promise<z.infer<typeof Page>> {
  const all = {
    excludeHidden: false,
    includeTypes: null,
    excludeTypes: null,
    source: null,
    startDate: null,
    endDate: null,
  }
  const filter = { ...all, query: '"security_risk":' }
  const answer = await conversation(env, owner, id).searchEvents({
    startId: 0,
    endId,
    reverse: true,
    limit: PAGE,
    filter,
  })
  return answer === null ? { events: [], has_more: false } : Page.parse(JSON.parse(answer))
}

function judgedOf(conversationId: string, event: z.infer<typeof Event>): Judged | null {
  const text = JSON.stringify({ conversation_id: conversationId, ...event })
  if (judgedAction(text) === null) return null
  return { conversation: conversationId, id: event.id, timestamp: event.timestamp, text }
}

/** The newest first, as many as an answer holds. */
function bounded(all: Judged[]): Judged[] {
  const sorted = all.sort(
    (a, b) => order(b.timestamp, a.timestamp) || order(b.conversation, a.conversation) || b.id - a.id,
  )
  let length = 0
  const fitting = sorted.findIndex(({ text }, i) => {
    length += text.length
    return i === MAX_TRACE || (i > 0 && length > MAX_TRACE_LENGTH)
  })
  return fitting === -1 ? sorted : sorted.slice(0, fitting)
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
