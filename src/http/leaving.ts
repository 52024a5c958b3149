// Owners who are being deleted: all their requests are refused until the deletion is complete, except the request for
// its progress.

import { config } from '../config.ts'
import { isLeaving } from '../db/erasures.ts'
import { errorFields, log } from '../lib/log.ts'
import { AppError } from './errors.ts'

/** Paths that such owners may still request. */
const OPEN_TO_LEAVERS = /^\/api\/(owner|session)$/

const RETRY_AFTER_SECONDS = 5

export const leaving = (): AppError =>
  new AppError('unavailable', 'Everything of this owner is being deleted; GET /api/owner says how far that is', {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })

export const isOpenToLeavers = (request: Request): boolean => OPEN_TO_LEAVERS.test(new URL(request.url).pathname)

/** Owners without a key who are not being deleted, and when that was checked, epoch ms. */
const staying = new Map<string, number>()

/** Throws for an owner without a key who is being deleted. The result is cached for as long as keys are. */
export async function refuseLeavingOwner(request: Request, env: Env, owner: string): Promise<void> {
  const now = Date.now()
  if (now - (staying.get(owner) ?? 0) < config(env).keyCacheMs || isOpenToLeavers(request)) return
  try {
    if (await isLeaving(env.DB, owner)) throw leaving()
    staying.set(owner, now)
  } catch (error) {
    if (error instanceof AppError) throw error
    // A database outage refuses nobody here: the database itself rejects rows of such an owner.
    log.warn('auth.leaving_not_asked', { owner, ...errorFields(error) })
  }
}

/** Clears the cache entry, so that an order takes effect here at once. */
export function noteLeaving(owner: string): void {
  staying.delete(owner)
}
