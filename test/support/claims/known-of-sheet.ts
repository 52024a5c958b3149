// The sheets of the labelled sentences as what the checker compares words with.

import { type FactName, type Known, UNITS } from '../../../src/analysis/write/claims/known.ts'
import { columns, indicatorSeries } from '../../../src/market/indicators/index.ts'
import { FACTS, factOf } from '../../fixtures/sentences/fact-list.ts'
import type { Sheet } from '../../fixtures/sentences/facts.ts'

export function knownOfSheet(s: Sheet): Known {
  const series = indicatorSeries(columns(s.bars.map((b) => ({ ...b, amount: null }))))
  const nums = (x: ArrayLike<number>) => Array.from(x, (v) => (Number.isNaN(v) ? null : v))
  const last = (x: ArrayLike<number>) => nums(x).at(-1) ?? null
  const beside: Partial<Record<string, number | null>> = {
    ...{ bias10: s.derived.bias10, change250Pct: last(series.return250), volatility60Pct: last(series.volatility60) },
    ...{ drawdown250Pct: last(series.maxDrawdown250), turnover20: last(series.turnover20) },
  }
  const values = Object.fromEntries(
    Object.keys(UNITS).map((n) => [n, n in FACTS ? factOf(s, n as keyof typeof FACTS) : (beside[n] ?? null)]),
  ) as Record<FactName, number | null>
  const a = s.judgement.advice
  return {
    values,
    currency: s.currency,
    dates: {
      session: s.quote.date,
      high52: s.derived.high52Date,
      low52: s.derived.low52Date,
      split: s.split?.date ?? null,
      period: s.fundamentals.period,
    },
    closes: s.bars.map((b) => b.close),
    difs: nums(series.dif),
    deas: nums(series.dea),
    ma60s: nums(series.ma60),
    limitPct: s.limitPct,
    isSuspended: s.isSuspended === true,
    split: s.split ? { from: s.split.from, to: s.split.to } : null,
    advice: a === 'buy' || a === 'strong_buy' ? 'buy' : a === 'hold' || a === 'watch' ? 'wait' : 'sell',
    isStrong: a.startsWith('strong'),
    trend:
      s.judgement.trend.endsWith('bull') && !s.judgement.trend.startsWith('weak')
        ? 'bull'
        : s.judgement.trend.endsWith('bear') && !s.judgement.trend.startsWith('weak')
          ? 'bear'
          : 'other',
    confidence: s.judgement.confidence,
    headlines: s.headlines,
    names: [s.names.zh, s.names.en, s.names.ko, s.code].filter((w) => w !== ''),
  }
}
