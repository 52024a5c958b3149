import type { Context, MiddlewareHandler, Next } from 'hono'
import { conversation, conversationPlace, noConversation } from '../../bindings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { errorFields, log } from '../../lib/log.ts'
import { isObjectStored } from '../../lib/state-keeper.ts'
import { CONVERSATION_ID } from './schemas.ts'

/** The 404 of a conversation that does not exist or belongs to another owner: the answer is the same for both. */
export function notFound(id: string): AppError {
  return new AppError('unknown_conversation', `Conversation ${id} not found`)
}

/** The object of the client's conversation. An impossible id is refused without waking an object. */
export function ownConversation(c: Context<AppEnv>, id: string): ReturnType<typeof conversation> {
  if (!CONVERSATION_ID.test(id)) throw notFound(id)
  return objectOf(c, id)
}

/** The object of the conversation in the path; the object without a conversation if the id was never used. */
export function objectOf(c: Context<AppEnv>, id: string): ReturnType<typeof conversation> {
  return c.get('isUnusedId') === true ? noConversation(c.env) : conversation(c.env, c.get('principal').owner, id)
}

/** The object's answer, or the 404 if it has no such conversation. */
export function foundOr404<T>(answer: T | null, id: string): T {
  if (answer === null) throw notFound(id)
  return answer
}

// Prevents requests for ids that were never used from reaching an object, where each one would create a file. This is
// only needed under `npm start`, where the state keeper knows whether a file exists. On the platform an object without
// stored data uses no space, and is called directly.

const MAX_REMEMBERED = 10_000

/**
 * Ids for which this process knows that a file exists. No file is removed while the service runs, except that of a
 * damaged conversation.
 */
const stored = new Set<string>()

/** Whether it is certain that no conversation has this id. */
export async function isUnused(env: Env, owner: string, id: string): Promise<boolean> {
  const name = nameOf(owner, id)
  if (stored.has(name)) return false
  try {
    if (!(await isObjectStored(env, conversationPlace(env, owner, id)))) return true
  } catch (error) {
    // Then the object is called, as on the platform.
    log.warn('conversation.state_not_asked', errorFields(error))
    return false
  }
  if (stored.size >= MAX_REMEMBERED) stored.clear()
  stored.add(name)
  return false
}

const nameOf = (owner: string, id: string): string => JSON.stringify([owner, id])

/** Checks the id of the path before any of the routes below it runs. */
export const markUnused: MiddlewareHandler<AppEnv> = (c, next) => {
  const id = c.req.param('conversation_id')
  if (id === undefined || !CONVERSATION_ID.test(id) || stored.has(nameOf(c.get('principal').owner, id))) return next()
  return markAsked(c, id, next)
}

async function markAsked(c: Context<AppEnv>, id: string, next: Next): Promise<void> {
  c.set('isUnusedId', await isUnused(c.env, c.get('principal').owner, id))
  await next()
}
