// Replays the method over the bars of the service, once a day, and stores the result.

import { eligible, type SeriesResult } from '../analysis/evidence/observations.ts'
import { EvidenceBook, rowsOf } from '../analysis/evidence/rows.ts'
import { METHOD_VERSION } from '../analysis/evidence/vocabulary.ts'
import { type EvidenceData, evidenceRun, keptSeries, saveEvidence } from '../db/evidence.ts'
import { isoMicros } from '../lib/clock.ts'
import { BarList } from '../market/providers/answer-cache.ts'
import { listSamples, loadSampleBars } from '../market/providers/sample.ts'

/** Takes about two seconds of computation. */
const MOST_SERIES = 200
/** Random entries change with each version of the method, not with each run. */
const SEED = 1

/** Returns a line for the log. */
export async function refreshEvidence(db: D1Database, now: number): Promise<string> {
  const market = await computed(db, 'market', now)
  const before = await evidenceRun(db, 'sample')
  // Samples never change.
  if (before?.methodVersion === METHOD_VERSION) return `${market} series`
  return `${market} series, ${await computed(db, 'sample', now)} samples`
}

async function computed(db: D1Database, data: EvidenceData, now: number): Promise<number> {
  const book = new EvidenceBook(SEED)
  let leftOut = 0
  for await (const found of data === 'market' ? kept(db, now) : samples(now)) {
    if (found.ok) book.add(found.series)
    else leftOut += 1
  }
  const rows = rowsOf(book).map((row) => {
    const { measure, group, market, regime, verdict } = row
    return { measure, part: group, market, regime, verdict, body: JSON.stringify(row) }
  })
  const { series, bars, days } = book.totals
  const run = {
    data,
    methodVersion: METHOD_VERSION,
    computedAt: isoMicros(now),
    ...book.range,
    series,
    bars,
    days,
    leftOut,
  }
  await saveEvidence(db, run, rows)
  return series
}

async function* kept(db: D1Database, now: number): AsyncGenerator<SeriesResult> {
  for (const { key, body } of await keptSeries(db, MOST_SERIES)) {
    const bars = BarList.safeParse(JSON.parse(body))
    if (bars.success) yield eligible(bars.data, { name: key, isSample: false, now })
    else yield { ok: false, name: key, reason: 'its bars cannot be read' }
  }
}

async function* samples(now: number): AsyncGenerator<SeriesResult> {
  for (const sample of listSamples()) {
    yield eligible(await loadSampleBars(sample), { name: sample.key, isSample: true, now })
  }
}
