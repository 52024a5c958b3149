// Which stored bars an evaluation may learn from: those that a report would stand on.

import type { Bar } from '../../market/bars.ts'
import { adjustmentOf, examine } from '../../market/consistency/examine.ts'
import { parseCode } from '../../market/instruments.ts'
import type { Series } from './observations.ts'

/** A series, or why there is none of that name. */
export type Found = { name: string } & ({ ok: true; series: Series } | { ok: false; reason: string })

type About = { name: string; isSample: boolean; now: number }

/** The series as its checks leave it. */
export function eligible(bars: readonly Bar[], { name, isSample, now }: About): Found {
  const parsed = parseCode(name)
  if (!parsed.ok) return { ok: false, name, reason: 'its name is no code of a listing' }
  const { instrument } = parsed
  if (instrument.kind === 'index') return { ok: false, name, reason: 'an index cannot be bought' }
  const examined = examine({
    instrument,
    bars: [...bars],
    quote: null,
    barsSource: null,
    quoteSource: null,
    adjustment: adjustmentOf({ source: null, provenance: null, isIndex: false }),
    isSample,
    now,
    dividends: null,
  })
  // Old bars are what an evaluation is made of.
  const failed = examined.consistency.findings.find(
    ({ verdict, check }) => verdict === 'fail' && check !== 'stale_bars',
  )
  if (failed !== undefined) return { ok: false, name, reason: `the check ${failed.check} failed` }
  return { ok: true, name, series: { instrument, bars: examined.bars } }
}
