// The bounds of docs/portfolio.md at their last and their first forbidden number, and the codes and names that money has.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../src/db/portfolio.ts'
import { ONE } from '../../src/lib/decimal.ts'
import { addAccount, BookError, bookEvents, changeAccount } from '../../src/portfolio/book.ts'
import { currencyCode } from '../../src/portfolio/currencies.ts'

const AT = '2026-03-20T08:00:00.000000Z'
const ACCOUNT = { name: 'a', broker: null, market: 'us', baseCurrency: 'USD' }
const NOTES = { uid: null, note: null, createdAt: AT }

/** The fault, or null where it was booked. */
async function faultOf(writing: Promise<unknown>): Promise<string | null> {
  try {
    await writing
    return null
  } catch (error) {
    if (error instanceof BookError) return error.why.fault
    throw error
  }
}

test('an owner has fifty accounts, hidden ones included, and no more', async () => {
  const owner = crypto.randomUUID()
  const add = () => addAccount(env.DB, owner, { account: ACCOUNT, at: AT })
  for (let count = 0; count < 49; count++) await add()
  const { id } = await add()
  expect(await faultOf(add())).toBe('too_many_accounts')
  await changeAccount(env.DB, owner, { id, change: { isActive: false }, at: AT })
  expect(await faultOf(add())).toBe('too_many_accounts')
  expect(await faultOf(bookEvents(env.DB, owner, { account: id, events: [] }))).toBe('inactive_account')
  // Another owner's are none of theirs.
  expect(await faultOf(addAccount(env.DB, crypto.randomUUID(), { account: ACCOUNT, at: AT }))).toBeNull()
})

test('a stock has a hundred splits in an account, an account 20,000 entries, and a number of a trade comes once', async () => {
  const owner = crypto.randomUUID()
  const { id: account } = await addAccount(env.DB, owner, { account: ACCOUNT, at: AT })
  const book = (events: NewEvent[]) => faultOf(bookEvents(env.DB, owner, { account, events }))
  const split = (symbol: string): NewEvent => {
    return {
      ...NOTES,
      account,
      kind: 'split',
      date: '2026-01-05',
      symbol,
      market: 'us',
      currency: 'USD',
      ratio: 2n * ONE,
    }
  }
  expect(await book(Array.from({ length: 100 }, () => split('AAPL')))).toBeNull()
  expect(await book([split('AAPL')])).toBe('too_many_splits')
  expect(await book([split('MSFT')])).toBeNull()
  expect(await book(Array.from({ length: 20_000 - 100 }, () => split('NVDA')))).toBe('too_many_events')
  const cash = (uid: string | null): NewEvent => {
    return { ...NOTES, account, kind: 'cash', date: '2026-01-05', direction: 'in', amount: 1n, currency: 'USD', uid }
  }
  expect(await book([cash(null), cash(null), cash('u1')])).toBeNull()
  expect(await book([cash('u1')])).toBe('repeated_uid')
  expect(await book([cash('u2'), cash('u2')])).toBe('repeated_uid')
  expect(await book([cash('u2')])).toBeNull()
})

test('money is known by its code and by the names that files of brokers have for it', () => {
  const names: Record<string, string[]> = {
    CNY: ['人民币', '人民币元', 'RMB', 'cnh', ' cny '],
    HKD: ['港币', '港元', 'ＨＫＤ'],
    USD: ['美元', '美金', 'usd'],
    JPY: ['日元', '日圆'],
    KRW: ['韩元', '韩圆'],
    TWD: ['新台币', '台币'],
    EUR: ['欧元'],
    GBP: ['英镑'],
  }
  for (const [code, all] of Object.entries(names))
    expect([code, all.map(currencyCode)]).toEqual([code, all.map(() => code)])
  const inUse =
    'AED AUD BRL CAD CHF CLP COP CZK DKK IDR ILS INR MXN MYR NOK NZD PHP PLN SAR SEK SGD THB TRY VND XAF ZAR ZWG'
  expect(inUse.split(' ').filter((code) => currencyCode(code) !== code)).toEqual([])
  // Mistyped, given up (DEM, HRK), of metals and tests, and no code at all.
  for (const none of ['USB', 'CNJ', 'DEM', 'HRK', 'XAU', 'XTS', 'US', 'USDT', '', '元'])
    expect(currencyCode(none)).toBeNull()
})
