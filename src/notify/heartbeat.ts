import { errorFields, log } from '../lib/log.ts'

/** A lease lasts as long as a few beats that did not get through. */
const BEAT_MS = 5_000

/** Says again and again that the work goes on, until what it answers is called. */
export function beat(renew: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | null = setTimeout(next, BEAT_MS)
  async function next(): Promise<void> {
    try {
      await renew()
    } catch (error) {
      // The lease outlasts a beat that was not heard.
      log.warn('notify.beat_failed', errorFields(error))
    }
    if (timer !== null) timer = setTimeout(next, BEAT_MS)
  }
  return () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
  }
}
