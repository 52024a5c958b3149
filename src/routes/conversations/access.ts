import type { Context } from 'hono'
import { conversation, noConversation } from '../../bindings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { CONVERSATION_ID } from './schemas.ts'

/** The 404 of a conversation that is unknown, or another's: nobody can tell which. */
export function notFound(id: string): AppError {
  return new AppError('unknown_conversation', `Conversation ${id} not found`)
}

/** The object of the asker's conversation. An id that cannot exist is answered without waking anything. */
export function ownConversation(c: Context<AppEnv>, id: string): ReturnType<typeof conversation> {
  if (!CONVERSATION_ID.test(id)) throw notFound(id)
  return objectOf(c, id)
}

/** The object of the conversation that the path names; one that knows of no conversation where the id was never used. */
export function objectOf(c: Context<AppEnv>, id: string): ReturnType<typeof conversation> {
  return c.get('isUnusedId') === true ? noConversation(c.env) : conversation(c.env, c.get('principal').owner, id)
}

/** What the object answered, or the 404 when it knows no such conversation. */
export function found<T>(answer: T | null, id: string): T {
  if (answer === null) throw notFound(id)
  return answer
}
