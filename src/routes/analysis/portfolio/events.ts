// The entries of an account: trades, payments, dividends and splits. An entry is never changed; a wrong one is
// cancelled.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { eventPage, type NewEvent, type StoredEvent } from '../../../db/portfolio.ts'
import { stockNameStore } from '../../../db/stock-names.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { numberOf } from '../../../lib/decimal.ts'
import { laxInt } from '../../../lib/lax.ts'
import { readEntry } from '../../../market/readings.ts'
import { bookEvents, removeEvent } from '../../../portfolio/book.ts'
import { idOf } from './accounts.ts'
import { ActionInput, actionOf, CashInput, cashOf, direction, side, TradeInput, tradeOf } from './entries.ts'
import { BASE, clash, gone, missing, reads, refused, writes } from './shapes.ts'
import { booked, invalidEntry } from './texts.ts'

const app = router(analysisEnvelope)

// The listed entries: the fields of the body, and the time of the booking.

const shown = {
  id: z.int().describe('Of the entry'),
  account_id: z.int().describe('The account'),
  currency: z.string().describe('Of the sums'),
  note: z.string().nullable().describe('Your own words'),
  created_at: z.string().describe('When it was booked'),
}
const shownListing = { symbol: z.string().describe('The code'), market: z.string().describe('Where it is listed') }

const PortfolioTrade = z
  .object({
    ...shown,
    ...shownListing,
    trade_date: z.string().describe('By the calendar of the market'),
    side,
    quantity: z.number().describe('Shares'),
    price: z.number().describe('Of one share'),
    fee: z.number().describe('What the broker took'),
    tax: z.number().describe('What the state took'),
    trade_uid: z.string().nullable().describe('The number of the trade'),
  })
  .openapi('PortfolioTrade')

const PortfolioCash = z
  .object({
    ...shown,
    event_date: z.string().describe('When it was paid'),
    direction,
    amount: z.number().describe('The sum'),
  })
  .openapi('PortfolioCash')

const PortfolioAction = z
  .object({
    ...shown,
    ...shownListing,
    effective_date: z.string().describe('When it took effect'),
    action_type: z.enum(['cash_dividend', 'split_adjustment']).describe('What happened'),
    cash_dividend_per_share: z.number().nullable().describe('Null for a split, and for a sum of a file'),
    amount: z.number().nullable().describe('A dividend of a file: the sum before fee and tax'),
    fee: z.number().nullable().describe('Of that sum'),
    tax: z.number().nullable().describe('Of that sum'),
    split_ratio: z.number().nullable().describe('Null for a dividend'),
  })
  .openapi('PortfolioAction')

const entry = ({ id, account, currency, note, createdAt }: StoredEvent) => ({
  id,
  account_id: account,
  currency,
  note,
  created_at: createdAt,
})

function tradeShown(event: StoredEvent): z.infer<typeof PortfolioTrade> {
  if (event.kind !== 'trade') throw new Error('a trade was asked for')
  return {
    ...entry(event),
    symbol: event.symbol,
    market: event.market,
    trade_date: event.date,
    side: event.side,
    quantity: numberOf(event.quantity),
    price: numberOf(event.price),
    fee: numberOf(event.fee),
    tax: numberOf(event.tax),
    trade_uid: event.uid,
  }
}

function cashShown(event: StoredEvent): z.infer<typeof PortfolioCash> {
  if (event.kind !== 'cash') throw new Error('a payment was asked for')
  return { ...entry(event), event_date: event.date, direction: event.direction, amount: numberOf(event.amount) }
}

function actionShown(event: StoredEvent): z.infer<typeof PortfolioAction> {
  if (event.kind !== 'dividend' && event.kind !== 'payout' && event.kind !== 'split')
    throw new Error('a dividend or a split was asked for')
  return {
    ...entry(event),
    symbol: event.symbol,
    market: event.market,
    effective_date: event.date,
    action_type: event.kind === 'split' ? 'split_adjustment' : 'cash_dividend',
    cash_dividend_per_share: event.kind === 'dividend' ? numberOf(event.perShare) : null,
    amount: event.kind === 'payout' ? numberOf(event.gross) : null,
    fee: event.kind === 'payout' ? numberOf(event.fee) : null,
    tax: event.kind === 'payout' ? numberOf(event.tax) : null,
    split_ratio: event.kind === 'split' ? numberOf(event.ratio) : null,
  }
}

const period = {
  account_id: laxInt({ min: 1 }).optional().describe('Of one account only'),
  date_from: z.iso.date().optional().describe('From this day on'),
  date_to: z.iso.date().optional().describe('Up to this day'),
  page: laxInt({ min: 1 }).describe('Which page').default(1),
  page_size: laxInt({ min: 1, max: 100 }).describe('Entries of a page').default(20),
}
const ofSymbol = { symbol: z.string().max(16).optional().describe('Of one code only') }

type EventsQuery = { [K in keyof typeof period]?: z.output<(typeof period)[K]> } & {
  symbol?: string | undefined
  side?: string | undefined
  direction?: string | undefined
  action_type?: string | undefined
}

async function pageOf<T>(
  c: Context<AppEnv>,
  { query, kinds, show }: { query: EventsQuery; kinds: StoredEvent['kind'][]; show: (event: StoredEvent) => T },
) {
  const { page = 1, page_size: size = 20, date_from: from = null, date_to: to = null } = query
  if (from !== null && to !== null && from > to) throw invalidEntry(c, (texts) => texts.period)
  const symbol = query.symbol === undefined ? null : await keyOfSymbol(c, query.symbol)
  const sideOf = query.side ?? query.direction ?? null
  const filter = { kinds, account: query.account_id ?? null, from, to, symbol, side: sideOf }
  const { events, total } = await eventPage(c.env.DB, c.var.principal.owner, {
    filter,
    limit: size,
    offset: (page - 1) * size,
  })
  return c.json({ items: events.map(show), total, page, page_size: size })
}

/** An unknown code has no entries. */
async function keyOfSymbol(c: Context<AppEnv>, typed: string): Promise<string> {
  return readEntry(typed, await currentNames(stockNameStore(c.env.DB)))?.resolved?.instrument.key ?? typed
}

const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item).describe('The newest first'),
    total: z.int().describe('Of all pages'),
    page: z.int().describe('This page'),
    page_size: z.int().describe('Entries of a page'),
  })

const Booked = z.object({ id: z.int().describe('Of the entry') })
const bookedReply = { 200: { description: 'It is booked', schema: Booked }, ...missing, ...refused, ...clash }

async function book(c: Context<AppEnv>, event: NewEvent) {
  const one = { account: event.account, events: [event] }
  const [id = 0] = await booked(c, () => bookEvents(c.env.DB, c.var.principal.owner, one))
  return c.json({ id })
}

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    path: `${BASE}/trades`,
    summary: 'Book a trade',
    body: { schema: TradeInput, required: true },
    replies: bookedReply,
  },
  async (c, { body }) => book(c, await tradeOf(c, body)),
)

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    path: `${BASE}/cash-ledger`,
    summary: 'Book what was paid in or out',
    body: { schema: CashInput, required: true },
    replies: bookedReply,
  },
  async (c, { body }) => book(c, await cashOf(c, body)),
)

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    path: `${BASE}/corporate-actions`,
    summary: 'Book a dividend or a split',
    body: { schema: ActionInput, required: true },
    replies: bookedReply,
  },
  async (c, { body }) => book(c, await actionOf(c, body)),
)

endpoint(
  app,
  {
    ...reads,
    path: `${BASE}/trades`,
    summary: 'Your trades',
    query: z.object({ ...period, ...ofSymbol, side: side.optional() }),
    replies: { 200: { description: 'A page of them', schema: pageSchema(PortfolioTrade) }, ...refused },
  },
  (c, { query }) => pageOf(c, { query, kinds: ['trade'], show: tradeShown }),
)

endpoint(
  app,
  {
    ...reads,
    path: `${BASE}/cash-ledger`,
    summary: 'What you paid in and out',
    query: z.object({ ...period, direction: direction.optional() }),
    replies: { 200: { description: 'A page of it', schema: pageSchema(PortfolioCash) }, ...refused },
  },
  (c, { query }) => pageOf(c, { query, kinds: ['cash'], show: cashShown }),
)

endpoint(
  app,
  {
    ...reads,
    path: `${BASE}/corporate-actions`,
    summary: 'Dividends and splits of your holdings',
    query: z.object({ ...period, ...ofSymbol, action_type: ActionInput.shape.action_type.optional() }),
    replies: { 200: { description: 'A page of them', schema: pageSchema(PortfolioAction) }, ...refused },
  },
  (c, { query }) => {
    const dividends: StoredEvent['kind'][] = query.action_type === 'split_adjustment' ? [] : ['dividend', 'payout']
    const splits: StoredEvent['kind'][] = query.action_type === 'cash_dividend' ? [] : ['split']
    const kinds = [...dividends, ...splits]
    return pageOf(c, { query, kinds, show: actionShown })
  },
)

const REMOVALS = [
  { path: 'trades', kinds: ['trade'], summary: 'Take a trade back' },
  { path: 'cash-ledger', kinds: ['cash'], summary: 'Take a payment back' },
  { path: 'corporate-actions', kinds: ['dividend', 'payout', 'split'], summary: 'Take a dividend or a split back' },
] as const

for (const { path, kinds, summary } of REMOVALS) {
  endpoint(
    app,
    {
      ...writes,
      method: 'delete',
      path: `${BASE}/${path}/{id}`,
      summary,
      params: z.object({ id: z.string().describe('Of the entry') }),
      replies: { ...gone, ...missing, ...clash },
    },
    async (c, { params: { id } }) => {
      await booked(c, () => removeEvent(c.env.DB, c.var.principal.owner, { id: idOf(id), kinds }))
      return c.json({ deleted: 1 as const })
    },
  )
}

export { app as portfolioEvents }
