// The accounts of a request, replayed up to its day and valued.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { marketDataOf } from '../../../analysis/market-data.ts'
import { type Account, accountEvents, listAccounts, ownRates, type StoredEvent } from '../../../db/portfolio.ts'
import { referenceDays } from '../../../db/reference-rates.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { AppError } from '../../../http/errors.ts'
import { laxInt } from '../../../lib/lax.ts'
import { localDate } from '../../../market/calendar.ts'
import { type CostMethod, type Holding, keyOf, type Ledger, replay } from '../../../portfolio/ledger.ts'
import { type Closes, closeAt, closesOf, type Priced } from '../../../portfolio/prices.ts'
import { daysBefore, LASTS_DAYS, type OwnRate, type ReferenceDay, rateFinder } from '../../../portfolio/rates.ts'
import { ECB } from '../../../portfolio/reference-rates.ts'
import { type AccountValue, accountValue, type MarketView, totalOf } from '../../../portfolio/valuation.ts'
import { mustBeCurrency } from './accounts.ts'
import { day } from './entries.ts'
import { textsOf } from './texts.ts'

const DEFAULT_CURRENCY = 'CNY'
/** Prices that have not arrived by then are unknown. */
const PATIENCE_MS = 12_000

export const VALUED_QUERY = z.object({
  account_id: laxInt({ min: 1 }).optional().describe('One account only'),
  as_of: day().optional().describe('At the end of that day; today without it'),
  cost_method: z.enum(['fifo', 'avg']).describe('Which shares a sale takes').default('fifo'),
  currency: z.string().max(8).optional().describe('Of the totals; else that of all accounts, or CNY'),
})

export type Valued = {
  asOf: string
  now: number
  currency: string
  values: { account: Account; events: StoredEvent[]; value: AccountValue }[]
  total: ReturnType<typeof totalOf>
  closes: Map<string, Closes>
  prices: Map<string, Priced>
  rates: OwnRate[]
  view: MarketView
}

type ValuedQuery = Partial<z.output<typeof VALUED_QUERY>>

/** The holdings of the accounts on the day, without prices. */
export async function replayedAccounts(c: Context<AppEnv>, query: ValuedQuery) {
  const now = Date.now()
  const asOf = query.as_of ?? localDate('jp', now)
  const accounts = await chosenAccounts(c, query.account_id)
  const currency = query.currency === undefined ? commonCurrency(accounts) : mustBeCurrency(c, query.currency)
  const all = await accountEvents(c.env.DB, c.var.principal.owner, query.account_id ?? null)
  const replayed = accounts.map((account) => {
    const events = all.filter((event) => event.account === account.id)
    return { account, events, ledger: replay(events, (query.cost_method ?? 'fifo') satisfies CostMethod, asOf) }
  })
  return { now, asOf, currency, replayed }
}

/** From the source, as far back as rates are valid for a day. */
export const referenceFor = (c: Context<AppEnv>, from: string, to: string): Promise<ReferenceDay[]> =>
  referenceDays(c.env.DB, { source: ECB, from: daysBefore(from, LASTS_DAYS), to })

export async function valued(c: Context<AppEnv>, query: z.output<typeof VALUED_QUERY>): Promise<Valued> {
  const { now, asOf, currency, replayed } = await replayedAccounts(c, query)
  const closes = await closesNeeded(
    c,
    replayed.map(({ ledger }) => ledger),
    now,
  )
  const prices = new Map(
    [...closes].flatMap(([key, series]) => {
      const price = closeAt(series, asOf, now)
      return price === null ? [] : [[key, price] as const]
    }),
  )
  const rates = await ownRates(c.env.DB, c.var.principal.owner)
  const rate = rateFinder(rates, asOf, await referenceFor(c, asOf, asOf))
  const view: MarketView = { price: (holding) => prices.get(keyOf(holding)) ?? null, rate }
  const values = replayed.map(({ account, events, ledger }) => {
    return { account, events, value: accountValue(ledger, account.baseCurrency, view) }
  })
  const total = totalOf(
    values.map(({ value }) => value),
    currency,
    view,
  )
  return { asOf, now, currency, values, total, closes, prices, rates, view }
}

async function chosenAccounts(c: Context<AppEnv>, id: number | undefined): Promise<Account[]> {
  const accounts = await listAccounts(c.env.DB, c.var.principal.owner)
  if (id === undefined) return accounts.filter(({ isActive }) => isActive)
  const chosen = accounts.filter((account) => account.id === id)
  if (chosen.length === 0) throw new AppError('not_found', textsOf(c).noAccount)
  return chosen
}

/** Each listing is fetched once, however many accounts hold it. */
async function closesNeeded(c: Context<AppEnv>, ledgers: readonly Ledger[], now: number): Promise<Map<string, Closes>> {
  const holdings = new Map<string, Holding>()
  for (const ledger of ledgers) {
    for (const [key, { quantity, holding }] of ledger.positions) if (quantity.n > 0n) holdings.set(key, holding)
  }
  if (holdings.size === 0) return new Map()
  const market = await marketDataOf(c.env)
  return closesOf(market, { holdings: [...holdings.values()], now, signal: AbortSignal.timeout(PATIENCE_MS) })
}

function commonCurrency(accounts: readonly Account[]): string {
  const [first, ...others] = new Set(accounts.map(({ baseCurrency }) => baseCurrency))
  return first !== undefined && others.length === 0 ? first : DEFAULT_CURRENCY
}
