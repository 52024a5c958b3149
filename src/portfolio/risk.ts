// Risks of the holdings: concentration, drawdowns, losses compared with the cost.

import { type Amount, exact, numberOf, ratio } from '../lib/decimal.ts'
import { type CostMethod, inOrder, Ledger, type LedgerEvent } from './ledger.ts'
import type { DayValue } from './returns.ts'
import { type AccountValue, accountValue, type MarketView, totalOf } from './valuation.ts'

/** In per cent, except the fraction of the limit from which a loss is near it. */
export const THRESHOLDS = {
  concentration_alert_pct: 35,
  drawdown_alert_pct: 15,
  stop_loss_alert_pct: 10,
  stop_loss_near_ratio: 0.8,
  lookback_days: 180,
} as const

export type Weight = { symbol: string; value: Amount; weightPct: number | null }
export type Weights = {
  /** Of all positions; null when one has no price or no rate: then no weight is known. */
  total: Amount | null
  /** Positions with a value, the largest first, one row for each code over all accounts. */
  weights: Weight[]
  /** The codes of positions without a value. */
  unvalued: string[]
}

export function weightsOf(
  accounts: readonly AccountValue[],
  convert: (amount: Amount, from: string) => Amount | null,
): Weights {
  const bySymbol = new Map<string, Amount>()
  const unvalued = new Set<string>()
  for (const { positions, currency } of accounts) {
    for (const { holding, marketValueBase } of positions) {
      const value = marketValueBase === null ? null : convert(marketValueBase, currency)
      if (value === null) unvalued.add(holding.symbol)
      else if (value > 0n) bySymbol.set(holding.symbol, (bySymbol.get(holding.symbol) ?? 0n) + value)
    }
  }
  const sum = [...bySymbol.values()].reduce((before, value) => before + value, 0n)
  const total = unvalued.size === 0 ? sum : null
  const weights = [...bySymbol].map(([symbol, value]): Weight => ({ symbol, value, weightPct: shareOf(value, total) }))
  const byValue = (a: Weight, b: Weight) =>
    a.value === b.value ? (a.symbol < b.symbol ? -1 : 1) : a.value > b.value ? -1 : 1
  return { total, weights: weights.sort(byValue), unvalued: [...unvalued].sort() }
}

/** In per cent; null when the total is unknown. */
export const shareOf = (value: Amount, total: Amount | null): number | null =>
  total === null ? null : numberOf(ratio(exact(value * 100n), exact(total)) ?? 0n)

export type Loss = { symbol: string; averageCost: Amount; price: Amount; lossPct: number; isTriggered: boolean }

/** Positions whose loss is near the limit or beyond it, the largest loss first. Without a price there is no loss. */
export function lossesOf({ positions }: AccountValue): Loss[] {
  const near = THRESHOLDS.stop_loss_alert_pct * THRESHOLDS.stop_loss_near_ratio
  return positions
    .flatMap(({ holding, averageCost, price, unrealizedPct }) => {
      if (price === null || unrealizedPct === null) return []
      const lossPct = Math.max(0, -numberOf(unrealizedPct))
      const isTriggered = lossPct >= THRESHOLDS.stop_loss_alert_pct
      return lossPct < near ? [] : [{ symbol: holding.symbol, averageCost, price: price.price, lossPct, isTriggered }]
    })
    .sort((a, b) => b.lossPct - a.lossPct)
}

type Series = readonly { date: string; close: Amount }[]
export type Correlation = { a: string; b: string; days: number; correlation: number | null }

/** Fewer daily returns of two stocks say nothing about their correlation. */
export const LEAST_RETURNS = 30

/** For each pair of series: Pearson's coefficient of their daily returns, from one day that both have to the next one. */
export function correlations(series: readonly { symbol: string; days: Series }[], from: string): Correlation[] {
  const closes = series.map(({ days }) => {
    return new Map(days.flatMap(({ date, close }) => (date >= from ? [[date, numberOf(close)] as const] : [])))
  })
  return series.flatMap(({ symbol: a }, i) => {
    return series.slice(i + 1).map(({ symbol: b }, j): Correlation => {
      const [first = new Map<string, number>(), second = new Map<string, number>()] = [closes[i], closes[i + 1 + j]]
      const shared = [...first.keys()].filter((date) => second.has(date)).sort()
      const returns = (of: Map<string, number>) =>
        shared.slice(1).map((date, k) => (of.get(date) ?? 0) / (of.get(shared[k] ?? '') ?? 1) - 1)
      const days = Math.max(0, shared.length - 1)
      return { a, b, days, correlation: days < LEAST_RETURNS ? null : pearson(returns(first), returns(second)) }
    })
  })
}

/** Null when one of them never moves. */
function pearson(a: readonly number[], b: readonly number[]): number | null {
  const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / of.length
  const [middleA, middleB] = [mean(a), mean(b)]
  let [both, ofA, ofB] = [0, 0, 0]
  for (const [i, value] of a.entries()) {
    const [left, right] = [value - middleA, (b[i] ?? 0) - middleB]
    both += left * right
    ofA += left * left
    ofB += right * right
  }
  if (ofA === 0 || ofB === 0) return null
  return Math.max(-1, Math.min(1, both / Math.sqrt(ofA * ofB)))
}

export type AccountHistory = { currency: string; events: readonly LedgerEvent[] }

type Days = {
  /** In order; the last one is the end. */
  days: readonly string[]
  currency: string
  method: CostMethod
  /** The prices and rates that were known on a day. */
  viewOn: (day: string) => MarketView
}

/**
 * The value of all accounts at the end of each day, and the deposits and withdrawals since the day before. Null when a
 * rate, or the price of a holding, is missing on a day: an incomplete value would look like a gain or a loss.
 */
export function dailyValues(
  accounts: readonly AccountHistory[],
  { days, currency, method, viewOn }: Days,
): DayValue[] | null {
  const running = accounts.map(({ events, currency: own }) => ({
    own,
    left: inOrder(events),
    next: 0,
    ledger: new Ledger(method),
  }))
  const values: DayValue[] = []
  for (const date of days) {
    const view = viewOn(date)
    let flow = 0
    for (const account of running) {
      for (
        let event = account.left[account.next];
        event !== undefined && event.date <= date;
        event = account.left[account.next]
      ) {
        account.ledger.apply(event)
        account.next += 1
        if (event.kind !== 'cash') continue
        const rate = event.currency === currency ? 1 : rateNumber(view, event.currency, currency)
        if (rate === null) return null
        flow += numberOf(event.amount) * rate * (event.direction === 'in' ? 1 : -1)
      }
    }
    const worth = running.map(({ ledger, own }) => accountValue(ledger, own, view))
    const { totals } = totalOf(worth, currency, view)
    if (totals.equity === null || worth.some(({ unpriced }) => unpriced.length > 0)) return null
    values.push({ date, value: numberOf(totals.equity), flow })
  }
  return values
}

function rateNumber(view: MarketView, from: string, to: string): number | null {
  const rate = view.rate(from, to)
  return rate === null ? null : numberOf(rate.rate)
}
