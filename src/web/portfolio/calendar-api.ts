// The answer of the calendar call, and the text for its figures.

import { price } from '../format.ts'
import { say } from '../texts.ts'

export type CalendarEvent = {
  id: string
  kind: 'earnings' | 'ex_dividend' | 'dividend_payment'
  stock_code: string
  stock_name: string | null
  date: string
  date_to: string
  certainty: 'estimate' | 'scheduled' | 'published'
  period: string | null
  ex_date: string | null
  record_date: string | null
  pay_date: string | null
  amount_per_share: number | null
  currency: string | null
  marks: (keyof typeof MARKS)[]
  held_quantity: number | null
  expected_amount: number | null
  source: string
  notice: string | null
}
export type Listing = {
  stock_code: string
  stock_name: string | null
  state: 'known' | 'no_source' | 'failed' | 'not_asked'
  message: string | null
  age_seconds: number | null
  is_stale: boolean
  left_out: number
}
export type Calendar = {
  from: string
  to: string
  items: CalendarEvent[]
  total: number
  listings: Listing[]
  listings_left_out: number
}

const MOST_DAYS = '500'

export const calendarQuery = (asked: Readonly<Record<string, string>>): URLSearchParams =>
  new URLSearchParams({ ...asked, page_size: MOST_DAYS })

export const KIND_NAMES = {
  earnings: 'Results',
  ex_dividend: 'Ex-dividend',
  dividend_payment: 'Dividend payment',
} as const
const CERTAINTY = { estimate: 'estimate', scheduled: 'scheduled', published: 'published' } as const
const MARKS = {
  pay_left_out: 'The day of payment cannot be right and is left out.',
  record_left_out: 'The record date cannot be right and is left out.',
  amount_left_out: 'The amount cannot be right and is left out.',
  amount_large: 'The amount is unusually large against the price.',
  amount_unchecked: 'The amount could not be compared with a price.',
  ex_closed: 'The ex-date is no trading day of the market.',
} as const

/** Only for results: sources announce the day of a dividend only when it is fixed. */
export const sureness = ({ kind, certainty }: CalendarEvent): string =>
  kind === 'earnings' ? say(CERTAINTY[certainty]) : ''

export function amountOf({ kind, amount_per_share: amount, currency }: CalendarEvent): string {
  if (kind === 'earnings') return ''
  if (amount === null) return say('amount not known')
  return say('{amount} a share before tax', { amount: `${price(amount)} ${currency ?? ''}` })
}

export function expectedOf({ expected_amount: expected, held_quantity: shares, currency }: CalendarEvent): string {
  if (expected === null || shares === null) return ''
  return say('expected: {amount} for {shares} shares', {
    amount: `${price(expected)} ${currency ?? ''}`,
    shares: shares.toLocaleString('en', { maximumFractionDigits: 8 }),
  })
}

export const marksOf = ({ marks }: CalendarEvent): string[] => marks.map((mark) => say(MARKS[mark]))
