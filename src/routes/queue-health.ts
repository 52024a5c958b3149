// Whether the queue gets anywhere. Everybody may ask, so an isolate looks at most every five seconds, one look at a time.

import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { errorFields, log } from '../lib/log.ts'

const LOOK_EVERY_MS = 5_000
const PATIENCE_MS = 500

type Look = { at: number; trouble: string | null }

const looks = new WeakMap<object, Look>()

/** What is wrong with the queue, or null. */
export async function queueTrouble(env: Env, now = Date.now()): Promise<string | null> {
  const last = looks.get(env.TASK_QUEUE) ?? { at: Number.NEGATIVE_INFINITY, trouble: null }
  if (now - last.at < LOOK_EVERY_MS) return last.trouble
  // Whoever asks meanwhile is told what was seen last: an answer that is on its way belongs to the request that asked.
  looks.set(env.TASK_QUEUE, { at: now, trouble: last.trouble })
  const trouble = await look(env)
  looks.set(env.TASK_QUEUE, { at: now, trouble })
  return trouble
}

async function look(env: Env): Promise<string | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS)
  })
  try {
    const ageMs = await Promise.race([taskQueue(env).oldestPendingMs(), late])
    if (ageMs === null) return 'the task queue does not answer'
    if (ageMs <= config(env).tasks.maxQueueAgeMs) return null
    return `the oldest pending task has waited ${Math.round(ageMs / 1000)} s`
  } catch (error) {
    log.warn('health.queue_unreachable', errorFields(error))
    return 'the task queue does not answer'
  } finally {
    clearTimeout(timer)
  }
}
