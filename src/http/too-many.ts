import { countRequest, type LimitKind, noteWrongKey, type Refusal, refusalBeforeCheck } from '../limits/limits.ts'
import type { Principal } from './app-env.ts'
import { AppError } from './errors.ts'

/**
 * Counts a request of the client and throws a 429 if it exceeds the limit. Usually the answer is known at once; a
 * promise is returned only when the key's limiter must be asked.
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

/** A 429 with the limit and the time until the next try. */
function tooManyRequests({ limit, retryAfterMs }: Refusal): AppError {
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
  /** The limit's name in `GET /api/usage`. */
  limit: string
  used: number
  allowed: number
  /** When a retry can succeed, epoch ms; absent if that depends on the owner. */
  retryAfterMs?: number
}

/** The 429 of an exhausted quota; `advice` says what the owner can do. */
export function quotaReached({ limit, used, allowed, retryAfterMs }: FullQuota, advice: string): AppError {
  const message = `The limit "${limit}" is reached: ${used} of ${allowed} are used. ${advice}`
  const headers = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
  return new AppError('rate_limited', message, { extra: { limit, used, allowed }, headers })
}

export const unauthorized = (): AppError => new AppError('unauthorized', 'Unauthorized')

/** Throws the 429 after too many wrong keys from the request's address. */
export function demandPatience(env: Env, request: Request, key: string): void {
  const refusal = refusalBeforeCheck(env, request, key)
  if (refusal !== null) throw tooManyRequests(refusal)
}

/** The 401 for a wrong key, or the 429 when it exceeds the limit. */
export async function wrongKey(env: Env, request: Request, key: string): Promise<AppError> {
  // A signed token cannot be guessed, and harmless clients send expired ones again and again.
  const refusal = key.startsWith('bwc_') ? null : await noteWrongKey(env, request)
  return refusal === null ? unauthorized() : tooManyRequests(refusal)
}
