// The days of a company that lie ahead or are just over: its results and its dividends. The shapes are schemas because the answers are
// kept as JSON and read back. What cannot be right is left out or marked, never told as if it were sound.

import { z } from 'zod'
import { addDays, isDate, isTradingDay } from './calendar.ts'
import type { Market } from './instruments.ts'

const day = z.string().nullable()

export const Earnings = z.object({
  /** A single day has both ends on it; a window that the source tells stays one. */
  from: z.string(),
  to: z.string(),
  /** `estimate` of the source, `scheduled` by the company, or `published`. */
  certainty: z.enum(['estimate', 'scheduled', 'published']),
  /** The last day of the period that is reported. */
  period: day,
})
export type Earnings = z.infer<typeof Earnings>

/** What of a dividend was left out because it cannot be right, or stands there although it is unusual or could not be compared with a price. */
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
  /** For one share, before tax; null where the source does not tell. */
  amount: z.number().nullable(),
  currency: z.string().nullable(),
  marks: z.array(DividendMark),
})
export type ComingDividend = z.infer<typeof ComingDividend>

export const CompanyEvents = z.object({
  earnings: z.array(Earnings),
  dividends: z.array(ComingDividend),
  /** How many were told that cannot be right. */
  leftOut: z.number(),
})
export type CompanyEvents = z.infer<typeof CompanyEvents>

/** A day further off than this is a fault of the source, such as a date in the wrong century. */
const MOST_AHEAD_DAYS = 400
const MOST_PAST_DAYS = 1_100
/** Reports come weeks or months after their period. */
const LATEST_REPORT_DAYS = 400
/** From the ex-day to the payment; Japan and Korea take up to four months. */
const LATEST_PAYMENT_DAYS = 200
const WIDEST_WINDOW_DAYS = 60
const RECORD_NEAR_DAYS = 30

export type ToldEvents = { earnings: Earnings[]; dividends: Omit<ComingDividend, 'marks'>[] }

/** What of an answer can be right, with marks; the rest is counted. */
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

/** More than this share of the price is possible, and rare. */
const LARGE_SHARE = 0.3
/** The price of today says nothing of a dividend of long ago. */
const PRICED_DAYS = 60

type Price = { price: number; currency: string | null }

export const needsPrice = ({ amount, exDate }: ComingDividend, today: string): boolean =>
  amount !== null && exDate >= addDays(today, -PRICED_DAYS)

/** A dividend of the price or more is no dividend for one share: its amount is left out. */
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

/** Of the span, both ends included; a window counts that touches it. */
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
