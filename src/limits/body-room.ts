// Room for large bodies: of each owner, in the owner's object, so that nobody crowds out the others; and of the isolate,
// first for what comes in, then for what is worked on.

import { owner } from '../bindings.ts'
import { errorFields, log } from '../lib/log.ts'
import { Arrivals } from './arrivals.ts'
import { Berths } from './berths.ts'

/** Longer than any body takes; the isolate that took it in is gone by then. */
export const BODY_TIMES = { waitMs: 20_000, stayMs: 120_000, maxWaiting: 32 }
/** In one isolate, of all owners: two of the largest. */
const ISOLATE_BYTES = 16_777_216

const arrivals = new Arrivals({ capacity: ISOLATE_BYTES, waitMs: BODY_TIMES.waitMs })
const isolate = new Berths({ capacity: ISOLATE_BYTES, ...BODY_TIMES })

type Body = { id: string; bytes: number }

/** True once the owner may send such a body; false when there was no room of theirs for too long. */
export async function takeOwnersRoom(env: Env, of: string, body: Body): Promise<boolean> {
  try {
    return await owner(env, of).takeBody(body)
  } catch (error) {
    // An object that cannot be reached must not keep a request out; the isolate's own room is still there.
    log.error('body.room_not_asked', errorFields(error))
    return true
  }
}

/** True once so many bytes more of a body may be read. */
export const growArrival = (body: Body): Promise<boolean> => arrivals.grow(body)

/** True once the body, which is whole now, may be worked on. */
export async function takeIsolatesRoom(body: Body): Promise<boolean> {
  const isIn = await isolate.take(body)
  arrivals.leave(body.id)
  return isIn
}

/** Gives back whatever room there was. */
export async function leaveRoom(env: Env, of: string, id: string): Promise<void> {
  arrivals.leave(id)
  isolate.leave(id)
  try {
    await owner(env, of).leaveBody(id)
  } catch (error) {
    // It counts until its time is over.
    log.warn('body.not_left', errorFields(error))
  }
}
