// The risks of the holdings, and their past performance.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { bringUpToDate } from '../../../alerts/signals.ts'
import { marketDataOf } from '../../../analysis/market-data.ts'
import { currentSignals } from '../../../db/signals.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { type Amount, numberOf } from '../../../lib/decimal.ts'
import { benchmarkOfMarket } from '../../../market/benchmarks.ts'
import { type Market, parseCode } from '../../../market/instruments.ts'
import { type Holding, keyOf, replay } from '../../../portfolio/ledger.ts'
import { type Closes, closeAt, closesOf, indexReturn } from '../../../portfolio/prices.ts'
import { daysBefore, rateFinder } from '../../../portfolio/rates.ts'
import { type DayValue, drawdown, growth, moneyWeighted, timeWeighted } from '../../../portfolio/returns.ts'
import {
  correlations,
  dailyValues,
  LEAST_RETURNS,
  type Loss,
  lossesOf,
  shareOf,
  THRESHOLDS,
  type Weights,
  weightsOf,
} from '../../../portfolio/risk.ts'
import { sectorsOf } from '../../../portfolio/sectors.ts'
import { converted } from '../../../portfolio/valuation.ts'
import { signalItem } from '../page/signal-schemas.ts'
import { MARKETS } from './accounts.ts'
import { MAX_SIGNALS, PortfolioRisk } from './risk-schemas.ts'
import { BASE, missing, reads, refused } from './shapes.ts'
import { referenceFor, VALUED_QUERY, type Valued, valued } from './valued.ts'

const app = router(analysisEnvelope)

const MAX_WEIGHTS = 10
const MAX_LOSSES = 20
/** The source of industries answers one request per second. */
const MAX_SECTORED = 30
/** Together with the prices before it and the index after it, an answer takes at most about 22 s. */
const PATIENCE_MS = 6_000
const INDEX_PATIENCE_MS = 4_000

endpoint(
  app,
  {
    ...reads,
    path: `${BASE}/risk`,
    summary: 'Concentration, falls from a high, returns, and losses against the cost',
    query: VALUED_QUERY.extend({
      benchmark: z
        .enum(MARKETS)
        .optional()
        .describe('Whose index is put beside the return; by default that of the accounts'),
    }),
    replies: { 200: { description: 'The day', schema: PortfolioRisk }, ...refused, ...missing },
  },
  async (c, { query }) => {
    const day = await valued(c, query)
    const weighed = weighedOf(day)
    const concentration = concentrationOf(weighed)
    const [history, sectors, advised] = await Promise.all([
      historyOf(c, day),
      sectorsShown(c, weighed),
      advisedOf(c, day),
    ])
    const market = query.benchmark ?? marketOf(day, weighed.weights[0]?.symbol)
    const performance = await performanceOf(c, { history, market })
    return c.json({
      as_of: day.asOf,
      account_id: query.account_id ?? null,
      cost_method: query.cost_method,
      currency: day.currency,
      thresholds: { ...THRESHOLDS },
      concentration,
      sector_concentration: sectors,
      drawdown: fallsOf(day, history),
      performance,
      correlation: correlationOf(day, weighed),
      stop_loss: stopLossOf(day),
      decision_signal_risk: advised,
    } satisfies z.infer<typeof PortfolioRisk>)
  },
)

function weighedOf({ values, currency, view }: Valued): Weights {
  const convert = (amount: Amount, from: string) => {
    const rate = from === currency ? null : view.rate(from, currency)
    if (from === currency) return amount
    return rate === null ? null : converted(amount, rate)
  }
  const accounts = values.map(({ value }) => value)
  return weightsOf(accounts, convert)
}

const isOver = (weightPct: number): boolean => weightPct > THRESHOLDS.concentration_alert_pct
const numberOrNull = (amount: Amount | null): number | null => (amount === null ? null : numberOf(amount))

function concentrationOf({ total, weights, unvalued }: Weights) {
  const positions = weights.flatMap(({ symbol, value, weightPct }) => {
    if (weightPct === null) return []
    return [{ symbol, market_value_base: numberOf(value), weight_pct: weightPct, is_alert: isOver(weightPct) }]
  })
  return {
    total_market_value: numberOrNull(total),
    top_weight_pct: positions[0]?.weight_pct ?? null,
    alert: positions.some(({ is_alert }) => is_alert),
    top_positions: positions.slice(0, MAX_WEIGHTS),
    unvalued,
  }
}

/** A holding without an industry causes no alert; `coverage` counts it. */
async function sectorsShown(c: Context<AppEnv>, { total, weights }: Weights) {
  const asked = weights.slice(0, MAX_SECTORED).map(({ symbol }) => symbol)
  const told = await sectorsOf(await marketDataOf(c.env), asked, AbortSignal.timeout(PATIENCE_MS))
  const sums = new Map<string, { value: Amount; count: number }>()
  let [classified, failed] = [0, 0]
  for (const { symbol, value } of weights) {
    const sector = told.get(symbol)
    if (sector?.kind === 'failed') failed += 1
    if (sector?.kind !== 'sector') continue
    classified += 1
    const sum = sums.get(sector.name) ?? { value: 0n, count: 0 }
    sums.set(sector.name, { value: sum.value + value, count: sum.count + 1 })
  }
  const sectors = [...sums]
    .flatMap(([sector, { value, count }]) => {
      const weight = shareOf(value, total)
      if (weight === null) return []
      const sum = { market_value_base: numberOf(value), weight_pct: weight, symbol_count: count }
      return [{ sector, ...sum, is_alert: isOver(weight) }]
    })
    .sort((a, b) => b.weight_pct - a.weight_pct)
  return {
    total_market_value: numberOrNull(total),
    top_weight_pct: sectors[0]?.weight_pct ?? null,
    alert: sectors.some(({ is_alert }) => is_alert),
    top_sectors: sectors.slice(0, MAX_WEIGHTS),
    coverage: {
      classified_count: classified,
      unclassified_count: weights.length - classified - failed,
      failed_count: failed,
    },
    errors: [],
  }
}

function correlationOf({ asOf, closes }: Valued, { weights }: Weights) {
  const from = daysBefore(asOf, THRESHOLDS.lookback_days)
  const series = weights.slice(0, MAX_WEIGHTS).flatMap(({ symbol }) => {
    const own = [...closes].find(([key]) => key.split(':')[1] === symbol)?.[1]
    return own === undefined ? [] : [{ symbol, days: own.days.filter(({ date }) => date <= asOf) }]
  })
  return { minimum_days: LEAST_RETURNS, from, pairs: correlations(series, from) }
}

const percent = (share: number | null | undefined): number | null =>
  share === null || share === undefined ? null : share * 100

function fallsOf({ total }: Valued, history: DayValue[] | null) {
  const falls = history === null ? null : drawdown(growth(history))
  return {
    series_points: history?.length ?? 0,
    max_drawdown_pct: percent(falls?.deepest),
    current_drawdown_pct: percent(falls?.current),
    alert: falls !== null && falls.deepest * 100 > THRESHOLDS.drawdown_alert_pct,
    fx_stale: total.missingRates.length > 0,
  }
}

/** The market of the accounts; if they differ, that of the largest position. */
function marketOf({ values }: Valued, largest: string | undefined): Market {
  const [first, ...others] = new Set(values.map(({ account }) => account.market))
  const parsed = parseCode(largest ?? '')
  const isOne = first !== undefined && others.length === 0
  return isOne || !parsed.ok ? (MARKETS.find((market) => market === first) ?? 'cn') : parsed.instrument.market
}

async function performanceOf(c: Context<AppEnv>, { history, market }: { history: DayValue[] | null; market: Market }) {
  const chain = history === null ? [] : growth(history)
  const [begin, end] = [chain[0], chain.at(-1)]
  const isMeasured = begin !== undefined && end !== undefined && begin !== end
  const benchmark = benchmarkOfMarket(market)
  const signal = AbortSignal.timeout(INDEX_PATIENCE_MS)
  const moved = isMeasured
    ? await indexReturn(await marketDataOf(c.env), benchmark, { from: begin.date, to: end.date, signal })
    : null
  const own = history === null ? null : timeWeighted(history)
  return {
    from: history?.[0]?.date ?? null,
    to: history?.at(-1)?.date ?? null,
    time_weighted_pct: percent(own),
    money_weighted_pct: percent(history === null ? null : moneyWeighted(history)),
    benchmark: {
      symbol: benchmark.index.key,
      name: benchmark.names[callerLanguage(c)],
      market,
      publisher: benchmark.publisher,
      provider: moved?.provider ?? null,
      from: moved?.from ?? null,
      to: moved?.to ?? null,
      return_pct: percent(moved?.share),
      excess_pct: moved === null || own === null ? null : percent(own - moved.share),
    },
  }
}

const WARNING = ['sell', 'reduce', 'alert'] as const

/** The newest valid advice for each held stock, if it is a warning. */
async function advisedOf(c: Context<AppEnv>, { values, now }: Valued) {
  const { owner } = c.var.principal
  const holders = new Map<string, Set<number>>()
  for (const { account, value } of values) {
    for (const { holding } of value.positions) {
      holders.set(holding.symbol, (holders.get(holding.symbol) ?? new Set()).add(account.id))
    }
  }
  await bringUpToDate(c.env.DB, owner, now)
  const current = await currentSignals(c.env.DB, owner, [...holders.keys()])
  const warnings = current.filter(({ action }) => WARNING.some((one) => one === action))
  const count = (wanted: string) => warnings.filter(({ action }) => action === wanted).length
  return {
    available: true,
    total: warnings.length,
    actions: { sell: count('sell'), reduce: count('reduce'), alert: count('alert') },
    items: warnings.slice(0, MAX_SIGNALS).map((signal) => {
      const [account, ...others] = holders.get(signal.key) ?? []
      return {
        account_id: account === undefined || others.length > 0 ? null : account,
        symbol: signal.key,
        market: signal.market,
        signal: signalItem(signal),
      }
    }),
  }
}

function stopLossOf({ values }: Valued) {
  const near = THRESHOLDS.stop_loss_alert_pct * THRESHOLDS.stop_loss_near_ratio
  const losses = values
    .flatMap(({ account, value }) => lossesOf(value).map((loss): [number, Loss] => [account.id, loss]))
    .sort(([, a], [, b]) => b.lossPct - a.lossPct)
  return {
    near_alert: losses.length > 0,
    triggered_count: losses.filter(([, { isTriggered }]) => isTriggered).length,
    near_count: losses.length,
    items: losses.slice(0, MAX_LOSSES).map(([id, loss]) => ({
      account_id: id,
      symbol: loss.symbol,
      avg_cost: numberOf(loss.averageCost),
      last_price: numberOf(loss.price),
      loss_pct: loss.lossPct,
      near_threshold_pct: near,
      is_triggered: loss.isTriggered,
    })),
  }
}

/** The days of the period, from the first booking; null if prices or rates are missing on one of them. */
async function historyOf(c: Context<AppEnv>, day: Valued): Promise<DayValue[] | null> {
  const { asOf, now, currency, values, rates } = day
  const start = daysBefore(asOf, THRESHOLDS.lookback_days)
  const events = values.flatMap((one) => one.events)
  const first = events.map(({ date }) => date).sort()[0]
  if (first === undefined || first > asOf) return null
  const closes = await closesSince(c, day, start)
  const sessions = [...closes.values()].flatMap(({ days }) => days.map(({ date }) => date))
  const begin = first > start ? first : start
  const days = [...new Set([...sessions, asOf])].filter((date) => date >= begin && date <= asOf).sort()
  const accounts = values.map(({ account, events: own }) => ({ currency: account.baseCurrency, events: own }))
  const reference = await referenceFor(c, start, asOf)
  const viewOn = (date: string) => ({
    price: (holding: Holding) => {
      const series = closes.get(keyOf(holding))
      return series === undefined ? null : closeAt(series, date, now)
    },
    rate: rateFinder(rates, date, reference),
  })
  return dailyValues(accounts, { days, currency, method: 'fifo', viewOn })
}

/** Includes listings that were sold since then. */
async function closesSince(c: Context<AppEnv>, day: Valued, start: string): Promise<Map<string, Closes>> {
  const needed = new Map<string, Holding>()
  for (const { events } of day.values) {
    for (const [key, { quantity, holding }] of replay(events, 'fifo', start).positions) {
      if (quantity.n > 0n) needed.set(key, holding)
    }
    for (const event of events) {
      const { symbol, market, currency } = event.kind === 'trade' ? event : { symbol: '', market: '', currency: '' }
      if (symbol !== '' && event.date >= start && event.date <= day.asOf) {
        needed.set(keyOf({ symbol, market, currency }), { symbol, market, currency })
      }
    }
  }
  const missing = [...needed].filter(([key]) => !day.closes.has(key)).map(([, holding]) => holding)
  if (missing.length === 0) return day.closes
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const more = await closesOf(await marketDataOf(c.env), { holdings: missing, now: day.now, signal })
  return new Map([...day.closes, ...more])
}

export { app as portfolioRisk }
