// Creates the signals of new reports. It is in this folder because alerts on new advice need the signals without
// anybody opening a page.

import { type ReportOfSignal, signalOfReport } from '../analysis/report/signal.ts'
import { addSignals, expireSignals, pruneSignals, reportsWithoutSignal } from '../db/signals.ts'
import { isoMicros } from '../lib/clock.ts'

/** Creates signals for reports that have none yet, and ends expired ones. */
export async function bringUpToDate(db: D1Database, owner: string, now: number): Promise<void> {
  const reports = await reportsWithoutSignal<ReportOfSignal>(db, owner)
  if (reports.length > 0) {
    await addSignals(
      db,
      owner,
      reports.flatMap((report) => signalOfReport(report) ?? []),
    )
    await pruneSignals(db, owner)
  }
  await expireSignals(db, owner, isoMicros(now))
}
