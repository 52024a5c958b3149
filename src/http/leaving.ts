// Owners who are being deleted: whatever they ask but how far that is, is refused until it is over.

import { config } from '../config.ts'
import { isLeaving } from '../db/erasures.ts'
import { errorFields, log } from '../lib/log.ts'
import { AppError } from './errors.ts'

/** What they may ask all the same. */
const OPEN_TO_LEAVERS = /^\/api\/(owner|session)$/

const RETRY_AFTER_SECONDS = 5

export const leaving = (): AppError =>
  new AppError('unavailable', 'Everything of this owner is being deleted; GET /api/owner says how far that is', {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })

export const isOpenToLeavers = (request: Request): boolean => OPEN_TO_LEAVERS.test(new URL(request.url).pathname)

/** Owners without a key, who were found to stay, and when, epoch ms. */
const staying = new Map<string, number>()

/** Throws for an owner who is being deleted and whom no key stands for. One who stays is asked about again after the time for which keys are kept. */
export async function refuseLeavingOwner(request: Request, env: Env, owner: string): Promise<void> {
  const now = Date.now()
  if (now - (staying.get(owner) ?? 0) < config(env).keyCacheMs || isOpenToLeavers(request)) return
  try {
    if (await isLeaving(env.DB, owner)) throw leaving()
    staying.set(owner, now)
  } catch (error) {
    if (error instanceof AppError) throw error
    // An outage of the database refuses nobody here: it keeps such an owner's rows out by itself.
    log.warn('auth.leaving_not_asked', { owner, ...errorFields(error) })
  }
}

/** Forgets what was found, so that an order holds here at once. */
export function noteLeaving(owner: string): void {
  staying.delete(owner)
}
