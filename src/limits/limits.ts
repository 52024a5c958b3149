// Rate limits of a key. An isolate counts for itself as long as little is asked of it, and asks the key's object only when
// its share is used up, reporting what it let through. So a request of somebody who is not in a hurry costs no hop, and
// many isolates together still keep to one limit, give or take their shares. What is expensive is never counted alone.

import { limiter, type Take } from '../bindings.ts'
import { type Config, config, type RateLimit } from '../config.ts'
import { errorFields, log } from '../lib/log.ts'
import type { Spending } from './bucket.ts'

export type LimitKind = keyof Config['rateLimits']

export type Refusal = { limit: RateLimit; retryAfterMs: number }

/** What an isolate knows of one limit of one key. */
type Local = {
  /** Requests that were let through here and not reported, less what time has forgiven. */
  debt: number
  at: number
  /** The object said no; until then nobody needs to ask it again. */
  blockedUntil: number
}

/** The part of a limit that an isolate may use before it reports: a sixteenth, and nothing of what is expensive. */
const SHARE: Readonly<Record<LimitKind, number>> = {
  reads: 1 / 16,
  writes: 1 / 16,
  starts: 0,
  analyses: 0,
  uploads: 0,
  wrongKeys: 0,
}

const MAX_REMEMBERED = 10_000
/** An object that takes longer must not hold up requests. */
const PATIENCE_MS = 1_000

const locals = new Map<string, Local>()

/** Counts a request. Null lets it pass; a promise comes only when the object has to be asked. */
export function countRequest(env: Env, who: string, kind: LimitKind): Refusal | null | Promise<Refusal | null> {
  const limit = config(env).rateLimits[kind]
  if (limit === null) return null
  const now = Date.now()
  const local = localOf(`${kind} ${who}`, now)
  if (local.blockedUntil > now) return { limit, retryAfterMs: local.blockedUntil - now }
  const forgiven = Math.max(0, now - local.at) * (limit.count / limit.windowMs)
  local.at = now
  local.debt = Math.max(0, local.debt - forgiven)
  if (local.debt + 1 <= limit.count * SHARE[kind]) {
    local.debt += 1
    return null
  }
  return ask({ env, who, kind, limit, local })
}

/** How long a key or address is known here to have to wait, without counting anything. */
export function knownRefusal(env: Env, who: string, kind: LimitKind): Refusal | null {
  const limit = config(env).rateLimits[kind]
  const retryAfterMs = (locals.get(`${kind} ${who}`)?.blockedUntil ?? 0) - Date.now()
  return limit !== null && retryAfterMs > 0 ? { limit, retryAfterMs } : null
}

function localOf(name: string, now: number): Local {
  const known = locals.get(name)
  if (known !== undefined) return known
  if (locals.size >= MAX_REMEMBERED) locals.clear()
  const local = { debt: 0, at: now, blockedUntil: 0 }
  locals.set(name, local)
  return local
}

type Question = { env: Env; who: string; kind: LimitKind; limit: RateLimit; local: Local }

async function ask({ env, who, kind, limit, local }: Question): Promise<Refusal | null> {
  const spent = local.debt
  // Reported from here on, so that requests at the same time do not report it again.
  local.debt = 0
  const answer = await answerInTime(env, who, { kind, ...limit, spent })
  if (answer === null || answer.ok) return null
  local.blockedUntil = Date.now() + answer.retryAfterMs
  return { limit, retryAfterMs: answer.retryAfterMs }
}

/** Null when the object cannot be reached: requests then pass, because a limit is no reason for an outage. */
async function answerInTime(env: Env, who: string, take: Take): Promise<Spending | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS)
  })
  try {
    return await Promise.race([limiter(env, who).take(take), late])
  } catch (error) {
    log.error('limits.unreachable', { kind: take.kind, ...errorFields(error) })
    return null
  } finally {
    clearTimeout(timer)
  }
}
