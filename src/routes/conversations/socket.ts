import { z } from '@hono/zod-openapi'
import { credentialQuery } from '../../bindings.ts'
import { AppError, detailEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { quotaReached, unauthorized } from '../../http/too-many.ts'
import { laxBool, laxInt } from '../../http/validation.ts'
import { notFound, ownConversation } from './access.ts'
import { keepToLimitAfter } from './room-for.ts'
import { ConversationPath } from './schemas.ts'

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

export { app as socket }

// Why a conversation opens no socket, in the words of the interface.

const Refusal = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('ended') }),
  z.object({ reason: z.literal('full'), used: z.number(), allowed: z.number() }),
  z.object({ reason: z.literal('unknown') }),
])

/** Null when there is no such conversation. */
export async function socketRefusal(answer: Response): Promise<AppError | null> {
  if (answer.status === 404) return null
  const refusal = Refusal.parse(await answer.json())
  if (refusal.reason === 'ended') return unauthorized()
  if (refusal.reason === 'full') {
    return quotaReached({ limit: 'sockets', ...refusal }, 'Close a socket that nobody follows any more.')
  }
  return new AppError('unavailable', 'Whether the key is still good could not be found out; try again')
}
