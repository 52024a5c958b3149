// Keeps requests for ids that nobody ever used away from their objects, where asking one leaves a file behind. That is so
// under `npm start` alone; on the platform an object that stored nothing takes no room, and is simply asked.

import type { MiddlewareHandler } from 'hono'
import { programHost } from '../../bindings.ts'
import { claimConversation, dropClaim, isClaimed } from '../../db/conversation-claims.ts'
import type { AppEnv } from '../../http/router.ts'
import { errorFields, log } from '../../lib/log.ts'
import { CONVERSATION_ID } from './schemas.ts'

const MAX_REMEMBERED = 10_000

/** What this process knows to be in use. */
const used = new Set<string>()

const keyOf = (owner: string, id: string): string => JSON.stringify([owner, id])

function remember(owner: string, id: string): void {
  if (used.size >= MAX_REMEMBERED) used.clear()
  used.add(keyOf(owner, id))
}

/** Whether it is certain that no conversation has this id. Without the database nothing is. */
export async function isUnused(env: Env, owner: string, id: string): Promise<boolean> {
  if (programHost(env) === null || used.has(keyOf(owner, id))) return false
  try {
    if (!(await isClaimed(env.DB, { owner, id }))) return true
  } catch (error) {
    log.warn('conversation.claims_away', errorFields(error))
    return false
  }
  remember(owner, id)
  return false
}

/** Notes that a conversation is about to be made. It is made without the database too, and known here at least. */
export async function noteUse(env: Env, owner: string, id: string): Promise<void> {
  if (programHost(env) === null) return
  remember(owner, id)
  try {
    await claimConversation(env.DB, { owner, id })
  } catch (error) {
    log.warn('conversation.not_claimed', { id, ...errorFields(error) })
  }
}

export async function noteEnd(env: Env, owner: string, id: string): Promise<void> {
  if (programHost(env) === null) return
  used.delete(keyOf(owner, id))
  await dropClaim(env.DB, { owner, id })
}

/** Looks the id of the path up before any of the routes below it runs. */
export const markUnused: MiddlewareHandler<AppEnv> = async (c, next) => {
  const id = c.req.param('conversation_id')
  if (id !== undefined && CONVERSATION_ID.test(id))
    c.set('isUnusedId', await isUnused(c.env, c.get('principal').owner, id))
  await next()
}
