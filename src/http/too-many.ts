import { countRequest, type LimitKind, type Refusal } from '../limits/limits.ts'
import { AppError } from './errors.ts'
import type { Principal } from './principal.ts'

/**
 * Counts a request of the asker and throws the 429 if it is one too many. Mostly that is known at once; there is something
 * to wait for only when the key's limiter has to be asked.
 */
export function admit(env: Env, principal: Principal, kind: LimitKind): Promise<void> | null {
  const { keyId, via } = principal
  const outcome = countRequest(env, keyId === null ? via : `key ${keyId}`, kind)
  if (outcome instanceof Promise) return outcome.then(demandNone)
  demandNone(outcome)
  return null
}

function demandNone(refusal: Refusal | null): void {
  if (refusal !== null) throw tooManyRequests(refusal)
}

/** The 429 that says when to come again, and what the limit is. */
export function tooManyRequests({ limit, retryAfterMs }: Refusal): AppError {
  const seconds = String(Math.ceil(retryAfterMs / 1000))
  return new AppError('rate_limited', 'Too many requests', {
    headers: {
      'retry-after': seconds,
      'ratelimit-limit': String(limit.count),
      'ratelimit-remaining': '0',
      'ratelimit-reset': seconds,
      'ratelimit-policy': `${limit.count};w=${limit.windowMs / 1000}`,
    },
  })
}

export type FullQuota = {
  /** Its name in `GET /api/usage`. */
  limit: string
  used: number
  allowed: number
  /** When trying again is worth while; absent where that is up to the owner. */
  retryAfterMs?: number
}

/** The 429 of an owner who has all that one may have; `advice` says what to do about it. */
export function quotaReached({ limit, used, allowed, retryAfterMs }: FullQuota, advice: string): AppError {
  const message = `The limit "${limit}" is reached: ${used} of ${allowed} are used. ${advice}`
  const headers = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
  return new AppError('rate_limited', message, { extra: { limit, used, allowed }, headers })
}
