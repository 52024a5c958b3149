// Why a conversation opens no socket, in the words of the interface.

import { z } from '@hono/zod-openapi'
import { AppError } from '../../http/errors.ts'
import { quotaReached } from '../../http/too-many.ts'
import { unauthorized } from '../../http/wrong-key.ts'

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
