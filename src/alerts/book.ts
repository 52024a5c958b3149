// What alert rules find in an owner's portfolio at the closes of the last sessions: losses, weights, drawdowns, missing
// prices.

import { accountEvents, bookOf, listAccounts, ownRates } from '../db/portfolio.ts'
import { referenceDays } from '../db/reference-rates.ts'
import { type Amount, exact, rounded, times } from '../lib/decimal.ts'
import { lastCompletedSession, sessionEnd } from '../market/calendar.ts'
import type { Market } from '../market/instruments.ts'
import type { MarketData } from '../market/providers/index.ts'
import { type Holding, keyOf, type Ledger, replay } from '../portfolio/ledger.ts'
import { type Closes, closeAt, closesOf } from '../portfolio/prices.ts'
import { daysBefore, LASTS_DAYS, type ReferenceDay, rateFinder } from '../portfolio/rates.ts'
import { ECB } from '../portfolio/reference-rates.ts'
import { drawdown, growth } from '../portfolio/returns.ts'
import { dailyValues, lossesOf, THRESHOLDS, weightsOf } from '../portfolio/risk.ts'
import { type AccountValue, accountValue, type MarketView } from '../portfolio/valuation.ts'
import type { Findings, Rule } from './rule.ts'
import { accountOf } from './targets.ts'

export type BookDeps = { db: D1Database; market: Pick<MarketData, 'bars'>; signal: AbortSignal; now: number }

const MARKETS: readonly Market[] = ['cn', 'hk', 'us', 'jp', 'kr', 'tw']
const HOUR_MS = 3_600_000

/** The sessions and the book's version that a check is based on: while they stay the same, nothing can have changed. */
export async function bookGate(db: D1Database, owner: string, now: number): Promise<string> {
  const sessions = MARKETS.map((market) => lastCompletedSession(market, now)).join(' ')
  return `${(await bookOf(db, owner)).version} ${sessions}`
}

/** Prices that arrive late are requested again within the hour. */
export const gateWithin = (gate: string, now: number): string => `${gate} ${Math.floor(now / HOUR_MS)}`

type Valued = {
  accounts: {
    id: number
    name: string
    currency: string
    events: Awaited<ReturnType<typeof accountEvents>>
    value: AccountValue
  }[]
  closes: Map<string, Closes>
  view: MarketView
  rates: Awaited<ReturnType<typeof ownRates>>
  /** The reference rates of all days that the check uses. */
  reference: ReferenceDay[]
  asOf: string
  /** The end of the newest session of all markets, epoch ms. */
  at: number
}

export async function lookAtBook(deps: BookDeps, rule: Rule, findings: Findings): Promise<void> {
  const { row, type } = rule
  const day = await valued(deps, row.owner, accountOf(row.target))
  const positions = day.accounts.flatMap(({ value }) => value.positions)
  if (positions.length === 0) return findings.doubt('no_targets', row.target)
  for (const { holding, price } of positions) if (price === null) findings.doubt('no_price', holding.symbol)
  if (type === 'portfolio_stop_loss') losses(rule, day, findings)
  else if (type === 'portfolio_concentration') weights(day, findings)
  else if (type === 'portfolio_drawdown') await falls(deps, rule, day, findings)
  else stalePrices(day, findings)
}

async function valued({ db, market, signal, now }: BookDeps, owner: string, account: number | null): Promise<Valued> {
  const all = await listAccounts(db, owner)
  const chosen = all.filter(({ id, isActive }) => (account === null ? isActive : id === account))
  const events = await accountEvents(db, owner, account)
  // The earliest day among the markets.
  const asOf =
    MARKETS.map((one) => lastCompletedSession(one, now))
      .sort()
      .at(-1) ?? ''
  const replayed = chosen.map(({ id, name, baseCurrency }) => {
    const own = events.filter((event) => event.account === id)
    return { id, name, currency: baseCurrency, events: own, ledger: replay(own, 'fifo', asOf) }
  })
  const closes = await closesOf(market as MarketData, { holdings: heldIn(replayed), now, signal })
  const rates = await ownRates(db, owner)
  const from = daysBefore(asOf, THRESHOLDS.lookback_days + LASTS_DAYS)
  const reference = await referenceDays(db, { source: ECB, from, to: asOf })
  const view: MarketView = {
    price: (holding) => {
      const series = closes.get(keyOf(holding))
      // Sample prices are not real, so they cause no loss.
      return series === undefined || series.notice !== null ? null : closeAt(series, asOf, now)
    },
    rate: rateFinder(rates, asOf, reference),
  }
  const accounts = replayed.map(({ ledger, ...rest }) => ({
    ...rest,
    value: accountValue(ledger, rest.currency, view),
  }))
  const ends = MARKETS.map((one) => sessionEnd(one, lastCompletedSession(one, now)))
  return { accounts, closes, view, rates, reference, asOf, at: Math.max(...ends) }
}

function heldIn(replayed: readonly { ledger: Ledger }[]): Holding[] {
  const held = new Map<string, Holding>()
  for (const { ledger } of replayed) {
    for (const [key, { quantity, holding }] of ledger.positions) if (quantity.n > 0n) held.set(key, holding)
  }
  return [...held.values()]
}

function losses({ parameters }: Rule, { accounts, at }: Valued, findings: Findings): void {
  const near = THRESHOLDS.stop_loss_alert_pct * THRESHOLDS.stop_loss_near_ratio
  const isBreach = parameters.mode === 'breach'
  const threshold = isBreach ? THRESHOLDS.stop_loss_alert_pct : near
  for (const { id, name, value } of accounts) {
    const found = new Map(lossesOf(value).map((loss) => [loss.symbol, loss]))
    for (const { holding, price } of value.positions) {
      if (price === null) continue
      findings.evaluated += 1
      const loss = found.get(holding.symbol)
      const isBeyond = loss !== undefined && (loss.isTriggered || !isBreach)
      const slot = `${id}:${holding.symbol}`
      const reading = { slot, target: holding.symbol, at, value: loss?.lossPct ?? 0, threshold, session: null }
      findings.readings.push({ ...reading, side: isBeyond ? 1 : -1 })
      findings.facts.set(slot, { account: name, session: price.date, source: price.provider })
    }
  }
}

const converter = (view: MarketView, currency: string) => (amount: Amount, from: string) => {
  const rate = from === currency ? null : view.rate(from, currency)
  if (from === currency) return amount
  return rate === null ? null : rounded(times(exact(amount), rate.rate))
}

const DEFAULT_CURRENCY = 'CNY'

function currencyOf(accounts: Valued['accounts']): string {
  const [first, ...others] = new Set(accounts.map(({ currency }) => currency))
  return first !== undefined && others.length === 0 ? first : DEFAULT_CURRENCY
}

/** If a part of the book has no value, no weights are computed. */
function weights({ accounts, view, at }: Valued, findings: Findings): void {
  const convert = converter(view, currencyOf(accounts))
  const values = accounts.map(({ value }) => value)
  const known = weightsOf(values, convert)
  const unpriced = new Set(
    values.flatMap(({ positions }) =>
      positions.flatMap(({ holding, price }) => (price === null ? [holding.symbol] : [])),
    ),
  )
  for (const symbol of known.unvalued) if (!unpriced.has(symbol)) findings.doubt('no_rate', symbol)
  for (const { symbol, weightPct } of known.weights) {
    if (weightPct === null) continue
    const threshold = THRESHOLDS.concentration_alert_pct
    findings.evaluated += 1
    const reading = { slot: symbol, target: symbol, at, value: weightPct, threshold, session: null }
    findings.readings.push({ ...reading, side: weightPct > threshold ? 1 : -1 })
  }
}

async function falls({ market, signal, now }: BookDeps, { row }: Rule, day: Valued, findings: Findings): Promise<void> {
  const { accounts, asOf, rates, reference, at } = day
  const start = daysBefore(asOf, THRESHOLDS.lookback_days)
  const events = accounts.flatMap((one) => one.events)
  const traded = events.flatMap((event): Holding[] => {
    if (event.kind !== 'trade' || event.date < start) return []
    const { symbol, market: own, currency } = event
    return [{ symbol, market: own, currency }]
  })
  const before = accounts.map((one) => ({ ledger: replay(one.events, 'fifo', start) }))
  const missing = [...heldIn(before), ...traded].filter((holding) => !day.closes.has(keyOf(holding)))
  const more = missing.length === 0 ? [] : await closesOf(market as MarketData, { holdings: missing, now, signal })
  const closes = new Map([...day.closes, ...more])
  const first = events.map(({ date }) => date).sort()[0] ?? asOf
  const begin = first > start ? first : start
  const days = [...new Set([...closes.values()].flatMap((one) => one.days.map(({ date }) => date)))]
  const viewOn = (date: string): MarketView => ({
    price: (holding) => {
      const series = closes.get(keyOf(holding))
      return series === undefined || series.notice !== null ? null : closeAt(series, date, now)
    },
    rate: rateFinder(rates, date, reference),
  })
  const between = days.filter((date) => date >= begin && date <= asOf).sort()
  const own = accounts.map(({ currency, events: booked }) => ({ currency, events: booked }))
  const history = dailyValues(own, { days: between, currency: currencyOf(accounts), method: 'fifo', viewOn })
  const fall = history === null ? null : drawdown(growth(history))
  if (fall === null) return findings.doubt('no_history', row.target)
  findings.evaluated += 1
  const value = fall.deepest * 100
  const threshold = THRESHOLDS.drawdown_alert_pct
  const reading = { slot: row.target, target: row.target, at, value, threshold, session: null }
  findings.readings.push({ ...reading, side: value > threshold ? 1 : -1 })
}

/** Here the missing price itself is the finding. */
function stalePrices({ accounts, closes, at }: Valued, findings: Findings): void {
  findings.doubts.delete('no_price')
  for (const { id, name, value } of accounts) {
    for (const { holding, price } of value.positions) {
      const notice = closes.get(keyOf(holding))?.notice ?? null
      if (notice !== null) {
        findings.doubt('sample', holding.symbol)
        continue
      }
      const slot = `${id}:${holding.symbol}`
      findings.evaluated += 1
      const isBeyond = price === null || price.isStale
      const reading = { slot, target: holding.symbol, at, value: isBeyond ? 1 : 0, threshold: 1, session: null }
      findings.readings.push({ ...reading, side: isBeyond ? 1 : -1 })
      findings.facts.set(slot, { account: name, ...(price === null ? {} : { session: price.date }) })
    }
  }
}
