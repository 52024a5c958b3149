// The holdings and the value of the owner's accounts on a day.

import { z } from '@hono/zod-openapi'
import type { Account } from '../../../db/portfolio.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { type Amount, numberOf } from '../../../lib/decimal.ts'
import { laxBool } from '../../../lib/lax.ts'
import { keyOf } from '../../../portfolio/ledger.ts'
import type { Priced } from '../../../portfolio/prices.ts'
import { newestDue } from '../../../portfolio/reference-rates.ts'
import type { AccountValue, PositionValue } from '../../../portfolio/valuation.ts'
import { BASE, missing, reads, refused } from './shapes.ts'
import { VALUED_QUERY, valued } from './valued.ts'

const app = router(analysisEnvelope)

const money = (what: string) => z.number().nullable().describe(`${what}; null where a rate is missing`)

const totals = {
  currency: z.string().describe('Of the sums'),
  total_cash: money('Cash'),
  total_market_value: money('What is held and has a price'),
  total_equity: money('Both together'),
  realized_pnl: money('Profit of sales after fees and taxes'),
  unrealized_pnl: money('What is held and has a price, less its cost'),
  dividend_income: money('Dividends'),
  fee_total: money('Fees'),
  tax_total: money('Taxes'),
  fx_stale: z.boolean().describe('A rate is missing, or older than the newest that the day has'),
  data_quality: z.enum(['ok', 'partial']).describe('`partial`: `limitations` says what is missing'),
  limitations: z
    .array(z.string())
    .describe(
      '`price_missing`, `price_stale`, `fx_rate_missing`, `adjusted_prices`, `sample_prices`: what the sums lack',
    ),
  missing_rates: z.array(z.string()).describe('Such as `USD/CNY`'),
  unpriced_symbols: z.array(z.string()).describe('Held, without a price, and not in the sums'),
}

const PortfolioPosition = z
  .object({
    symbol: z.string().describe('The code'),
    market: z.string().describe('Where it is listed'),
    currency: z.string().describe('What it was dealt in'),
    quantity: z.number().describe('Shares'),
    avg_cost: z.number().describe('Of one share, fees and taxes of the purchase included'),
    total_cost: z.number().describe('Of all of them'),
    last_price: z.number().nullable().describe('The last close; null where no source has one'),
    market_value: z.number().nullable().describe('In the currency of the position'),
    unrealized_pnl: z.number().nullable().describe('In the currency of the position'),
    market_value_base: money('In the currency of the account'),
    unrealized_pnl_base: money('In the currency of the account'),
    unrealized_pnl_pct: z.number().nullable().describe('Per cent of the cost'),
    valuation_currency: z.string().describe('The currency of the account'),
    price_source: z.enum(['history_close', 'missing']).describe('Where the price is from'),
    price_provider: z.string().nullable().describe('The source'),
    price_date: z.string().nullable().describe('The session of the price'),
    price_stale: z.boolean().describe('Older than the last completed session of its market'),
    price_available: z.boolean().describe('Whether there is one'),
    price_notice: z.string().nullable().describe('To be shown beside prices of a bundled sample'),
    fx_rate: z.number().nullable().describe('Into the currency of the account'),
    fx_date: z.string().nullable().describe('The day of the rate'),
    fx_source: z
      .string()
      .nullable()
      .describe('`owner`: you gave it; `ECB`: a reference rate of the European Central Bank'),
    data_quality: z.enum(['ok', 'partial']).describe('Whether price and rate are known'),
    limitations: z.array(z.string()).describe('As above'),
  })
  .openapi('PortfolioPosition')

const PortfolioCashBalance = z
  .object({
    currency: z.string().describe('Of the balance'),
    amount: z.number().describe('What there is'),
    amount_base: money('In the currency of the account'),
  })
  .openapi('PortfolioCashBalance')

const PortfolioAccountValue = z
  .object({
    account_id: z.int().describe('The account'),
    account_name: z.string().describe('Its name'),
    broker: z.string().nullable().describe('Where it is kept'),
    market: z.string().describe('The market that it is mainly for'),
    base_currency: z.string().describe('The currency of its sums'),
    as_of: z.string().describe('The day'),
    cost_method: z.enum(['fifo', 'avg']).describe('Which shares a sale takes'),
    ...totals,
    cash: z.array(PortfolioCashBalance).describe('By currency'),
    positions: z.array(PortfolioPosition).describe('By code'),
  })
  .openapi('PortfolioAccountValue')

const PortfolioSnapshot = z
  .object({
    as_of: z.string().describe('The day'),
    cost_method: z.enum(['fifo', 'avg']).describe('Which shares a sale takes'),
    account_count: z.int().describe('How many accounts are in the sums'),
    ...totals,
    accounts: z.array(PortfolioAccountValue).describe('In the order of their making'),
  })
  .openapi('PortfolioSnapshot')

endpoint(
  app,
  {
    ...reads,
    path: `${BASE}/snapshot`,
    summary: 'What you hold and what it is worth, at the last close of each market',
    query: VALUED_QUERY.extend({
      include_realtime: laxBool().describe('Not read: a price is always that of a completed session').default(false),
    }),
    replies: { 200: { description: 'The day', schema: PortfolioSnapshot }, ...refused, ...missing },
  },
  async (c, { query }) => {
    const { asOf, values, prices, currency, total } = await valued(c, query)
    const unpriced = values.flatMap(({ value }) => value.unpriced)
    const shared = { as_of: asOf, cost_method: query.cost_method }
    return c.json({
      ...shared,
      account_count: values.length,
      ...totalsShown({ ...total, currency, unpriced }, { asOf, prices }),
      accounts: values.map(({ account, value }) => ({
        ...shared,
        ...accountShown(account),
        ...valueShown(value, { asOf, prices }),
      })),
    } satisfies z.infer<typeof PortfolioSnapshot>)
  },
)

const shownOrNull = (amount: Amount | null): number | null => (amount === null ? null : numberOf(amount))

type Summed = Pick<AccountValue, 'currency' | 'totals' | 'missingRates' | 'oldestRate' | 'unpriced'>
type SnapshotBasis = { asOf: string; prices: ReadonlyMap<string, Priced> }

function totalsShown(value: Summed, { asOf, prices }: SnapshotBasis) {
  const { totals: sums, missingRates, oldestRate, unpriced, currency } = value
  const used = [...prices.values()]
  const limitations = [
    ...(unpriced.length > 0 ? ['price_missing'] : []),
    ...(missingRates.length > 0 ? ['fx_rate_missing'] : []),
    ...(used.some(({ isStale }) => isStale) ? ['price_stale'] : []),
    ...(used.some(({ isAdjusted }) => isAdjusted) ? ['adjusted_prices'] : []),
    ...(used.some(({ notice }) => notice !== null) ? ['sample_prices'] : []),
  ]
  return {
    currency,
    total_cash: shownOrNull(sums.cash),
    total_market_value: shownOrNull(sums.marketValue),
    total_equity: shownOrNull(sums.equity),
    realized_pnl: shownOrNull(sums.realized),
    unrealized_pnl: shownOrNull(sums.unrealized),
    dividend_income: shownOrNull(sums.dividends),
    fee_total: shownOrNull(sums.fees),
    tax_total: shownOrNull(sums.taxes),
    fx_stale: missingRates.length > 0 || (oldestRate !== null && oldestRate < newestDue(asOf, Date.now())),
    data_quality: limitations.length > 0 ? ('partial' as const) : ('ok' as const),
    limitations,
    missing_rates: missingRates,
    unpriced_symbols: [...new Set(unpriced.map(({ symbol }) => symbol))].sort(),
  }
}

const accountShown = ({ id, name, broker, market, baseCurrency }: Account) => ({
  account_id: id,
  account_name: name,
  broker,
  market,
  base_currency: baseCurrency,
})

function valueShown(value: AccountValue, { asOf, prices }: SnapshotBasis) {
  const own = new Map(
    value.positions.flatMap(({ holding }) => {
      const price = prices.get(keyOf(holding))
      return price === undefined ? [] : [[keyOf(holding), price] as const]
    }),
  )
  return {
    ...totalsShown(value, { asOf, prices: own }),
    cash: value.cash.map(({ currency, amount, base }) => ({
      currency,
      amount: numberOf(amount),
      amount_base: shownOrNull(base),
    })),
    positions: value.positions.map((position) => positionShown(position, value.currency, own)),
  }
}

function positionShown(
  position: PositionValue,
  currency: string,
  prices: ReadonlyMap<string, Priced>,
): z.infer<typeof PortfolioPosition> {
  const { holding, rate } = position
  const price = prices.get(keyOf(holding)) ?? null
  const limitations = [
    ...(price === null ? ['price_missing'] : []),
    ...(rate === null ? ['fx_rate_missing'] : []),
    ...(price?.isStale ? ['price_stale'] : []),
    ...(price?.isAdjusted ? ['adjusted_prices'] : []),
    ...(price?.notice == null ? [] : ['sample_prices']),
  ]
  return {
    ...holding,
    quantity: numberOf(position.quantity),
    avg_cost: numberOf(position.averageCost),
    total_cost: numberOf(position.cost),
    last_price: shownOrNull(price?.price ?? null),
    market_value: shownOrNull(position.marketValue),
    unrealized_pnl: shownOrNull(position.unrealized),
    market_value_base: shownOrNull(position.marketValueBase),
    unrealized_pnl_base: shownOrNull(position.unrealizedBase),
    unrealized_pnl_pct: shownOrNull(position.unrealizedPct),
    valuation_currency: currency,
    price_source: price === null ? 'missing' : 'history_close',
    price_provider: price?.provider ?? null,
    price_date: price?.date ?? null,
    price_stale: price?.isStale ?? false,
    price_available: price !== null,
    price_notice: price?.notice ?? null,
    fx_rate: shownOrNull(rate?.rate ?? null),
    fx_date: rate?.date ?? null,
    fx_source: rate?.date == null ? null : rate.source,
    data_quality: limitations.length > 0 ? 'partial' : 'ok',
    limitations,
  }
}

export { app as portfolioSnapshot }
