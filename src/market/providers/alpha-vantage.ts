// Alpha Vantage: American quotes and the last hundred bars, not adjusted. A free key has 25 requests a day; past them every
// answer is a note in prose.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, UpstreamError } from '../../lib/http-client.ts'
import type { Bar } from '../bars.ts'
import { localDate, sessionEnd } from '../calendar.ts'
import type { Instrument } from '../instruments.ts'
import { isDate } from '../zoned-time.ts'
import { changeOf, checkedBars, checkedQuote, faulty } from './checks.ts'
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
  async function ask(name: string, { code }: Instrument, { signal }: QuoteQuery): Promise<Record<string, unknown>> {
    const query = new URLSearchParams({ function: name, symbol: symbolOf(code), apikey: options.key })
    const answer = await requestJson(`${options.url}/query?${query}`, {
      service: SERVICE,
      timeoutMs: 8_000,
      retries: 0,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
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

  return {
    name: SERVICE,
    provenance: () => null,
    supports: ({ market, kind }, need) => isPriceNeed(need) && market === 'us' && kind !== 'index',
    async quote(instrument, query) {
      const answer = await ask('GLOBAL_QUOTE', instrument, query)
      const told = z.object({ 'Global Quote': z.unknown() }).safeParse(answer)
      const parsed = Quoted.safeParse(told.data?.['Global Quote'])
      // A symbol that it does not know is an empty object.
      if (!parsed.success) throw faulty(SERVICE, 'unknown_symbol', instrument.code)
      const quoted = parsed.data
      checkEcho(instrument, quoted['01. symbol'])
      const date = quoted['07. latest trading day']
      if (!isDate(date)) throw faulty(SERVICE, 'bad_dates', 'the quote has no day')
      const [price, prevClose] = [quoted['05. price'], quoted['08. previous close']]
      return checkedQuote(SERVICE, {
        ...UNKNOWN,
        price,
        prevClose,
        ...changeOf(price, prevClose),
        open: positive(quoted['02. open']),
        high: positive(quoted['03. high']),
        low: positive(quoted['04. low']),
        volume: quoted['06. volume'],
        // Only the day is told: the price is that of its end, or of now while it lasts.
        quotedAt: Math.min(sessionEnd('us', date), options.clock()),
        currency: 'USD',
      })
    },
    async dailyBars(instrument, query) {
      const parsed = Series.safeParse(await ask('TIME_SERIES_DAILY', instrument, query))
      if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a series')
      checkEcho(instrument, parsed.data['Meta Data']['2. Symbol'])
      const bars = Object.entries(parsed.data['Time Series (Daily)']).map(toBar)
      const { endDate = '9999-12-31' } = query
      const wanted = bars.filter(({ date }) => date <= endDate).sort((a, b) => a.date.localeCompare(b.date))
      return checkedBars(SERVICE, wanted.slice(-query.count), localDate('us', options.clock()))
    },
  }
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

/** What this service does not tell. */
const UNKNOWN = {
  amount: null,
  name: null,
  turnoverRatePct: null,
  volumeRatio: null,
  peRatio: null,
  pbRatio: null,
  totalMarketValue: null,
  circulatingMarketValue: null,
}
