// Room for one more conversation, asked for before it is made. The owner's object is asked while the rest is being looked
// at, so that a creation does not take longer for it.

import type { Context } from 'hono'
import { owner } from '../../bindings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import type { AppError } from '../../http/errors.ts'
import { quotaReached } from '../../http/too-many.ts'
import { errorFields, log } from '../../lib/log.ts'

type Making<P, T> = {
  prepare: () => Promise<P>
  make: (prepared: P) => Promise<T>
  /** Whether the conversation is there now. */
  isMade: (made: T) => boolean
}

type Reservation = { ok: true; isFresh: boolean } | { ok: false; limit: string; used: number; allowed: number }

const ADVICE: Readonly<Record<string, string>> = {
  conversations: 'Delete conversations that are not needed any more.',
  stored_bytes: 'Delete conversations, or files in their workspaces.',
}

export async function withRoom<P, T>(
  c: Context<AppEnv>,
  id: string,
  { prepare, make, isMade }: Making<P, T>,
): Promise<T> {
  const [reserved, prepared] = await Promise.allSettled([reserve(c, id), prepare()])
  const reservation = reserved.status === 'fulfilled' ? reserved.value : passed(reserved.reason)
  const giveBack = () => {
    if (reservation.ok && reservation.isFresh) c.executionCtx.waitUntil(release(c, id))
  }
  if (prepared.status === 'rejected') {
    giveBack()
    throw prepared.reason
  }
  if (!reservation.ok) throw storageFull(reservation)
  let isThere = false
  try {
    const made = await make(prepared.value)
    isThere = isMade(made)
    return made
  } finally {
    if (!isThere) giveBack()
  }
}

/** The 429 of an owner who has as many conversations, or as many bytes, as there may be. */
export function storageFull(full: { limit: string; used: number; allowed: number }): AppError {
  return quotaReached(full, ADVICE[full.limit] ?? '')
}

function reserve(c: Context<AppEnv>, id: string): Promise<Reservation> {
  const name = c.get('principal').owner
  return owner(c.env, name).reserveConversation(name, id)
}

/** A limit that cannot be asked is no reason for an outage: the conversation counts as soon as it reports. */
function passed(error: unknown): Reservation {
  log.error('conversation.room_not_asked', errorFields(error))
  return { ok: true, isFresh: false }
}

async function release(c: Context<AppEnv>, id: string): Promise<void> {
  try {
    await owner(c.env, c.get('principal').owner).releaseConversation(id)
  } catch (error) {
    // The owner's object finds out by itself that nothing came of it.
    log.warn('conversation.room_not_given_back', errorFields(error))
  }
}
