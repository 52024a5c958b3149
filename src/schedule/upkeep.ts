// What the service does for itself: each job at its own pace, one call at a time, one that fails again within the hour.

import { endTurn, takeTurn } from '../db/upkeep.ts'
import { systemClock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'

export type UpkeepJob = {
  name: string
  everyMs: number
  /** Answers a line that says what was done. */
  run: () => Promise<string>
}

const RETRY_MS = 3_600_000

export async function runUpkeep(db: D1Database, jobs: readonly UpkeepJob[], now: number): Promise<void> {
  for (const { name, everyMs, run } of jobs) {
    if (!(await takeTurn(db, { name, now, everyMs }))) continue
    try {
      const outcome = await run()
      await endTurn(db, { name, endedAt: systemClock(), outcome, nextAt: null })
      log.info('upkeep.done', { name, outcome })
    } catch (error) {
      log.warn('upkeep.failed', { name, ...errorFields(error) })
      await endTurn(db, { name, endedAt: systemClock(), outcome: 'failed', nextAt: now + Math.min(RETRY_MS, everyMs) })
    }
  }
}
