import type { Context } from 'hono'
import { conversation } from '../../bindings.ts'
import { config } from '../../config.ts'
import { listRunning } from '../../db/conversations.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { errorFields, log } from '../../lib/log.ts'
import { waitAtMost } from '../../lib/wait-at-most.ts'

/** How long whoever starts a conversation waits until others have made way, so that the next list shows that. */
const WAIT_MS = 2_000

/**
 * Closes as many of the owner's running conversations as there are too many, now that `startedId` has been started: those
 * that nobody follows first, of them the idle ones, then those that nothing happened in for the longest time. Their clients
 * are told. Where the index cannot be asked all go on running: the next start keeps to the limit again.
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
  // The index may lag behind; each object knows for itself.
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

/** The same after a socket was opened, if opening it started the loop. */
export async function keepToLimitAfter(
  answer: Response,
  c: Context<AppEnv>,
  of: { owner: string; id: string },
): Promise<void> {
  if (answer.headers.get('x-loop-started') === 'true') await keepToLimit(c, of.owner, of.id)
}
