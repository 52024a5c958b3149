import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { ClientAction, fromClient } from '../../agent/actions.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, detailEnvelope, errorEnvelope } from '../../http/errors.ts'
import { otherRequest } from '../../http/idempotency.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { isoMicrosOf } from '../../lib/clock.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { foundOr404, ownConversation } from './access.ts'
import { storageFull } from './room-for.ts'
import { ConversationPath } from './schemas.ts'

const MAX_LIMIT = 100
const MAX_KEY_LENGTH = 200
const KEY_REUSED =
  'This Idempotency-Key was used for another event of this conversation: send the same body to repeat that one, or a new key for a new event'
const MAX_WAIT_SECONDS = 60
/** The length of one call to the object; after a client disconnects, the wait ends within this time. */
const SLICE_MS = 10_000

const filterFields = {
  // The default is in the document but not applied here, because the other place may have the value.
  exclude_hidden: laxBool().optional().openapi({ default: false }),
  query: z.string().nullish(),
  // Items of any type are accepted; unknown names match nothing.
  include_types: z.array(z.unknown()).nullish(),
  exclude_types: z.array(z.unknown()).nullish(),
  source: z.string().nullish(),
  start_date: z.string().nullish(),
  end_date: z.string().nullish(),
}

const EventFilter = z.object(filterFields).openapi('EventFilter')

const EventFields = z.object(filterFields)
type EventFields = z.infer<typeof EventFields>

const reading = router(detailEnvelope)
const writing = router(errorEnvelope)
const tag = 'Events'

endpoint(
  reading,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/events',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Search the event stream',
    params: ConversationPath,
    query: z.object({
      start_id: laxInt().default(0),
      end_id: laxInt().nullable().optional(),
      reverse: laxBool().default(false),
      limit: laxInt().default(20),
      ...filterFields,
    }),
    body: { schema: EventFilter.nullable(), required: false },
    replies: {
      200: {
        description: 'Matching events and whether there are more',
        schema: z.object({ events: z.array(z.looseObject({ id: z.int() })), has_more: z.boolean() }),
      },
      400: { description: 'A limit outside 0 to 100' },
      404: { description: 'No such conversation' },
    },
  },
  async (c, { params, query, body }) => {
    const { start_id, end_id, reverse, limit, ...inQuery } = query
    if (limit < 0 || limit > MAX_LIMIT) throw new AppError('bad_request', 'Invalid limit')
    const stub = ownConversation(c, params.conversation_id)
    const answer = await stub.searchEvents({
      startId: Math.max(start_id, 0),
      endId: end_id ?? null,
      reverse,
      limit,
      filter: filterOf(inQuery, body ?? {}),
    })
    return c.get('jsonText')(foundOr404(answer, params.conversation_id))
  },
)

/** The state in the answer to a waiting client. */
const Stand = z
  .object({
    success: z.literal(true),
    event_id: z.int(),
    at_rest: z.boolean(),
    agent_state: z.string(),
    message: z.string().nullable(),
    last_event_id: z.int(),
  })
  .openapi('AgentStand')

const wait = laxInt({ min: 0, max: MAX_WAIT_SECONDS })
  .optional()
  .describe('Answer when the agent is at rest again, but after so many seconds at the latest: 0 to 60')

endpoint(
  writing,
  {
    method: 'post',
    path: '/api/conversations/{conversation_id}/events',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Add an event, as a client would over the socket',
    params: ConversationPath,
    query: z.object({ wait }),
    example: { body: { action: 'message', args: { content: 'Add a test for the login form.' } } },
    body: { schema: ClientAction, required: true },
    replies: {
      200: {
        description: 'Stored; with `wait` what became of it',
        schema: z.union([Stand, z.object({ success: z.literal(true) })]),
      },
      202: { description: 'Stored; the agent was not at rest when the time of `wait` was over', schema: Stand },
      404: { description: 'No such conversation' },
      409: { description: 'The conversation is stopped' },
      429: { description: 'The owner stores as much as may be, or sends too many large bodies at once' },
    },
  },
  async (c, { params, query, body }) => {
    const key = c.req.header('idempotency-key') ?? null
    if (key !== null && (key === '' || key.length > MAX_KEY_LENGTH)) {
      throw valueError(['header', 'idempotency-key'], `must have 1 to ${MAX_KEY_LENGTH} characters`, key)
    }
    const stub = ownConversation(c, params.conversation_id)
    const outcome = foundOr404(await stub.addEvent(fromClient(body), key), params.conversation_id)
    if (typeof outcome === 'object') throw storageFull({ limit: 'stored_bytes', ...outcome })
    if (outcome === 'other_event') throw otherRequest(c, KEY_REUSED)
    if (outcome === 'stopped') throw new AppError('conflict', 'The conversation is stopped; start it first')
    if (query.wait === undefined) return c.json({ success: true as const })
    const stand = await standAfter(c, { id: params.conversation_id, eventId: outcome, seconds: query.wait })
    return c.json(stand, stand.at_rest ? 200 : 202)
  },
)

type Waited = { id: string; eventId: number; seconds: number }

async function standAfter(c: Context<AppEnv>, { id, eventId, seconds }: Waited): Promise<z.infer<typeof Stand>> {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const leftMs = Math.max(0, until - Date.now())
    const { atRest, state, said, last } = foundOr404(
      await ownConversation(c, id).standAfter(eventId, Math.min(leftMs, SLICE_MS)),
      id,
    )
    if (!atRest && leftMs > SLICE_MS && !c.req.raw.signal.aborted) continue
    return { success: true, event_id: eventId, at_rest: atRest, agent_state: state, message: said, last_event_id: last }
  }
}

/** The body takes precedence, field by field. */
function filterOf(query: EventFields, body: EventFields) {
  const fields = { ...query, ...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) }
  const bound = (field: 'start_date' | 'end_date') =>
    dateBound([body[field] === undefined ? 'query' : 'body', field], fields[field] ?? null)
  return {
    excludeHidden: fields.exclude_hidden ?? false,
    query: fields.query || null,
    includeTypes: names(fields.include_types),
    excludeTypes: names(fields.exclude_types),
    source: fields.source ?? null,
    startDate: bound('start_date'),
    endDate: bound('end_date'),
  }
}

function names(types: unknown[] | null | undefined): string[] | null {
  return types?.length ? types.filter((item) => typeof item === 'string') : null
}

function dateBound(place: string[], text: string | null): string | null {
  if (text === null || text === '') return null
  const bound = isoMicrosOf(text)
  if (bound === null) throw valueError(place, 'not a date or a date and time in ISO 8601', text)
  return bound
}

export { reading as eventReading, writing as eventWriting }
