// What the data say of a stock, as the checker of claims asks for it: figures under one name each, and what can be decided
// without a figure. Null is what the data do not tell.

export const SIGNED = [
  ...['change', 'changePct', 'change5Pct', 'change20Pct', 'change60Pct', 'change250Pct', 'bias5', 'bias10', 'bias20'],
  ...['revenueGrowthPct', 'profitGrowthPct'],
] as const

/** price: of one share, in the listing's money. money: an amount of it. */
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
  // Net money of the main players; what flows out is what does not flow in.
  ...{ flowToday: 'money', flow5: 'money', flow10: 'money' },
  ...{ outflowToday: 'money', outflow5: 'money', outflow10: 'money' },
} as const satisfies Record<string, Unit>

export type FactName = keyof typeof UNITS

/** The most points of each part of the score. */
export const FULL_MARKS: Readonly<Partial<Record<FactName, number>>> = {
  ...{ scoreTrend: 30, scoreBias: 20, scoreVolume: 15, scoreSupport: 10, scoreMacd: 15, scoreRsi: 10 },
}

/** Figures of the company's results, which may be in other money than its shares. */
const OF_RESULTS: ReadonlySet<FactName> = new Set(['revenue', 'netProfit', 'operatingCashFlow'])

/** What a price or an amount is counted in. */
export const moneyOf = (fact: FactName, { currency, resultsCurrency }: Known): string =>
  OF_RESULTS.has(fact) ? resultsCurrency : currency

export type Advice = 'buy' | 'sell' | 'wait'

/** What a claim comes to: true, false, or null for one that nothing decides. */
export type Finding = boolean | null

export type KnownHeadline = { readonly title: string; readonly source: string | null; readonly date: string | null }

export type Known = {
  readonly values: Readonly<Record<FactName, number | null>>
  readonly currency: string
  readonly resultsCurrency: string
  /** With how many of them reports show a price. */
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
  /** Of the moment of the report; null where that is a sample's, or between the sessions of a day. */
  readonly isOpen: boolean | null
  readonly isTradingDay: boolean | null
  /** The last bar is of a session that still runs: there is no close of that day yet. */
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
