// The ledger of signals follows the reports. Here because alerts on new advice read it without anybody at a page.

import { type ReportOfSignal, signalOfReport } from '../analysis/report/signal.ts'
import { addSignals, expireSignals, pruneSignals, reportsWithoutSignal } from '../db/signals.ts'
import { isoMicros } from '../lib/clock.ts'

/** Makes signals of reports that are none yet, and ends those whose time is over. */
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
