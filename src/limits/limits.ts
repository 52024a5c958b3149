// The rate limits of a key. An isolate admits a share of the requests by itself, and asks the key's object only when
// that share is used up; then it reports what it admitted. So a client with few requests costs no call, and many
// isolates together still enforce the limit, except for their shares. Expensive requests are always counted by the
// object.

import { limiter, type Take, type TakeResult } from '../bindings.ts'
import type { RateLimit } from '../config/limits.ts'
import { type Config, config } from '../config.ts'
import { ipv4Of, ipv6Of } from '../lib/ip-address.ts'
import { errorFields, log } from '../lib/log.ts'
import { inTime, noAnswerWithin } from '../lib/wait-at-most.ts'
import type { Bucket } from './bucket.ts'

export type LimitKind = keyof Config['rateLimits']

export type Refusal = { limit: RateLimit; retryAfterMs: number }

/** What an isolate knows about one limit of one key. */
type Local = {
  /**
   * Requests that were admitted here and not reported yet. They are not reduced with time here: only the object does
   * that, because it knows all isolates.
   */
  debt: number
  /** When the first of them was let through, epoch ms. */
  since: number
  /** The last bucket from the object. An object that was evicted meanwhile has forgotten it. */
  bucket: Bucket | null
  /** When the object refused, and until when this isolate refuses by itself, epoch ms. */
  blocked: { since: number; until: number }
}

/** The share of a limit that an isolate admits before it reports: a sixteenth, and none of expensive requests. */
const SHARE: Readonly<Record<LimitKind, number>> = {
  reads: 1 / 16,
  writes: 1 / 16,
  starts: 0,
  analyses: 0,
  chats: 0,
  alertTests: 0,
  screens: 0,
  uploads: 0,
  wrongKeys: 0,
}

const MAX_REMEMBERED = 10_000
/** An object that takes longer must not delay requests. */
const PATIENCE_MS = 1_000

const locals = new Map<string, Local>()

/** Counts a request. Null admits it; a promise is returned only when the object is asked. */
export function countRequest(env: Env, who: string, kind: LimitKind): Refusal | null | Promise<Refusal | null> {
  const limit = config(env).rateLimits[kind]
  if (limit === null) return null
  const now = Date.now()
  const local = localOf(`${kind} ${who}`, now)
  const retryAfterMs = leftOf(local.blocked, now)
  if (retryAfterMs > 0) return { limit, retryAfterMs }
  if (local.debt === 0) local.since = now
  if (local.debt + 1 <= limit.count * SHARE[kind]) {
    local.debt += 1
    return null
  }
  return ask({ env, who, kind, limit, local })
}

/** How long a key or address must wait as far as this isolate knows, without counting a request. */
function knownRefusal(env: Env, who: string, kind: LimitKind): Refusal | null {
  const limit = config(env).rateLimits[kind]
  const retryAfterMs = leftOf(locals.get(`${kind} ${who}`)?.blocked, Date.now())
  return limit !== null && retryAfterMs > 0 ? { limit, retryAfterMs } : null
}

function localOf(name: string, now: number): Local {
  const known = locals.get(name)
  if (known !== undefined) return known
  if (locals.size >= MAX_REMEMBERED) locals.clear()
  const local = { debt: 0, since: now, bucket: null, blocked: { since: 0, until: 0 } }
  locals.set(name, local)
  return local
}

/** After the clock was set back, a refusal in the future is ignored. */
function leftOf(blocked: Local['blocked'] | undefined, now: number): number {
  return blocked === undefined || now < blocked.since ? 0 : blocked.until - now
}

type Question = { env: Env; who: string; kind: LimitKind; limit: RateLimit; local: Local }

async function ask({ env, who, kind, limit, local }: Question): Promise<Refusal | null> {
  const { debt: spent, since, bucket: known } = local
  // Reset before the call, so that concurrent requests do not report it again.
  local.debt = 0
  const answer = await answerInTime(env, who, { kind, ...limit, spent, since, known })
  if (answer === null) return null
  if (local.bucket === null || local.bucket.at <= answer.bucket.at) local.bucket = answer.bucket
  if (answer.ok) return null
  const now = Date.now()
  local.blocked = { since: now, until: now + answer.retryAfterMs }
  return { limit, retryAfterMs: answer.retryAfterMs }
}

/** Null when the object cannot be reached: requests are then admitted, because a limit must not cause an outage. */
async function answerInTime(env: Env, who: string, take: Take): Promise<TakeResult | null> {
  try {
    return await inTime(PATIENCE_MS, limiter(env, who).take(take), noAnswerWithin(PATIENCE_MS))
  } catch (error) {
    log.error('limits.unreachable', { kind: take.kind, ...errorFields(error) })
    return null
  }
}

// Slows down attempts to guess keys, by address: after too many wrong keys, no key from that address is checked for a
// while. A key that this isolate found valid before still works, so that nobody can lock out other users behind the
// same address.

const MAX_REMEMBERED_KEYS = 10_000

const proven = new Set<string>()

/** Why keys from this address are not checked now, or null. */
export function refusalBeforeCheck(env: Env, request: Request, key: string): Refusal | null {
  if (proven.has(key)) return null
  const address = addressOf(request)
  return address === null ? null : knownRefusal(env, address, 'wrongKeys')
}

/** Remembers that the key is valid. */
export function noteRightKey(key: string): void {
  if (proven.has(key)) return
  if (proven.size >= MAX_REMEMBERED_KEYS) proven.clear()
  proven.add(key)
}

/** Counts a wrong key; returns the refusal when there were too many. */
export async function noteWrongKey(env: Env, request: Request): Promise<Refusal | null> {
  const address = addressOf(request)
  return address === null ? null : countRequest(env, address, 'wrongKeys')
}

/** The client's address as the platform reports it. For IPv6 the first 64 bits, because one client usually has a whole /64. */
function addressOf(request: Request): string | null {
  const text = request.headers.get('cf-connecting-ip')
  if (text === null) return null
  if (ipv4Of(text) !== null) return `address ${text}`
  const written = URL.canParse(`http://[${text}]/`) ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : ''
  const address = ipv6Of(written)
  return address === null ? null : `address ${address.parts.slice(0, 4).join(' ')}`
}
