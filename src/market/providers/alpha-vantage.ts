// Alpha Vantage: US quotes and the last hundred bars, unadjusted. A free key has 25 requests a day; after that every
// answer is a note as text.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, UpstreamError } from '../../lib/http-client.ts'
import type { Bar, Quote } from '../bars.ts'
import { isDate, localDate, sessionEnd } from '../calendar.ts'
import type { Instrument } from '../instruments.ts'
import { changeOf, checkedBars, checkedQuote, faulty, PRICES_ALONE } from './checks.ts'
import { isPriceNeed, type PriceProvider, type QuoteQuery } from './provider.ts'

export type AlphaVantageOptions = { url: string; key: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'alphavantage'

const figure = z.string().transform(Number)
const Quoted = z.object({
  '01. symbol': z.string(),
  '02. open': figure,
  '03. high': figure,
  '04. low': figure,
  '05. price': figure,
  '06. volume': figure,
  '07. latest trading day': z.string(),
  '08. previous close': figure,
})
const Day = z.object({
  '1. open': figure,
  '2. high': figure,
  '3. low': figure,
  '4. close': figure,
  '5. volume': figure,
})
const Series = z.object({
  'Meta Data': z.object({ '2. Symbol': z.string() }),
  'Time Series (Daily)': z.record(z.string(), Day),
})

export function alphaVantageProvider(options: AlphaVantageOptions): PriceProvider {
  return {
    name: SERVICE,
    provenance: () => null,
    supports: ({ market, kind }, need) => isPriceNeed(need) && market === 'us' && kind !== 'index',
    async quote(instrument, query) {
      const quote = toQuote(
        instrument,
        await ask(options, { name: 'GLOBAL_QUOTE', instrument, query }),
        options.clock(),
      )
      return checkedQuote(SERVICE, quote)
    },
    async dailyBars(instrument, query) {
      const bars = toBars(instrument, await ask(options, { name: 'TIME_SERIES_DAILY', instrument, query }))
      const { endDate = '9999-12-31' } = query
      const wanted = bars.filter(({ date }) => date <= endDate).sort((a, b) => a.date.localeCompare(b.date))
      return checkedBars(SERVICE, wanted.slice(-query.count), localDate('us', options.clock()))
    },
  }
}

type Question = { name: string; instrument: Instrument; query: QuoteQuery }

async function ask(
  { url, key, fetch }: AlphaVantageOptions,
  { name, instrument: { code }, query: { signal } }: Question,
): Promise<Record<string, unknown>> {
  const parameters = new URLSearchParams({ function: name, symbol: symbolOf(code), apikey: key })
  const answer = await requestJson(`${url}/query?${parameters}`, {
    service: SERVICE,
    timeoutMs: 8_000,
    retries: 0,
    ...(fetch === undefined ? {} : { fetch }),
    ...(signal === undefined ? {} : { signal }),
  })
  const parsed = z.record(z.string(), z.unknown()).safeParse(answer)
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not an object')
  if ('Note' in parsed.data || 'Information' in parsed.data) {
    throw new UpstreamError({ service: SERVICE, reason: 'rate_limited', status: 200, detail: 'the limit of the key' })
  }
  if ('Error Message' in parsed.data) throw faulty(SERVICE, 'unknown_symbol', code)
  return parsed.data
}

function toQuote(instrument: Instrument, answer: Record<string, unknown>, now: number): Quote {
  const told = z.object({ 'Global Quote': z.unknown() }).safeParse(answer)
  const parsed = Quoted.safeParse(told.data?.['Global Quote'])
  // An unknown symbol is an empty object.
  if (!parsed.success) throw faulty(SERVICE, 'unknown_symbol', instrument.code)
  const quoted = parsed.data
  checkEcho(instrument, quoted['01. symbol'])
  const date = quoted['07. latest trading day']
  if (!isDate(date)) throw faulty(SERVICE, 'bad_dates', 'the quote has no day')
  const [price, prevClose] = [quoted['05. price'], quoted['08. previous close']]
  return {
    ...PRICES_ALONE,
    ...{ amount: null, name: null },
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: positive(quoted['02. open']),
    high: positive(quoted['03. high']),
    low: positive(quoted['04. low']),
    volume: quoted['06. volume'],
    // Only the day is given: the price is that of its close, or the current one while the market is open.
    quotedAt: Math.min(sessionEnd('us', date), now),
    currency: 'USD',
  }
}

function toBars(instrument: Instrument, answer: Record<string, unknown>): Bar[] {
  const parsed = Series.safeParse(answer)
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a series')
  checkEcho(instrument, parsed.data['Meta Data']['2. Symbol'])
  return Object.entries(parsed.data['Time Series (Daily)']).map(toBar)
}

const symbolOf = (code: string): string => code.replace('.', '-')
const positive = (value: number): number | null => (value > 0 ? value : null)

function checkEcho({ code }: Instrument, answered: string): void {
  if (answered.toUpperCase() !== symbolOf(code)) throw faulty(SERVICE, 'wrong_symbol', code)
}

function toBar([date, day]: [string, z.infer<typeof Day>]): Bar {
  return {
    date,
    open: day['1. open'],
    high: day['2. high'],
    low: day['3. low'],
    close: day['4. close'],
    volume: day['5. volume'],
    amount: null,
  }
}
