// Keeps requests for ids that nobody ever used away from their objects, where asking one leaves a file behind. That is so
// under `npm start` alone, where whoever keeps the files can be asked whether there is one; on the platform an object that
// stored nothing takes no room, and is simply asked.

import type { MiddlewareHandler } from 'hono'
import { conversationPlace } from '../../bindings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { errorFields, log } from '../../lib/log.ts'
import { isObjectStored } from '../../lib/state-keeper.ts'
import { CONVERSATION_ID } from './schemas.ts'

const MAX_REMEMBERED = 10_000

/** What this process knows to have a file. No file goes while the service runs but that of a damaged conversation. */
const stored = new Set<string>()

/** Whether it is certain that no conversation has this id. */
export async function isUnused(env: Env, owner: string, id: string): Promise<boolean> {
  const place = conversationPlace(env, owner, id)
  if (stored.has(place)) return false
  try {
    if (!(await isObjectStored(env, place))) return true
  } catch (error) {
    // Then the object is asked, as on the platform.
    log.warn('conversation.state_not_asked', errorFields(error))
    return false
  }
  if (stored.size >= MAX_REMEMBERED) stored.clear()
  stored.add(place)
  return false
}

/** Looks the id of the path up before any of the routes below it runs. */
export const markUnused: MiddlewareHandler<AppEnv> = async (c, next) => {
  const id = c.req.param('conversation_id')
  if (id !== undefined && CONVERSATION_ID.test(id))
    c.set('isUnusedId', await isUnused(c.env, c.get('principal').owner, id))
  await next()
}
