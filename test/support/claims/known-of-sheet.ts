// Converts the fact sheets of the labelled sentences to the facts that the checker compares sentences with.

import { type FactName, type KnownFacts, UNITS } from '../../../src/analysis/write/claims/known.ts'
import { columns, indicatorSeries } from '../../../src/market/indicators/index.ts'
import { FACTS, factOf } from '../../fixtures/sentences/fact-list.ts'
import type { Sheet } from '../../fixtures/sentences/facts.ts'

export function knownOfSheet(s: Sheet): KnownFacts {
  const series = indicatorSeries(columns(s.bars.map((b) => ({ ...b, amount: null }))))
  const nums = (x: ArrayLike<number>) => Array.from(x, (v) => (Number.isNaN(v) ? null : v))
  const last = (x: ArrayLike<number>) => nums(x).at(-1) ?? null
  const price = s.bars.at(-1)?.close ?? 0
  const beside: Partial<Record<string, number | null>> = {
    ...{ bias10: s.derived.bias10, change250Pct: last(series.return250), volatility60Pct: last(series.volatility60) },
    ...{ drawdown250Pct: last(series.maxDrawdown250), turnover20: last(series.turnover20) },
    ...{ scoreTrend: 26, scoreBias: 9, scoreVolume: 7, scoreSupport: 3, scoreMacd: 11, scoreRsi: 5 },
    ...{ chipProfitPct: 61.37, chipCost: price * 0.931, chipLow90: price * 0.812, chipHigh90: price * 1.073 },
    ...{ chipConcentration90Pct: 13.85, grossMarginPct: 41.27 },
    ...{ revenue: 130_903_889_635, netProfit: 64_626_746_712, operatingCashFlow: 31_415_926_535 },
    ...{ flowToday: 213_400_000, flow5: -721_900_000, flow10: 1_112_300_000 },
    ...{ outflowToday: -213_400_000, outflow5: 721_900_000, outflow10: -1_112_300_000 },
  }
  const values = Object.fromEntries(
    Object.keys(UNITS).map((n) => [n, n in FACTS ? factOf(s, n as keyof typeof FACTS) : (beside[n] ?? null)]),
  ) as Record<FactName, number | null>
  const a = s.judgement.advice
  return {
    values,
    currency: s.currency,
    resultsCurrency: s.currency,
    decimals: 2,
    ...{ isOpen: false, isTradingDay: true, isPartial: false },
    boards: [
      { name: '酿酒行业', changePct: -1.2 },
      { name: '白酒', changePct: null },
    ],
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
