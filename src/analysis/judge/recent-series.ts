// What claims about days before the last one are decided by: crosses, a lost average, the limit of a session.

import { limitShare } from '../../market/consistency/limits.ts'
import { columns, indicatorSeries } from '../../market/indicators/index.ts'
import type { Judged } from './judge.ts'

export function recentSeries(facts: Judged) {
  const { dif, dea, ma60 } = indicatorSeries(columns(facts.bars))
  return { difs: listOf(dif), deas: listOf(dea), ma60s: listOf(ma60), limitPct: limitOf(facts) }
}

const listOf = (series: ArrayLike<number>) => Array.from(series, (value) => (Number.isNaN(value) ? null : value))

function limitOf({ instrument, asOf, quote, yesterday, displayName }: Judged): number | null {
  const previousClose = quote?.prevClose ?? yesterday?.close
  if (previousClose === undefined) return null
  const limit = limitShare({ instrument, date: asOf, previousClose, isAdjusted: true, name: displayName })
  return limit === null ? null : limit * 100
}
