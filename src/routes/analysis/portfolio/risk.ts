// What could go wrong with what is held, and how it has done.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { marketDataOf } from '../../../analysis/market-data.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { type Amount, exact, numberOf, rounded, times } from '../../../lib/decimal.ts'
import { type Holding, keyOf, replay } from '../../../portfolio/ledger.ts'
import { type Closes, closeAt, closesOf } from '../../../portfolio/prices.ts'
import { daysBefore, rateFinder } from '../../../portfolio/rates.ts'
import { type DayValue, drawdown, growth, moneyWeighted, timeWeighted } from '../../../portfolio/returns.ts'
import { dailyValues, type Loss, lossesOf, THRESHOLDS, type Weight, weightsOf } from '../../../portfolio/risk.ts'
import { VALUED_QUERY, type Valued, valued } from './valued.ts'

const app = router(analysisEnvelope)

const MAX_WEIGHTS = 10
const MAX_LOSSES = 20
const PATIENCE_MS = 8_000

const pct = (what: string) => z.number().nullable().describe(`${what}, in per cent; null where it is not known`)

const PortfolioRisk = z
  .object({
    as_of: z.string().describe('The day'),
    account_id: z.int().nullable().describe('The account, where one was asked for'),
    cost_method: z.enum(['fifo', 'avg']).describe('Which shares a sale takes'),
    currency: z.string().describe('Of the sums'),
    thresholds: z.record(z.string(), z.number()).describe('What alerts are measured by'),
    concentration: z
      .object({
        total_market_value: z.number().describe('Of what has a price and a rate'),
        top_weight_pct: pct('The share of the largest'),
        alert: z.boolean().describe('It is over the limit'),
        top_positions: z
          .array(
            z.object({
              symbol: z.string().describe('The code'),
              market_value_base: z.number().describe('Over all accounts'),
              weight_pct: z.number().describe('Its share'),
              is_alert: z.boolean().describe('Over the limit'),
            }),
          )
          .describe('The largest first'),
      })
      .describe('How much is in one stock'),
    sector_concentration: z
      .object({
        total_market_value: z.number().describe('As above'),
        top_weight_pct: pct('The share of the largest sector'),
        alert: z.boolean().describe('It is over the limit'),
        top_sectors: z
          .array(z.object({ sector: z.string().describe('Its name') }))
          .describe('Empty: sectors are not told yet'),
        coverage: z
          .object({
            classified_count: z.int().describe('Stocks with a sector'),
            unclassified_count: z.int().describe('Stocks without one'),
            failed_count: z.int().describe('Stocks whose sector could not be asked for'),
          })
          .describe('How much of it is known'),
        errors: z.array(z.string()).describe('What went wrong'),
      })
      .describe('How much is in one sector'),
    drawdown: z
      .object({
        series_points: z.int().describe('How many days it is made of'),
        max_drawdown_pct: pct('The deepest fall from a high, payments left out'),
        current_drawdown_pct: pct('The fall on the last day'),
        alert: z.boolean().describe('The deepest is over the limit'),
        fx_stale: z.boolean().describe('A rate is missing'),
      })
      .describe('Falls of the value over the days looked back'),
    performance: z
      .object({
        from: z.string().nullable().describe('The first day'),
        to: z.string().nullable().describe('The last day'),
        time_weighted_pct: pct('The return without the payments'),
        money_weighted_pct: pct('The yearly rate of the money (XIRR)'),
      })
      .describe('How it has done'),
    stop_loss: z
      .object({
        near_alert: z.boolean().describe('A loss is near the limit or beyond it'),
        triggered_count: z.int().describe('Beyond it'),
        near_count: z.int().describe('Near it or beyond it'),
        items: z
          .array(
            z.object({
              account_id: z.int().describe('The account'),
              symbol: z.string().describe('The code'),
              avg_cost: z.number().describe('Of one share'),
              last_price: z.number().describe('The last close'),
              loss_pct: z.number().describe('Against the cost'),
              near_threshold_pct: z.number().describe('From here on it is near'),
              is_triggered: z.boolean().describe('Beyond the limit'),
            }),
          )
          .describe('The largest first'),
      })
      .describe('Losses against the cost'),
    decision_signal_risk: z
      .object({
        available: z.boolean().describe('False: advice is not compared with holdings yet'),
        total: z.int().describe('How many'),
        actions: z
          .object({
            sell: z.int().describe('To sell'),
            reduce: z.int().describe('To reduce'),
            alert: z.int().describe('To look at'),
          })
          .describe('By what was advised'),
        items: z.array(z.object({ symbol: z.string().describe('The code') })).describe('The newest first'),
      })
      .describe('Advice against what is held'),
  })
  .openapi('PortfolioRisk')

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/portfolio/risk',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Portfolio',
    summary: 'Concentration, falls from a high, returns, and losses against the cost',
    query: VALUED_QUERY,
    replies: {
      200: { description: 'The day', schema: PortfolioRisk },
      400: { description: 'A currency that is none' },
      404: { description: 'No such account of yours' },
    },
  },
  async (c, { query }) => {
    const day = await valued(c, query)
    const history = await historyOf(c, day)
    const held = new Set(day.values.flatMap(({ value }) => value.positions.map(({ holding }) => holding.symbol)))
    const concentration = concentrationOf(day)
    return c.json({
      as_of: day.asOf,
      account_id: query.account_id ?? null,
      cost_method: query.cost_method,
      currency: day.currency,
      thresholds: { ...THRESHOLDS },
      concentration,
      sector_concentration: {
        total_market_value: concentration.total_market_value,
        top_weight_pct: null,
        alert: false,
        top_sectors: [],
        coverage: { classified_count: 0, unclassified_count: held.size, failed_count: 0 },
        errors: [],
      },
      ...fallsOf(day, history),
      stop_loss: stopLossOf(day),
      decision_signal_risk: { available: false, total: 0, actions: { sell: 0, reduce: 0, alert: 0 }, items: [] },
    } satisfies z.infer<typeof PortfolioRisk>)
  },
)

function concentrationOf({ values, currency, view }: Valued) {
  const convert = (amount: Amount, from: string) => {
    const rate = from === currency ? null : view.rate(from, currency)
    if (from === currency) return amount
    return rate === null ? null : rounded(times(exact(amount), rate.rate))
  }
  const accounts = values.map(({ value }) => value)
  const { total, weights } = weightsOf(accounts, convert)
  const isOver = ({ weightPct }: Weight) => weightPct > THRESHOLDS.concentration_alert_pct
  return {
    total_market_value: numberOf(total),
    top_weight_pct: weights[0]?.weightPct ?? null,
    alert: weights.some(isOver),
    top_positions: weights.slice(0, MAX_WEIGHTS).map((weight) => ({
      symbol: weight.symbol,
      market_value_base: numberOf(weight.value),
      weight_pct: weight.weightPct,
      is_alert: isOver(weight),
    })),
  }
}

function fallsOf({ total }: Valued, history: DayValue[] | null) {
  const falls = history === null ? null : drawdown(growth(history))
  const percent = (share: number | null | undefined) => (share === null || share === undefined ? null : share * 100)
  return {
    drawdown: {
      series_points: history?.length ?? 0,
      max_drawdown_pct: percent(falls?.deepest),
      current_drawdown_pct: percent(falls?.current),
      alert: falls !== null && falls.deepest * 100 > THRESHOLDS.drawdown_alert_pct,
      fx_stale: total.missingRates.length > 0,
    },
    performance: {
      from: history?.[0]?.date ?? null,
      to: history?.at(-1)?.date ?? null,
      time_weighted_pct: percent(history === null ? null : timeWeighted(history)),
      money_weighted_pct: percent(history === null ? null : moneyWeighted(history)),
    },
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

/** The days looked back, from the first booking on; null where prices or rates are missing on one of them. */
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
  const viewOn = (date: string) => ({
    price: (holding: Holding) => {
      const series = closes.get(keyOf(holding))
      return series === undefined ? null : closeAt(series, date, now)
    },
    rate: rateFinder(rates, date),
  })
  return dailyValues(accounts, { days, currency, method: 'fifo', viewOn })
}

/** Also of what was sold since then. */
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
