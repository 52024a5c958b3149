// The platform fires the Worker's cron triggers; a local runtime fires none by itself, so the supervisor asks it to. A call
// that finds nobody home is no loss: the next one does what is due by then.

import { setTimeout as sleep } from 'node:timers/promises'
import { HOST } from './port.ts'

/** More often than the platform, so that a schedule tried out on one's own machine comes on its minute. */
const EVERY_MS = 60_000
/** Refreshing names takes about a minute, and more where a source is slow. */
const PATIENCE_MS = 600_000

export async function fireCrons(port: number, stopped: AbortSignal): Promise<void> {
  const url = `http://${HOST}:${port}/cdn-cgi/handler/scheduled?cron=${encodeURIComponent('*/5 * * * *')}`
  while (!stopped.aborted) {
    await sleep(EVERY_MS, undefined, { signal: stopped }).catch(() => {})
    if (stopped.aborted) return
    try {
      await (await fetch(url, { signal: AbortSignal.any([stopped, AbortSignal.timeout(PATIENCE_MS)]) })).arrayBuffer()
    } catch {
      // The runtime is being started again, or the service stops; what failed inside it is in its own log.
    }
  }
}
