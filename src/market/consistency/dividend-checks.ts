// Whether prices of the past were adjusted. A source says whether it does; what it left in shows only where it is larger than an
// ordinary day.

import { LEAST, WINDOW } from './tolerances.ts'
import type { Evidence } from './types.ts'
import { type Checked, finding, HISTORY, notPossible, pass } from './types.ts'

export function dividends({ bars, instrument, adjustment, dividends: paid }: Evidence): Checked {
  if (instrument.kind === 'index' || adjustment.kind === 'forward' || adjustment.kind === 'synthetic') {
    return pass('dividends')
  }
  if (adjustment.kind === 'unknown' || paid === null) return notPossible('dividends', 'not_told')
  const recent = bars.slice(-WINDOW)
  const [first, last] = [recent[0], recent.at(-1)]
  if (first === undefined || last === undefined) return notPossible('dividends', 'no_bars')
  const inside = paid.filter(({ exDate }) => exDate !== null && exDate > first.date && exDate <= last.date)
  const sum = inside.reduce((total, { cashPerShare }) => total + cashPerShare, 0)
  if (sum / last.close < LEAST.dividendShare) return pass('dividends')
  const told = { date: inside[0]?.exDate ?? null, found: sum, count: inside.length }
  return { findings: [finding('dividends', 'warn', { touches: HISTORY, detail: 'unadjusted', ...told })] }
}
