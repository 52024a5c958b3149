// Reads an entry from a request: every figure exactly, the listing by its code, the day by its market's calendar.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { listAccounts, type NewEvent } from '../../../db/portfolio.ts'
import { stockNameStore } from '../../../db/stock-names.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { LARGEST, parseAmount } from '../../../lib/decimal.ts'
import { laxInt } from '../../../lib/lax.ts'
import { isCalendarKnown, isTradingDay, localDate } from '../../../market/calendar.ts'
import { currencyOf } from '../../../market/instruments.ts'
import { readEntry } from '../../../market/readings.ts'
import { FIRST_DAY } from '../../../portfolio/csv-trades.ts'
import { unclearNames } from '../refusals.ts'
import { MARKETS, mustBeCurrency } from './accounts.ts'
import { invalidEntry } from './texts.ts'

/** The market in which the day begins first. */
const EASTERNMOST = 'jp'
/** A JSON number or a text; read exactly, with at most eight decimal places. */
const decimal = (from: { above: bigint } | { least: bigint }) =>
  z.union([z.number(), z.string().max(40)]).refine(
    (value) => {
      const amount = parseAmount(value)
      if (amount === null || amount > LARGEST) return false
      return 'above' in from ? amount > from.above : amount >= from.least
    },
    `a decimal ${'above' in from ? 'above 0' : 'of 0 or more'} with at most 8 places, up to 10^12`,
  )

export const positive = () => decimal({ above: 0n })
const notNegative = () => decimal({ least: 0n })
export const day = () =>
  z.iso
    .date()
    .refine((date) => date >= FIRST_DAY, `no day before ${FIRST_DAY}`)
    .openapi({ example: '2025-12-02' })

const common = {
  account_id: laxInt({ min: 1 }).describe('The account'),
  note: z.string().max(255).nullish().describe('Your own words'),
}
const listing = {
  symbol: z.string().trim().min(1).max(16).describe('A code, as everywhere'),
  market: z.enum(MARKETS).nullish().describe('Not read: the market is that of the code'),
  currency: z.string().max(8).nullish().describe('Null: the currency of the listing'),
}
export const side = z.enum(['buy', 'sell']).describe('Whether it was bought or sold')
export const direction = z.enum(['in', 'out']).describe('Paid in or out')

export const TradeInput = z.object({
  ...common,
  ...listing,
  trade_date: day().describe('By the calendar of the market'),
  side,
  quantity: positive().describe('Shares'),
  price: positive().describe('Of one share, in the currency of the trade'),
  fee: notNegative().describe('What the broker took').default(0),
  tax: notNegative().describe('What the state took').default(0),
  trade_uid: z.string().trim().max(128).nullish().describe('A number of the trade: booked once an account'),
})

export const CashInput = z.object({
  ...common,
  event_date: day().describe('When it was paid'),
  direction,
  amount: positive().describe('The sum'),
  currency: z.string().max(8).nullish().describe('Null: the currency of the account'),
})

export const ActionInput = z.object({
  ...common,
  ...listing,
  effective_date: day().describe('The first day without the dividend, or with the new number of shares'),
  action_type: z.enum(['cash_dividend', 'split_adjustment']).describe('What happened'),
  cash_dividend_per_share: notNegative().nullish().describe('For a dividend: of one share'),
  split_ratio: positive().nullish().describe('For a split: new shares for one old share'),
})

/** Amounts were validated with the body. */
export function amountOf(value: string | number): bigint {
  const amount = parseAmount(value)
  if (amount === null) throw new Error('an amount passed its check and is none')
  return amount
}

const beside = (body: { account_id: number; note?: string | null | undefined }, uid: string | null = null) => ({
  account: body.account_id,
  uid,
  note: body.note ?? null,
  createdAt: isoMicros(Date.now()),
})

export async function tradeOf(c: Context<AppEnv>, body: z.output<typeof TradeInput>): Promise<NewEvent> {
  const { holding, instrument } = await holdingOf(c, body)
  const { market } = instrument
  const date = body.trade_date
  mustHaveBeen(c, 'trade_date', { date, latest: localDate(market, Date.now()) })
  if (isCalendarKnown(market, date) && !isTradingDay(market, date)) {
    throw invalidEntry(c, (texts) => texts.closed(date, market))
  }
  const [quantity, price, fee, tax] = [body.quantity, body.price, body.fee, body.tax].map(amountOf) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const figures = { side: body.side, quantity, price, fee, tax }
  return { kind: 'trade', date, ...holding, ...figures, ...beside(body, body.trade_uid || null) }
}

export async function cashOf(c: Context<AppEnv>, body: z.output<typeof CashInput>): Promise<NewEvent> {
  const { event_date: date, direction: way, amount } = body
  mustHaveBeen(c, 'event_date', { date, latest: localDate(EASTERNMOST, Date.now()) })
  const currency = mustBeCurrency(c, body.currency || (await baseCurrencyOf(c, body.account_id)))
  return { kind: 'cash', date, direction: way, amount: amountOf(amount), currency, ...beside(body) }
}

/** A missing account is reported when the entry is booked. */
async function baseCurrencyOf(c: Context<AppEnv>, id: number): Promise<string> {
  const account = (await listAccounts(c.env.DB, c.var.principal.owner)).find((one) => one.id === id)
  return account?.baseCurrency ?? 'CNY'
}

export async function actionOf(c: Context<AppEnv>, body: z.output<typeof ActionInput>): Promise<NewEvent> {
  const { holding, instrument } = await holdingOf(c, body)
  const date = body.effective_date
  mustHaveBeen(c, 'effective_date', { date, latest: localDate(instrument.market, Date.now()) })
  const { action_type: type, cash_dividend_per_share: perShare, split_ratio: ratio } = body
  if (type === 'cash_dividend') {
    if (perShare === undefined || perShare === null) {
      throw invalidEntry(c, (texts) => texts.needs('cash_dividend_per_share', type))
    }
    return { kind: 'dividend', date, ...holding, perShare: amountOf(perShare), ...beside(body) }
  }
  if (ratio === undefined || ratio === null) throw invalidEntry(c, (texts) => texts.needs('split_ratio', type))
  return { kind: 'split', date, ...holding, ratio: amountOf(ratio), ...beside(body) }
}

type Listed = { symbol: string; currency?: string | null | undefined }

async function holdingOf(c: Context<AppEnv>, { symbol: typed, currency }: Listed) {
  const reading = readEntry(typed, await currentNames(stockNameStore(c.env.DB)))
  if (reading?.resolved == null) {
    throw unclearNames(reading?.rejected ? [reading.rejected] : [], callerLanguage(c), 'symbol')
  }
  const { instrument } = reading.resolved
  const { key: symbol, market } = instrument
  if (instrument.kind === 'index') throw invalidEntry(c, (texts) => texts.index(symbol))
  const own = currency === null || currency === undefined || currency === '' ? currencyOf(instrument) : currency
  return { instrument, holding: { symbol, market, currency: mustBeCurrency(c, own) } }
}

function mustHaveBeen(c: Context<AppEnv>, field: string, { date, latest }: { date: string; latest: string }): void {
  if (date > latest) throw invalidEntry(c, (texts) => texts.future(field, date, latest))
}
