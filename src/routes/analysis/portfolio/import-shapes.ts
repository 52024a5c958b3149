// The answer of an import about a file: its trades, dividends and payments, and the other rows.

import { z } from '@hono/zod-openapi'
import { numberOf } from '../../../lib/decimal.ts'
import type { CsvCash, CsvDividend, CsvTrade, Skipped } from '../../../portfolio/csv-trades.ts'
import { short } from './import-texts.ts'

/** Further records are counted, but not listed. */
export const SHOWN_RECORDS = 1_000
export const SHOWN_FAULTS = 20
const SHOWN_SKIPPED = 200

const places = z.record(z.string(), z.string().nullable())
const skippedRows = z
  .array(
    z.object({
      row: z.int().describe('The line of the file'),
      column: z.string().describe('The column that says so'),
      reason: z.enum(['blank', 'no_trade']).describe('Nothing in it, or something that is not booked here'),
      text: z.string().describe('What is there'),
    }),
  )
  .describe(`The first ${SHOWN_SKIPPED}`)
export const PortfolioImport = z
  .object({
    broker: z.string().describe('Whose file it is'),
    record_count: z.int().describe('Trades, dividends and payments'),
    dividend_count: z.int().describe('Dividends, and taxes on them, among these'),
    cash_count: z.int().describe('Payments in and out among these'),
    skipped_count: z.int().describe('Rows that are none of these'),
    error_count: z.int().describe('Rows that cannot be booked'),
    records: z
      .array(
        z.object({
          row: z.int().describe('The line of the file'),
          trade_date: z.string().describe('By the calendar of the market'),
          symbol: z.string().describe('The code'),
          side: z.enum(['buy', 'sell']).describe('Whether it was bought or sold'),
          quantity: z.number().describe('Shares'),
          price: z.number().describe('Of one share'),
          fee: z.number().describe('All columns of fees together'),
          tax: z.number().describe('All columns of taxes together'),
          trade_uid: z.string().nullable().describe('The number that the broker gave this trade'),
          dedup_hash: z.string().describe('What is booked once an account'),
          currency: z.string().describe('Of the sums'),
        }),
      )
      .describe(`In the order in which they happened; the first ${SHOWN_RECORDS}`),
    errors: z.array(z.string()).describe(`Row, column and what is wrong; the first ${SHOWN_FAULTS}`),
    dividends: z
      .array(
        z.object({
          row: z.int().describe('The line of the file'),
          date: z.string().describe('When it came'),
          symbol: z.string().describe('The code'),
          amount: z
            .number()
            .describe('Before fee and tax; 0 for a tax that is taken later, below 0 for what is taken back'),
          fee: z.number().describe('Of the sum'),
          tax: z.number().describe('Of the sum'),
          dedup_hash: z.string().describe('What is booked once an account'),
          currency: z.string().describe('Of the sums'),
        }),
      )
      .describe(`By day; the first ${SHOWN_RECORDS}`),
    cash: z
      .array(
        z.object({
          row: z.int().describe('The line of the file'),
          date: z.string().describe('When it moved'),
          direction: z.enum(['in', 'out']).describe('Paid in or taken out'),
          amount: z.number().describe('The sum'),
          currency: z.string().describe('Of the sum'),
          dedup_hash: z.string().describe('What is booked once an account'),
        }),
      )
      .describe(`By day; the first ${SHOWN_RECORDS}`),
    skipped: skippedRows,
    columns: z.array(z.string()).describe('The columns of the file'),
    mapping: places.describe('Which column each field was taken from; null where there is none'),
  })
  .openapi('PortfolioImport')

export const PortfolioImportResult = z
  .object({
    account_id: z.int().describe('The account'),
    record_count: z.int().describe('Trades, dividends and payments in the file'),
    inserted_count: z.int().describe('Booked; of a trial, what would be'),
    duplicate_count: z.int().describe('In the account already'),
    failed_count: z.int().describe('Rows that cannot be booked: with one, nothing is'),
    skipped_count: z.int().describe('Rows that are none of these'),
    skipped: skippedRows,
    dry_run: z.boolean().describe('A trial: nothing was booked'),
    errors: z.array(z.string()).describe(`Row, column and what is wrong; the first ${SHOWN_FAULTS}`),
  })
  .openapi('PortfolioImportResult')

export const recordOf = ({ row, date, symbol, side, quantity, price, fee, tax, uid, hash, currency }: CsvTrade) => ({
  row,
  trade_date: date,
  symbol,
  side,
  quantity: numberOf(quantity),
  price: numberOf(price),
  fee: numberOf(fee),
  tax: numberOf(tax),
  trade_uid: uid,
  dedup_hash: hash,
  currency,
})

export const dividendOf = ({ row, date, symbol, gross, fee, tax, hash, currency }: CsvDividend) => ({
  row,
  date,
  symbol,
  amount: numberOf(gross),
  fee: numberOf(fee),
  tax: numberOf(tax),
  dedup_hash: hash,
  currency,
})

export const cashOf = ({ row, date, direction, amount, currency, hash }: CsvCash) => ({
  row,
  date,
  direction,
  amount: numberOf(amount),
  currency,
  dedup_hash: hash,
})

export const skippedShown = (skipped: readonly Skipped[]) =>
  skipped.slice(0, SHOWN_SKIPPED).map((one) => ({ ...one, text: short(one.text) }))
