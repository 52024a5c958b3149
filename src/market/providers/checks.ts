// Validates every figure of a provider: these sources are unofficial, change their fields without notice and answer
// with zeros, placeholders or another listing's numbers when they fail.

import { UpstreamError } from '../../lib/http-client.ts'
import type { Bar, Quote } from '../bars.ts'
import { isDate } from '../calendar.ts'
import type { VolumePart } from '../day-volumes.ts'

/** Why a received answer is not used. */
export type AnswerFault = 'malformed' | 'unknown_symbol' | 'wrong_symbol' | 'empty' | 'bad_price' | 'bad_dates'

export function faulty(service: string, reason: AnswerFault, detail?: string): UpstreamError<AnswerFault> {
  return new UpstreamError({ service, reason, ...(detail === undefined ? {} : { detail }) })
}

/** The bars, if there are any, their dates exist and ascend up to `today`, and every price is plausible. */
export function checkedBars(service: string, bars: Bar[], today: string): Bar[] {
  if (bars.length === 0) throw faulty(service, 'empty', 'no bars')
  let previous = ''
  for (const bar of bars) {
    const { date, open, high, low, close, volume } = bar
    if (!isDate(date)) throw faulty(service, 'bad_dates', 'a bar has no valid date')
    if (date <= previous) throw faulty(service, 'bad_dates', `${date} does not come after ${previous}`)
    if (date > today) throw faulty(service, 'bad_dates', `${date} has not come yet`)
    if (![open, high, low, close].every(isPrice))
      throw faulty(service, 'bad_price', `a price of ${date} is not positive`)
    if (high < low) throw faulty(service, 'bad_price', `high is below low on ${date}`)
    if (!(Number.isFinite(volume) && volume >= 0)) throw faulty(service, 'malformed', `no volume for ${date}`)
    previous = date
  }
  return bars
}

/** Intraday volumes, if their days and minutes ascend and the newest are from today; otherwise the next source is requested. */
export function checkedParts(service: string, parts: VolumePart[], today: string): VolumePart[] {
  let previous = { date: '', until: 0 }
  for (const part of parts) {
    const { date, until, volume } = part
    if (!isDate(date) || !(until > 0 && until <= MINUTES_OF_DAY))
      throw faulty(service, 'bad_dates', 'a part has no valid time')
    const follows = date > previous.date || (date === previous.date && until > previous.until)
    if (!follows) throw faulty(service, 'bad_dates', `a part of ${date} does not come after the one before`)
    if (date > today) throw faulty(service, 'bad_dates', `${date} has not come yet`)
    if (!(Number.isFinite(volume) && volume >= 0)) throw faulty(service, 'malformed', `no volume for ${date}`)
    previous = part
  }
  if (previous.date !== today) throw faulty(service, 'empty', 'no volumes of today')
  return parts
}

const MINUTES_OF_DAY = 1_440

/** The quote, if its prices are plausible. */
export function checkedQuote(service: string, quote: Quote): Quote {
  if (!isPrice(quote.price)) throw faulty(service, 'bad_price', 'the price is not positive')
  if (!isPrice(quote.prevClose)) throw faulty(service, 'bad_price', 'the previous close is not positive')
  if (quote.high !== null && quote.low !== null && quote.high < quote.low) {
    throw faulty(service, 'bad_price', 'high is below low')
  }
  const { price, prevClose, open, high, low } = quote
  const told = (value: number | null) => value && withoutNoise(value)
  const prices = { price: withoutNoise(price), prevClose: withoutNoise(prevClose) }
  return { ...quote, ...prices, open: told(open), high: told(high), low: told(low) }
}

/** A figure stored in 32 bits has an error of up to 6e-8 of its value. */
const NOISE_SHARE = 1e-7
const FINEST_DECIMALS = 6

/**
 * The shortest figure that has the same 32-bit value: sources with 32-bit prices send 1683.199951171875 for 1683.2. A
 * price that is really finer than the exchange's step is unchanged.
 */
export function withoutNoise(value: number): number {
  for (let decimals = 0; decimals <= FINEST_DECIMALS; decimals += 1) {
    const short = rounded(value, decimals)
    if (Math.abs(short - value) <= Math.abs(value) * NOISE_SHARE) return short
  }
  return value
}

/** For a quote whose source only has prices. */
export const PRICES_ALONE = {
  turnoverRatePct: null,
  volumeRatio: null,
  peRatio: null,
  pbRatio: null,
  totalMarketValue: null,
  circulatingMarketValue: null,
}

/** Change and percentage are computed here: sources differ in their sign and scale. */
export function changeOf(price: number, prevClose: number): { change: number; changePct: number } {
  return { change: rounded(price - prevClose, 4), changePct: rounded((price / prevClose - 1) * 100, 4) }
}

export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

const isPrice = (value: number): boolean => Number.isFinite(value) && value > 0
