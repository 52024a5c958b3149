// Reserves space for one more conversation before it is created. The owner's object is asked in parallel with the other
// checks, so that the creation does not take longer.

import type { Context } from 'hono'
import { conversation, owner } from '../../bindings.ts'
import { config } from '../../config.ts'
import { listRunning } from '../../db/conversations.ts'
import type { AppEnv } from '../../http/app-env.ts'
import type { AppError } from '../../http/errors.ts'
import { quotaReached } from '../../http/too-many.ts'
import { giveWay } from '../../lib/give-way.ts'
import { errorFields, log } from '../../lib/log.ts'
import { waitAtMost } from '../../lib/wait-at-most.ts'

type Making<P, T> = {
  prepare: () => Promise<P>
  make: (prepared: P) => Promise<T>
  /** Whether the conversation exists now. */
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
    // The calls before and after are chains of writes in other objects.
    await giveWay()
    const made = await make(prepared.value)
    isThere = isMade(made)
    await giveWay()
    return made
  } finally {
    if (!isThere) giveBack()
  }
}

/** The 429 for an owner who has reached the limit of conversations or bytes. */
export function storageFull(full: { limit: string; used: number; allowed: number }): AppError {
  return quotaReached(full, ADVICE[full.limit] ?? '')
}

function reserve(c: Context<AppEnv>, id: string): Promise<Reservation> {
  const name = c.get('principal').owner
  return owner(c.env, name).reserveConversation(name, id)
}

/** An unavailable limit check must not cause an outage: the conversation is counted with its first report. */
function passed(error: unknown): Reservation {
  log.error('conversation.room_not_asked', errorFields(error))
  return { ok: true, isFresh: false }
}

async function release(c: Context<AppEnv>, id: string): Promise<void> {
  try {
    await owner(c.env, c.get('principal').owner).releaseConversation(id)
  } catch (error) {
    // The owner's object finds the unused reservation itself.
    log.warn('conversation.room_not_given_back', errorFields(error))
  }
}

/** How long the start of a conversation waits until others are closed, so that the client's next list is up to date. */
const WAIT_MS = 2_000

/**
 * Closes the owner's running conversations above the limit, after `startedId` was started: first those without clients,
 * of them idle ones first, then those with the oldest last event. Their clients are notified. If the index cannot be
 * read, all continue; the next start enforces the limit again.
 */
export async function keepToLimit(c: Context<AppEnv>, owner: string, startedId: string): Promise<void> {
  const kept = closeSurplusOrTell(c.env, owner, startedId)
  c.executionCtx.waitUntil(kept)
  await waitAtMost(WAIT_MS, kept)
}

async function closeSurplusOrTell(env: Env, owner: string, startedId: string): Promise<void> {
  try {
    await closeSurplus(env, owner, startedId)
  } catch (error) {
    log.warn('conversation.limit_not_kept', { owner, ...errorFields(error) })
  }
}

async function closeSurplus(env: Env, owner: string, startedId: string): Promise<void> {
  const { maxRunningLoops } = config(env)
  const others = (await listRunning(env.DB, owner)).filter((id) => id !== startedId)
  if (others.length < maxRunningLoops) return
  // The index may be out of date; each object knows its own state.
  const known = await Promise.all(others.map(async (id) => ({ id, is: await conversation(env, owner, id).activity() })))
  const running = known
    .flatMap(({ id, is }) => (is === null ? [] : [{ id, ...is }]))
    .sort(
      (a, b) =>
        Number(a.followed) - Number(b.followed) ||
        Number(a.busy) - Number(b.busy) ||
        (a.lastUpdatedAt ?? '').localeCompare(b.lastUpdatedAt ?? ''),
    )
  const surplus = running.slice(0, Math.max(0, running.length + 1 - maxRunningLoops))
  await Promise.all(surplus.map(({ id }) => conversation(env, owner, id).makeWay()))
}

/** The same after a socket was opened, if this started the loop. */
export async function keepToLimitAfter(
  answer: Response,
  c: Context<AppEnv>,
  of: { owner: string; id: string },
): Promise<void> {
  if (answer.headers.get('x-loop-started') === 'true') await keepToLimit(c, of.owner, of.id)
}
