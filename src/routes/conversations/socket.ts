// How clients open a socket to a conversation: with the plain protocol, with Socket.IO, or to its terminal.

import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { conversation, credentialQuery } from '../../bindings.ts'
import { config } from '../../config.ts'
import type { AppEnv, Principal } from '../../http/app-env.ts'
import { demandOwnPage, demandScope, identify } from '../../http/auth.ts'
import { AppError, detailEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router, serve } from '../../http/router.ts'
import { admit, quotaReached, unauthorized } from '../../http/too-many.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { isUnused, notFound, ownConversation } from './access.ts'
import { keepToLimitAfter } from './room-for.ts'
import { CONVERSATION_ID, ConversationPath } from './schemas.ts'

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/ws',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Events',
    summary: 'Follow and feed the conversation over a WebSocket (plain protocol)',
    params: ConversationPath,
    query: z.object({
      after: laxInt({ min: -1 }).default(-1),
      start: laxBool().default(true),
      session_api_key: z.string().optional(),
    }),
    replies: {
      101: { description: 'The socket is open' },
      404: { description: 'No such conversation' },
      426: { description: 'Not a WebSocket request' },
      429: { description: 'Too many sockets of this owner are open' },
      503: { description: 'Whether the key is still good could not be found out' },
    },
  },
  async (c, { params, query }) => {
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
      throw new AppError('upgrade_required', 'Open this address as a WebSocket')
    }
    const stub = ownConversation(c, params.conversation_id)
    const { keyId, until } = c.get('principal')
    const { after, start } = query
    const asked = { after: String(after), start: String(start), ...credentialQuery({ key: keyId, until }) }
    const url = `http://conversation/ws?${new URLSearchParams(asked)}`
    const answer = await stub.fetch(url, { headers: { upgrade: 'websocket' } })
    if (answer.status !== 101) throw (await socketRefusal(answer)) ?? notFound(params.conversation_id)
    await keepToLimitAfter(answer, c, { owner: c.get('principal').owner, id: params.conversation_id })
    return answer
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/terminal',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Events',
    summary: 'Type in a shell in the workspace, over a WebSocket: it needs a runner',
    params: ConversationPath,
    query: z
      .object({
        cols: laxInt({ min: 2, max: 500 }).optional(),
        rows: laxInt({ min: 1, max: 300 }).optional(),
        read_only: laxBool().default(false),
        terminal: z.string().max(64).optional(),
        position: laxInt({ min: 0 }).default(0),
        session_api_key: z.string().optional(),
      })
      .refine(({ cols, rows }) => (cols === undefined) === (rows === undefined), {
        message: 'cols and rows are given together',
        path: ['rows'],
      }),
    replies: {
      101: { description: 'The socket is open' },
      200: {
        description: 'To a request that is no WebSocket: whether there can be a terminal',
        schema: z.object({ available: z.boolean(), reason: z.string().nullable() }),
      },
      404: { description: 'No such conversation' },
      409: { description: 'There can be no terminal; the text says why and what to do' },
      429: { description: 'Too many sockets of this owner, or viewers of this terminal, are open' },
      503: { description: 'Whether the key is still good could not be found out' },
    },
  },
  async (c, { params, query }) => {
    const isSocket = c.req.header('upgrade')?.toLowerCase() === 'websocket'
    const stub = ownConversation(c, params.conversation_id)
    const { keyId, until } = c.get('principal')
    const { session_api_key: _key, ...wanted } = query
    const given = Object.entries(wanted).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const asked = new URLSearchParams({
      ...Object.fromEntries(given),
      ...credentialQuery({ key: keyId, until }),
    })
    const headers: HeadersInit = isSocket ? { upgrade: 'websocket' } : {}
    const answer = await stub.fetch(`http://conversation/terminal?${asked}`, { headers })
    if (answer.status === 200) {
      const { why } = await answer.json<{ why: string | null }>()
      return c.json({ available: why === null, reason: why })
    }
    if (answer.status !== 101) throw (await socketRefusal(answer)) ?? notFound(params.conversation_id)
    return answer
  },
)

export { app as socket }

// Why a conversation opens no socket, in the error format of the interface.

const Refusal = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('ended') }),
  z.object({ reason: z.literal('full'), used: z.number(), allowed: z.number() }),
  z.object({ reason: z.literal('unknown') }),
  z.object({ reason: z.literal('none'), why: z.string() }),
  z.object({ reason: z.literal('crowded'), used: z.number() }),
])

/** Null if there is no such conversation. */
async function socketRefusal(answer: Response): Promise<AppError | null> {
  if (answer.status === 404) return null
  const refusal = Refusal.parse(await answer.json())
  if (refusal.reason === 'ended') return unauthorized()
  if (refusal.reason === 'full') {
    return quotaReached({ limit: 'sockets', ...refusal }, 'Close a socket that nobody follows any more.')
  }
  if (refusal.reason === 'crowded') {
    const { used } = refusal
    return quotaReached(
      { limit: 'terminal_viewers', used, allowed: used },
      'Close one of the viewers of this terminal.',
    )
  }
  if (refusal.reason === 'none') return new AppError('conflict', refusal.why)
  return new AppError('unavailable', 'Whether the key is still good could not be found out; try again')
}

// Authentication of Socket.IO. A client sees the text of a refusal only inside the protocol. So a refused socket is
// opened anyway, gets the reason when it requests to join, and is closed.

/** Longer than any client takes from opening the socket to the request to join. */
const REFUSAL_WAIT_MS = 10_000
const OPEN_PACKET = { upgrades: [], pingTimeout: 20_000, pingInterval: 25_000, maxPayload: 4_194_304 }

const WRONG_KEY = 'invalid_session_api_key'
const NOT_FOUND = 'Conversation not found'
const NO_POLLING = 'Transport unknown: connect with transports: ["websocket"]'

export const socketIo = new OpenAPIHono<AppEnv>()

// A refusal is sent inside the socket, where clients can show its text, so authentication happens there.
for (const path of ['/socket.io', '/socket.io/']) {
  serve(socketIo, { method: 'get', path, scope: 'itself', limit: 'uncounted', bodyLimit: 'standard' }, connect)
}

async function connect(c: Context<AppEnv>): Promise<Response> {
  // Not one of our clients: a foreign page gets no information, not even that the protocol exists.
  demandOwnPage(c.req.raw, config(c.env))
  const url = new URL(c.req.url)
  const query = url.searchParams
  // The error bodies are those of Engine.IO; its clients then try the next transport.
  if (query.get('EIO') !== '4') return c.json({ code: 5, message: 'Unsupported protocol version' }, 400)
  if (query.get('transport') !== 'websocket') return c.json({ code: 0, message: NO_POLLING }, 400)
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') return c.json({ code: 3, message: 'Bad request' }, 400)
  const id = query.get('conversation_id')
  if (id === null || id === '') return refuse('No conversation_id in query params')
  const principal = await principalOf(c)
  if (principal === null) return refuse(WRONG_KEY)
  if (!CONVERSATION_ID.test(id) || (await isUnused(c.env, principal.owner, id))) return refuse(NOT_FOUND)
  const { owner, keyId, until } = principal
  const after = String(lastId(query.get('latest_event_id')))
  const asked = new URLSearchParams({ after, ...credentialQuery({ key: keyId, until }) })
  const target = `http://conversation/socket.io?${asked}`
  const answer = await conversation(c.env, owner, id).fetch(target, { headers: { upgrade: 'websocket' } })
  if (answer.status !== 101) return refuse(wordsOf(await socketRefusal(answer)))
  await keepToLimitAfter(answer, c, { owner, id })
  return answer
}

function wordsOf(refusal: AppError | null): string {
  if (refusal === null) return NOT_FOUND
  return refusal.code === 'unauthorized' ? WRONG_KEY : refusal.message
}

/** A key without the scope gets the same answer as no key. */
async function principalOf(c: Context<AppEnv>): Promise<Principal | null> {
  try {
    const principal = await identify(c.req.raw, c.env)
    await admit(c.env, principal, 'reads')
    demandScope(principal, 'conversations')
    return principal
  } catch (error) {
    if (error instanceof AppError && error.status < 500 && error.code !== 'rate_limited') return null
    throw error
  }
}

/** Absent, `undefined` or not a number: the client has no events yet. */
function lastId(text: string | null): number {
  const id = /^-?\d+$/.test(text ?? '') ? Number(text) : -1
  return Number.isSafeInteger(id) ? Math.max(id, -1) : -1
}

function refuse(message: string): Response {
  const { 0: client, 1: server } = new WebSocketPair()
  server.accept()
  server.send(`0${JSON.stringify({ sid: crypto.randomUUID(), ...OPEN_PACKET })}`)
  const timer = setTimeout(() => server.close(1000, 'refused'), REFUSAL_WAIT_MS)
  server.addEventListener('message', () => {
    clearTimeout(timer)
    server.send(`44${JSON.stringify({ message })}`)
    server.close(1000, 'refused')
  })
  server.addEventListener('close', () => clearTimeout(timer))
  return new Response(null, { status: 101, webSocket: client })
}
