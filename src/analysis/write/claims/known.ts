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
} as const satisfies Record<string, Unit>

export type FactName = keyof typeof UNITS

export type Advice = 'buy' | 'sell' | 'wait'

/** What a claim comes to: true, false, or null for one that nothing decides. */
export type Finding = boolean | null

export type KnownHeadline = { readonly title: string; readonly source: string | null; readonly date: string | null }

export type Known = {
  readonly values: Readonly<Record<FactName, number | null>>
  readonly currency: string
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
  readonly split: { readonly from: number; readonly to: number } | null
  readonly advice: Advice
  readonly isStrong: boolean
  readonly trend: 'bull' | 'bear' | 'other'
  readonly confidence: 'high' | 'medium' | 'low'
  readonly headlines: readonly KnownHeadline[]
  /** Names of the stock, and its code. */
  readonly names: readonly string[]
}
