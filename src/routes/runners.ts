// Runners: machines of an owner that run the processes of conversations. They open the connection; these are the
// endpoints for it, and the list of runners.

import { z } from '@hono/zod-openapi'
import { conversation, owner as ownerOf } from '../bindings.ts'
import { bearerOf, identifyRunner, refusePages } from '../http/auth.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { demandPatience, unauthorized, wrongKey } from '../http/too-many.ts'
import { isoMicros } from '../lib/clock.ts'
import { ticketIn } from '../runners/ticket.ts'
import { RunnerDescription } from '../runners/wire.ts'
import { ConversationPath } from './conversations/schemas.ts'

const RunnerRow = RunnerDescription.extend({
  state: z.enum(['connected', 'draining', 'gone']),
  conversations: z.number().int(),
  seen_at: z.string(),
}).openapi('Runner')

const RunnerList = z.object({ runners: z.array(RunnerRow) }).openapi('RunnerList')

const app = router(detailEnvelope)
const common = { tag: 'Runners', bodyLimit: 'standard' } as const
const socketReplies = {
  101: { description: 'The socket is open' },
  401: { description: 'Not a key, token or ticket that opens this' },
  403: { description: 'A key without the scope `runner`, or a web page' },
  426: { description: 'Not a WebSocket request' },
}

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/runners',
    scope: 'conversations',
    limit: 'reads',
    summary: 'List the runners that were connected, with what each can do; those that came or went last stand first',
    replies: { 200: { description: 'The runners', schema: RunnerList } },
  },
  async (c) => {
    const found = await ownerOf(c.env, c.get('principal').owner).runners()
    return c.json({ runners: found.map(({ seenAt, ...rest }) => ({ ...rest, seen_at: isoMicros(seenAt) })) })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    path: '/api/runners/{id}',
    scope: 'conversations',
    limit: 'writes',
    summary:
      'Let a runner go: its connections are closed and it is forgotten. It may connect again while its key is in force',
    params: z.object({ id: z.string() }),
    replies: {
      200: { description: 'Let go', schema: z.object({ message: z.string() }) },
      404: { description: 'No such runner' },
    },
  },
  async (c, { params }) => {
    const isGone = await ownerOf(c.env, c.get('principal').owner).removeRunner(params.id)
    if (!isGone) throw new AppError('not_found', `There is no runner ${params.id}`)
    return c.json({ message: 'Let go' })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/runners/socket',
    scope: 'itself',
    limit: 'uncounted',
    summary: 'For a runner: its WebSocket to the pool (docs/runners.md)',
    replies: { ...socketReplies, 429: { description: 'Too many runners of this owner are connected' } },
  },
  async (c) => {
    const { owner, keyId, until } = await identifyRunner(c.req.raw, c.env)
    demandUpgrade(c.req.raw)
    const query = new URLSearchParams()
    if (keyId !== null) query.set('key', keyId)
    if (until !== null) query.set('until', String(until))
    const answer = await ownerOf(c.env, owner).fetch(`http://owner/runner?${query}`, {
      headers: { upgrade: 'websocket' },
    })
    if (answer.status === 401) throw unauthorized()
    if (answer.status === 429) throw new AppError('rate_limited', 'Too many runners of this owner are connected')
    return answer
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/conversations/{conversation_id}/runner',
    scope: 'itself',
    limit: 'uncounted',
    summary: 'For a runner that was told to: its WebSocket to one conversation (docs/runners.md)',
    params: ConversationPath,
    replies: socketReplies,
  },
  async (c, { params }) => {
    const request = c.req.raw
    await refusePages(request, c.env)
    const shown = bearerOf(request)
    if (shown === null) throw unauthorized()
    demandPatience(c.env, request, shown)
    const ticket = ticketIn(shown)
    if (ticket === null) throw await wrongKey(c.env, request, shown)
    demandUpgrade(request)
    const answer = await conversation(c.env, ticket.owner, params.conversation_id).fetch('http://conversation/runner', {
      headers: { upgrade: 'websocket', 'x-ticket': ticket.secret },
    })
    if (answer.status !== 101) throw await wrongKey(c.env, request, shown)
    return answer
  },
)

function demandUpgrade(request: Request): void {
  if (request.headers.get('upgrade')?.toLowerCase() === 'websocket') return
  throw new AppError('upgrade_required', 'Open this address as a WebSocket')
}

export { app as runners }
