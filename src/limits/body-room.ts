// Room for large bodies: of each owner, in the owner's object, so that nobody crowds out the others; and of the isolate.

import { owner } from '../bindings.ts'
import { errorFields, log } from '../lib/log.ts'
import { Berths } from './berths.ts'

/** Longer than any body takes; the isolate that took it in is gone by then. */
export const BODY_TIMES = { waitMs: 20_000, stayMs: 120_000, maxWaiting: 32 }
/** In one isolate, of all owners: two of the largest. */
const ISOLATE_BYTES = 16_777_216

const isolate = new Berths({ capacity: ISOLATE_BYTES, ...BODY_TIMES })

type Body = { id: string; bytes: number }

/** True once there is room for the body; false when there was none for too long. */
export async function takeRoom(env: Env, of: string, body: Body): Promise<boolean> {
  return (await isOwnersRoom(env, of, body)) && (await isolate.take(body))
}

/** Gives the room back, if there was any. */
export async function leaveRoom(env: Env, of: string, id: string): Promise<void> {
  isolate.leave(id)
  try {
    await owner(env, of).leaveBody(id)
  } catch (error) {
    // It counts until its time is over.
    log.warn('body.not_left', errorFields(error))
  }
}

/** An object that cannot be reached must not keep a request out; the isolate's own room is still there. */
async function isOwnersRoom(env: Env, of: string, body: Body): Promise<boolean> {
  try {
    return await owner(env, of).takeBody(body)
  } catch (error) {
    log.error('body.room_not_asked', errorFields(error))
    return true
  }
}
