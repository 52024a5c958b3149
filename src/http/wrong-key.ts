import { noteWrongKey, refusalBeforeCheck } from '../limits/wrong-keys.ts'
import { AppError } from './errors.ts'
import { tooManyRequests } from './too-many.ts'

export const unauthorized = (): AppError => new AppError('unauthorized', 'Unauthorized')

/** Throws the 429 when too many wrong keys came from the request's address to look at another one. */
export function demandPatience(env: Env, request: Request, key: string): void {
  const refusal = refusalBeforeCheck(env, request, key)
  if (refusal !== null) throw tooManyRequests(refusal)
}

/** The 401 for a key that was found wrong, or the 429 when it was one too many. */
export async function wrongKey(env: Env, request: Request, key: string): Promise<AppError> {
  // A signed token cannot be guessed, and one that has expired is sent again and again by clients that mean no harm.
  const refusal = key.startsWith('bwc_') ? null : await noteWrongKey(env, request)
  return refusal === null ? unauthorized() : tooManyRequests(refusal)
}
