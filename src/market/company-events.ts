// The coming and recent dates of a company: its results and its dividends. The shapes are schemas because the answers
// are stored as JSON and read back. Implausible values are left out or marked, never shown as if they were sound.

import { z } from 'zod'
import { addDays, isDate, isTradingDay } from './calendar.ts'
import type { Market } from './instruments.ts'

const day = z.string().nullable()

export const Earnings = z.object({
  /** The two ends are equal for a single day; a window from the source stays a window. */
  from: z.string(),
  to: z.string(),
  /** `estimate` by the source, `scheduled` by the company, or `published`. */
  certainty: z.enum(['estimate', 'scheduled', 'published']),
  /** The last day of the reported period. */
  period: day,
})
export type Earnings = z.infer<typeof Earnings>

/**
 * What was left out of a dividend because it is implausible, or is shown although it is unusual or could not be
 * compared with a price.
 */
export const DividendMark = z.enum([
  'pay_left_out',
  'record_left_out',
  'amount_left_out',
  'amount_large',
  'amount_unchecked',
  'ex_closed',
])
export type DividendMark = z.infer<typeof DividendMark>

export const ComingDividend = z.object({
  exDate: z.string(),
  recordDate: day,
  payDate: day,
  announcedOn: day,
  /** Per share, before tax; null when the source has none. */
  amount: z.number().nullable(),
  currency: z.string().nullable(),
  marks: z.array(DividendMark),
})
export type ComingDividend = z.infer<typeof ComingDividend>

export const CompanyEvents = z.object({
  earnings: z.array(Earnings),
  dividends: z.array(ComingDividend),
  /** The number of implausible entries. */
  leftOut: z.number(),
})
export type CompanyEvents = z.infer<typeof CompanyEvents>

/** A later day is an error of the source, such as a date in the wrong century. */
const MOST_AHEAD_DAYS = 400
const MOST_PAST_DAYS = 1_100
/** Reports are published weeks or months after their period. */
const LATEST_REPORT_DAYS = 400
/** From the ex-date to the payment; Japan and Korea take up to four months. */
const LATEST_PAYMENT_DAYS = 200
const WIDEST_WINDOW_DAYS = 60
const RECORD_NEAR_DAYS = 30

export type ToldEvents = { earnings: Earnings[]; dividends: Omit<ComingDividend, 'marks'>[] }

/** The plausible part of an answer, with marks; the rest is only counted. */
export function soundEvents(told: ToldEvents, market: Market, today: string): CompanyEvents {
  const isNear = (date: string) =>
    isDate(date) && date >= addDays(today, -MOST_PAST_DAYS) && date <= addDays(today, MOST_AHEAD_DAYS)
  const earnings = told.earnings.filter(({ from, to, certainty, period }) => {
    if (!isNear(from) || !isNear(to) || to < from || to > addDays(from, WIDEST_WINDOW_DAYS)) return false
    if (certainty === 'published' && to > today) return false
    return period === null || (isDate(period) && from > period && from <= addDays(period, LATEST_REPORT_DAYS))
  })
  const dividends = told.dividends.filter(({ exDate }) => isNear(exDate)).map((one) => markedDividend(one, market))
  const leftOut = told.earnings.length - earnings.length + told.dividends.length - dividends.length
  return { earnings: unique(earnings), dividends: unique(dividends), leftOut }
}

function markedDividend(told: Omit<ComingDividend, 'marks'>, market: Market): ComingDividend {
  const { exDate, payDate, recordDate, amount, currency } = told
  const marks: DividendMark[] = []
  const isPaid = payDate !== null && isDate(payDate) && payDate >= exDate
  const isPaidInTime = isPaid && payDate <= addDays(exDate, LATEST_PAYMENT_DAYS)
  if (payDate !== null && !isPaidInTime) marks.push('pay_left_out')
  const isRecordNear =
    recordDate !== null &&
    isDate(recordDate) &&
    recordDate >= addDays(exDate, -RECORD_NEAR_DAYS) &&
    recordDate <= addDays(exDate, RECORD_NEAR_DAYS)
  if (recordDate !== null && !isRecordNear) marks.push('record_left_out')
  const isAmount = amount !== null && currency !== null && Number.isFinite(amount) && amount > 0
  if (amount !== null && !isAmount) marks.push('amount_left_out')
  if (!isTradingDay(market, exDate)) marks.push('ex_closed')
  return {
    ...told,
    payDate: isPaidInTime ? payDate : null,
    recordDate: isRecordNear ? recordDate : null,
    ...(isAmount ? { amount, currency } : { amount: null, currency: null }),
    marks,
  }
}

const unique = <T>(all: readonly T[]): T[] => [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]

/** A larger share of the price is possible, but rare. */
const LARGE_SHARE = 0.3
/** Today's price says nothing about a dividend of long ago. */
const PRICED_DAYS = 60

type Price = { price: number; currency: string | null }

export const needsPrice = ({ amount, exDate }: ComingDividend, today: string): boolean =>
  amount !== null && exDate >= addDays(today, -PRICED_DAYS)

/** A dividend of at least the price cannot be per share: its amount is left out. */
export function againstPrice(dividend: ComingDividend, known: Price | null, today: string): ComingDividend {
  const { amount, marks } = dividend
  if (amount === null || !needsPrice(dividend, today)) return dividend
  if (known === null || dividend.currency !== known.currency)
    return { ...dividend, marks: [...marks, 'amount_unchecked'] }
  const { price } = known
  if (amount >= price) return { ...dividend, amount: null, currency: null, marks: [...marks, 'amount_left_out'] }
  return amount > price * LARGE_SHARE ? { ...dividend, marks: [...marks, 'amount_large'] } : dividend
}

export const EVENT_KINDS = ['earnings', 'ex_dividend', 'dividend_payment'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** One entry of a calendar: a day, or a window of days. */
export type CalendarEntry = {
  kind: EventKind
  from: string
  to: string
  certainty: Earnings['certainty']
  earnings: Earnings | null
  dividend: ComingDividend | null
}

/** Within the period, both ends included; a window counts if it overlaps the period. */
export function entriesOf({ earnings, dividends }: CompanyEvents, span: { from: string; to: string }): CalendarEntry[] {
  const told = earnings.map(
    (one): CalendarEntry => ({
      ...{ kind: 'earnings', from: one.from, to: one.to, certainty: one.certainty, earnings: one, dividend: null },
    }),
  )
  const paid = dividends.flatMap((dividend): CalendarEntry[] => {
    const common = { certainty: 'scheduled', earnings: null, dividend } as const
    const at = (kind: EventKind, date: string | null) =>
      date === null ? [] : [{ ...common, kind, from: date, to: date }]
    return [...at('ex_dividend', dividend.exDate), ...at('dividend_payment', dividend.payDate)]
  })
  return [...told, ...paid].filter(({ from, to }) => from <= span.to && to >= span.from)
}
