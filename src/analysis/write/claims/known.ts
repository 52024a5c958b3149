// The facts about a stock in the form for the checker of claims, and how they are derived from a judged stock: figures
// by name, and facts that decide claims without a figure. Null means that the data do not contain it.

import type { ScorePartKey } from '../../codes.ts'
import { isWithoutTrade } from '../../gather/market-view.ts'
import { type Judged, recentSeries } from '../../judge/judge.ts'

export const SIGNED = [
  ...['change', 'changePct', 'change5Pct', 'change20Pct', 'change60Pct', 'change250Pct', 'bias5', 'bias10', 'bias20'],
  ...['revenueGrowthPct', 'profitGrowthPct'],
] as const

/** price: of one share, in the listing's currency. money: an amount in it. */
export type Unit = 'price' | 'money' | 'percent' | 'points' | 'times' | 'shares' | 'ratio'

export const UNITS = {
  ...{ price: 'price', prevClose: 'price', open: 'price', high: 'price', low: 'price', change: 'price' },
  ...{ changePct: 'percent', amplitudePct: 'percent', volume: 'shares', amount: 'money', turnoverRatePct: 'percent' },
  ...{ volumeRatio: 'times', volumeVsPrevious: 'times', marketCap: 'money' },
  ...{ ma5: 'price', ma10: 'price', ma20: 'price', ma60: 'price', ma120: 'price', ma250: 'price' },
  ...{ bias5: 'percent', bias10: 'percent', bias20: 'percent', rsi6: 'points', rsi12: 'points', rsi24: 'points' },
  ...{ k: 'points', d: 'points', j: 'points', dif: 'points', dea: 'points', histogram: 'points' },
  ...{ bollUpper: 'price', bollMiddle: 'price', bollLower: 'price', atr: 'price', high52: 'price', low52: 'price' },
  ...{ position52Pct: 'percent', belowHigh52Pct: 'percent', aboveLow52Pct: 'percent' },
  ...{ change5Pct: 'percent', change20Pct: 'percent', change60Pct: 'percent' },
  ...{ change250Pct: 'percent', volatility60Pct: 'percent', drawdown250Pct: 'percent', turnover20: 'money' },
  ...{ pe: 'times', pb: 'times', eps: 'price', roePct: 'percent', debtRatioPct: 'percent' },
  ...{ revenueGrowthPct: 'percent', profitGrowthPct: 'percent', dividendYieldPct: 'percent', score: 'points' },
  ...{ support: 'price', resistance: 'price', stop: 'price', idealBuy: 'price', secondaryBuy: 'price' },
  ...{ target1: 'price', target2: 'price', rewardRisk: 'ratio' },
  ...{ scoreTrend: 'points', scoreBias: 'points', scoreVolume: 'points', scoreSupport: 'points' },
  ...{ scoreMacd: 'points', scoreRsi: 'points' },
  ...{ chipProfitPct: 'percent', chipCost: 'price', chipLow90: 'price', chipHigh90: 'price' },
  ...{ chipConcentration90Pct: 'percent' },
  ...{ revenue: 'money', netProfit: 'money', operatingCashFlow: 'money', grossMarginPct: 'percent' },
  // Net flow of the main money; an outflow is a negative inflow.
  ...{ flowToday: 'money', flow5: 'money', flow10: 'money' },
  ...{ outflowToday: 'money', outflow5: 'money', outflow10: 'money' },
} as const satisfies Record<string, Unit>

export type FactName = keyof typeof UNITS

/** The maximum points of each part of the score. */
export const FULL_MARKS: Readonly<Partial<Record<FactName, number>>> = {
  ...{ scoreTrend: 30, scoreBias: 20, scoreVolume: 15, scoreSupport: 10, scoreMacd: 15, scoreRsi: 10 },
}

/** Figures of the company's results, which may have another currency than its shares. */
const OF_RESULTS: ReadonlySet<FactName> = new Set(['revenue', 'netProfit', 'operatingCashFlow'])

/** The currency of a price or an amount. */
export const moneyOf = (fact: FactName, { currency, resultsCurrency }: KnownFacts): string =>
  OF_RESULTS.has(fact) ? resultsCurrency : currency

export type Advice = 'buy' | 'sell' | 'wait'

/** The verdict on a claim: true, false, or null when nothing decides it. */
export type Finding = boolean | null

export type KnownHeadline = { readonly title: string; readonly source: string | null; readonly date: string | null }

export type KnownFacts = {
  readonly values: Readonly<Record<FactName, number | null>>
  readonly currency: string
  readonly resultsCurrency: string
  /** The number of decimals of a price in reports. */
  readonly decimals: number
  /** `YYYY-MM-DD`. */
  readonly dates: {
    readonly session: string
    readonly high52: string | null
    readonly low52: string | null
    readonly split: string | null
    readonly period: string | null
  }
  /** Closes up to the price, the newest last. */
  readonly closes: readonly number[]
  /** DIF, DEA and the 60-day average of the same days. */
  readonly difs: readonly (number | null)[]
  readonly deas: readonly (number | null)[]
  readonly ma60s: readonly (number | null)[]
  readonly limitPct: number | null
  readonly isSuspended: boolean
  /** At the moment of the report; null for a sample, and between the sessions of a day. */
  readonly isOpen: boolean | null
  readonly isTradingDay: boolean | null
  /** The session of the last bar is still running: there is no close of that day yet. */
  readonly isPartial: boolean
  readonly boards: readonly { readonly name: string; readonly changePct: number | null }[]
  readonly split: { readonly from: number; readonly to: number } | null
  readonly advice: Advice
  readonly isStrong: boolean
  readonly trend: 'bull' | 'bear' | 'other'
  readonly confidence: 'high' | 'medium' | 'low'
  readonly headlines: readonly KnownHeadline[]
  /** Names of the stock, and its code. */
  readonly names: readonly string[]
}

// The facts of a judged stock for comparison with a model's text.

export function knownOf(facts: Judged): KnownFacts {
  const { bars, decision, instrument, news, names } = facts
  const year = bars.filter(({ date }) => date > (bars.at(-1) ? yearBefore(bars.at(-1)?.date ?? '') : ''))
  const { high52, low52 } = yearOf(facts)
  return {
    values: valuesOf(facts),
    currency: facts.priceCurrency,
    resultsCurrency: facts.company.fundamentals.value?.report?.currency ?? facts.priceCurrency,
    decimals: facts.decimals,
    dates: {
      session: facts.asOf,
      high52: year.findLast(({ high }) => high === high52)?.date ?? null,
      low52: year.findLast(({ low }) => low === low52)?.date ?? null,
      split: null,
      period: facts.company.fundamentals.value?.report?.reportDate ?? null,
    },
    closes: bars.map(({ close }) => close),
    ...recentSeries(facts),
    isSuspended: facts.consistency.findings.some(({ detail }) => detail === 'suspended'),
    ...sessionOf(facts),
    boards: facts.company.boards.value ?? [],
    split: null,
    advice: decision.type === 'hold' ? 'wait' : decision.type,
    isStrong: decision.advice.startsWith('strong'),
    trend: trendOf(facts),
    confidence: decision.confidence,
    headlines: (news?.items ?? []).map(({ title, source, publishedAt }) => {
      return { title, source, date: publishedAt?.slice(0, 10) ?? null }
    }),
    names: [facts.displayName, names.zh, names.en, instrument.code, instrument.key].filter(
      (name): name is string => typeof name === 'string' && name !== '',
    ),
  }
}

function sessionOf({ phase, provenance, partial }: Judged): Pick<KnownFacts, 'isOpen' | 'isTradingDay' | 'isPartial'> {
  const isTold = provenance === null && phase.phase !== 'lunch_break'
  return {
    isOpen: isTold ? phase.is_market_open_now : null,
    isTradingDay: provenance === null ? phase.is_trading_day : null,
    isPartial: partial,
  }
}

const YEAR_MS = 364 * 86_400_000
const yearBefore = (date: string) => new Date(Date.parse(date) - YEAR_MS).toISOString().slice(0, 10)

function trendOf({ technical }: Judged): KnownFacts['trend'] {
  const trend = technical?.trend ?? 'consolidation'
  if (trend === 'bull' || trend === 'strong_bull') return 'bull'
  return trend === 'bear' || trend === 'strong_bear' ? 'bear' : 'other'
}

const yearOf = ({ technical }: Judged) => ({
  high52: technical?.yearRange?.high ?? null,
  low52: technical?.yearRange?.low ?? null,
})

const share = (value: number | null | undefined, of: number | null | undefined) =>
  value == null || of == null || of === 0 ? null : (value / of - 1) * 100

function valuesOf(facts: Judged): Record<FactName, number | null> {
  const { price, changePct, bars, decision, today, yesterday } = facts
  const { high52, low52 } = yearOf(facts)
  const below = share(price, high52)
  const before = (sessions: number) => share(price, bars.at(-1 - sessions)?.close)
  // A quote without a trade belongs to no session of the bars.
  const quote = facts.quote && isWithoutTrade(facts.quote) ? null : facts.quote
  const priceBefore = quote?.prevClose ?? yesterday?.close ?? null
  const [high, low] = [quote?.high ?? today?.high ?? null, quote?.low ?? today?.low ?? null]
  return {
    ...indicatorValues(facts),
    ...companyValues(facts),
    ...scoreValues(facts),
    ...chipValues(facts),
    ...flowValues(facts),
    ...levelValues(facts),
    ...{ price, changePct, prevClose: priceBefore, high, low, open: quote?.open ?? today?.open ?? null },
    change: price === null || priceBefore === null ? null : price - priceBefore,
    amplitudePct: high === null || low === null || !priceBefore ? null : ((high - low) / priceBefore) * 100,
    ...{ high52, low52, position52Pct: facts.technical?.yearRange?.positionPct ?? null },
    belowHigh52Pct: below === null ? null : -below,
    aboveLow52Pct: share(price, low52),
    ...{ change5Pct: before(5), change20Pct: before(20), change60Pct: before(60) },
    volume: quote?.volume ?? today?.volume ?? null,
    // A part of a day is not compared with a whole one.
    volumeVsPrevious:
      !facts.partial && today && yesterday && yesterday.volume > 0 ? today.volume / yesterday.volume : null,
    score: decision.score,
  }
}

type Group<Name extends FactName> = Record<Name, number | null>

function indicatorValues({ technical }: Judged) {
  const row = technical?.indicators
  const at = (name: keyof NonNullable<typeof row>) => row?.[name] ?? null
  return {
    ...{ ma5: at('ma5'), ma10: at('ma10'), ma20: at('ma20'), ma60: at('ma60'), ma120: at('ma120'), ma250: at('ma250') },
    ...{ bias5: at('bias5'), bias10: at('bias10'), bias20: at('bias20') },
    ...{ rsi6: at('rsi6'), rsi12: at('rsi12'), rsi24: at('rsi24'), k: at('k'), d: at('d'), j: at('j') },
    ...{ dif: at('dif'), dea: at('dea'), histogram: at('histogram'), atr: at('atr') },
    ...{ bollUpper: at('bollUpper'), bollMiddle: at('bollMiddle'), bollLower: at('bollLower') },
    volumeRatio: at('volumeRatio'),
    ...{ change250Pct: at('return250'), volatility60Pct: at('volatility60') },
    ...{ drawdown250Pct: at('maxDrawdown250'), turnover20: at('turnover20') },
  }
}

function companyValues({ value, quote, company, dividends }: Judged) {
  const report = company.fundamentals.value?.report
  return {
    ...{ pe: value?.peRatio ?? null, pb: value?.pbRatio ?? null, marketCap: value?.totalMarketValue ?? null },
    ...{ amount: quote?.amount ?? null, turnoverRatePct: quote?.turnoverRatePct ?? null },
    ...{ roePct: report?.roePct ?? null, revenueGrowthPct: report?.revenueYoyPct ?? null },
    ...{ profitGrowthPct: report?.netProfitYoyPct ?? null, dividendYieldPct: dividends?.yieldPct ?? null },
    ...{ eps: null, debtRatioPct: null },
    ...{ revenue: report?.revenue ?? null, netProfit: report?.netProfitParent ?? null },
    ...{ operatingCashFlow: report?.operatingCashFlow ?? null, grossMarginPct: report?.grossMarginPct ?? null },
  }
}

function scoreValues({ technical }: Judged) {
  const points = (key: ScorePartKey) => technical?.score.parts.find((part) => part.key === key)?.points ?? null
  return {
    ...{ scoreTrend: points('trend'), scoreBias: points('bias'), scoreVolume: points('volume') },
    ...{ scoreSupport: points('support'), scoreMacd: points('macd'), scoreRsi: points('rsi') },
  }
}

function chipValues({ chips }: Judged) {
  return {
    chipProfitPct: chips && chips.profitRatio * 100,
    ...{ chipCost: chips?.averageCost ?? null, chipLow90: chips?.cost90.low ?? null },
    ...{ chipHigh90: chips?.cost90.high ?? null, chipConcentration90Pct: chips && chips.cost90.concentration * 100 },
  }
}

function flowValues({ flow }: Judged) {
  const out = (sum: number | null) => sum && -sum
  return {
    ...{ flowToday: flow.today, flow5: flow.days5, flow10: flow.days10 },
    ...{ outflowToday: out(flow.today), outflow5: out(flow.days5), outflow10: out(flow.days10) },
  }
}

function levelValues({
  levels,
  nearby,
  plan,
}: Judged): Group<
  'support' | 'resistance' | 'stop' | 'idealBuy' | 'secondaryBuy' | 'target1' | 'target2' | 'rewardRisk'
> {
  const [entry, stop, target] = [levels.idealBuy?.price, levels.stopLoss?.price, levels.takeProfit?.price]
  return {
    support: nearby?.supports[0]?.price ?? null,
    resistance: nearby?.resistances[0]?.price ?? null,
    stop: stop ?? null,
    idealBuy: entry ?? null,
    secondaryBuy: levels.secondaryBuy?.price ?? null,
    target1: target ?? null,
    target2: null,
    // The ratio in the report: after costs, and of the shown plan.
    rewardRisk: entry === undefined ? null : (plan?.ratio ?? null),
  }
}
