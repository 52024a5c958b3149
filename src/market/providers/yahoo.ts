// Yahoo's chart endpoint, the one that needs neither cookie nor crumb: bars and the latest price in one
// answer. Days without trade are nulls in the arrays; prices are adjusted here by the adjusted close.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson } from '../../lib/http-client.ts'
import type { Bar, Quote } from '../bars.ts'
import { localDate } from '../calendar.ts'
import { currencyOf, type Instrument, yahooSymbol } from '../instruments.ts'
import { changeOf, checkedBars, checkedQuote, faulty, rounded } from './checks.ts'
import { type BarsQuery, isPriceNeed, type PriceProvider, type QuoteQuery } from './provider.ts'

export type YahooOptions = { url: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'yahoo'
const DAY_MS = 86_400_000
// Without a browser's name the endpoint answers 429 at once.
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36',
  accept: 'application/json',
}

const RANGES: [name: string, days: number][] = [
  ['1mo', 30],
  ['3mo', 90],
  ['6mo', 180],
  ['1y', 365],
  ['2y', 730],
  ['5y', 1826],
  ['10y', 3652],
]

const numbers = z.array(z.number().nullable()).optional()
const Chart = z.object({
  meta: z.object({
    symbol: z.string().optional(),
    currency: z.string().nullish(),
    regularMarketPrice: z.number().nullish(),
    regularMarketTime: z.number().nullish(),
    chartPreviousClose: z.number().nullish(),
    longName: z.string().nullish(),
    shortName: z.string().nullish(),
  }),
  timestamp: z.array(z.number()).optional(),
  indicators: z.object({
    quote: z.array(z.object({ open: numbers, high: numbers, low: numbers, close: numbers, volume: numbers })),
    adjclose: z.array(z.object({ adjclose: numbers })).optional(),
  }),
})
type Chart = z.infer<typeof Chart>
const Answer = z.object({ chart: z.object({ result: z.array(Chart).nullish() }) })

export function yahooProvider(options: YahooOptions): PriceProvider {
  async function chart(instrument: Instrument, range: string, { signal }: QuoteQuery): Promise<Chart> {
    const symbol = yahooSymbol(instrument)
    if (symbol === null) throw faulty(SERVICE, 'unknown_symbol', instrument.key)
    const path = `/v8/finance/chart/${encodeURIComponent(symbol)}?range=${range}&interval=1d&events=div,split`
    const answer = await requestJson(options.url + path, {
      service: SERVICE,
      headers: HEADERS,
      timeoutMs: 5_000,
      retries: 1,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      ...(signal === undefined ? {} : { signal }),
    })
    return chartOf(symbol, answer)
  }

  return {
    name: SERVICE,
    provenance: () => null,
    supports: (instrument, need) => isPriceNeed(need) && yahooSymbol(instrument) !== null,
    async quote(instrument, query) {
      return checkedQuote(SERVICE, toQuote(instrument, await chart(instrument, '5d', query)))
    },
    async dailyBars(instrument, query) {
      const now = options.clock()
      const bars = toBars(instrument, await chart(instrument, rangeFor(query, now), query), true)
      const { endDate = '9999-12-31' } = query
      const wanted = bars.filter(({ date }) => date <= endDate).slice(-query.count)
      return checkedBars(SERVICE, wanted, localDate(instrument.market, now))
    },
  }
}

function chartOf(symbol: string, answer: unknown): Chart {
  const parsed = Answer.safeParse(answer)
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a chart')
  const chart = parsed.data.chart.result?.[0]
  if (!chart) throw faulty(SERVICE, 'unknown_symbol', symbol)
  const answered = chart.meta.symbol ?? symbol
  if (answered.toUpperCase() !== symbol.toUpperCase()) throw faulty(SERVICE, 'wrong_symbol', symbol)
  return chart
}

/** The shortest range that reaches back far enough from today, holidays included. */
function rangeFor({ count, endDate }: BarsQuery, now: number): string {
  const sinceEnd = endDate === undefined ? 0 : Math.max(0, (now - Date.parse(endDate)) / DAY_MS)
  const days = sinceEnd + (count * 7) / 5 + 20
  return RANGES.find(([, reach]) => reach >= days)?.[0] ?? 'max'
}

/** One bar for each timestamp whose prices are all there. */
function toBars({ market }: Instrument, chart: Chart, adjusted: boolean): Bar[] {
  const prices = chart.indicators.quote[0] ?? {}
  const adjustedCloses = adjusted ? chart.indicators.adjclose?.[0]?.adjclose : undefined
  return (chart.timestamp ?? []).flatMap((seconds, i) => {
    const open = prices.open?.[i] ?? null
    const high = prices.high?.[i] ?? null
    const low = prices.low?.[i] ?? null
    const close = prices.close?.[i] ?? null
    const adjustedClose = adjustedCloses === undefined ? close : (adjustedCloses[i] ?? null)
    if (open === null || high === null || low === null || close === null || adjustedClose === null) return []
    const adjust = (price: number) => rounded((price * adjustedClose) / close, 6)
    const date = localDate(market, seconds * 1000)
    const volume = prices.volume?.[i] ?? 0
    return [
      { date, open: adjust(open), high: adjust(high), low: adjust(low), close: adjust(close), volume, amount: null },
    ]
  })
}

function toQuote(instrument: Instrument, chart: Chart): Quote {
  const { meta } = chart
  const price = meta.regularMarketPrice ?? Number.NaN
  if (!meta.regularMarketTime) throw faulty(SERVICE, 'bad_dates', 'the quote has no time')
  const quotedAt = meta.regularMarketTime * 1000
  const today = localDate(instrument.market, quotedAt)
  const bars = toBars(instrument, chart, false)
  const bar = bars.find(({ date }) => date === today)
  // The answer's own "previous close" is the one before the whole range, so it is the last resort.
  const prevClose = bars.findLast(({ date }) => date < today)?.close ?? meta.chartPreviousClose ?? Number.NaN
  return {
    ...UNKNOWN,
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: bar?.open ?? null,
    high: bar?.high ?? null,
    low: bar?.low ?? null,
    volume: bar?.volume ?? null,
    quotedAt,
    name: meta.longName ?? meta.shortName ?? null,
    currency: meta.currency ?? currencyOf(instrument),
  }
}

/** What this endpoint does not tell. */
const UNKNOWN = {
  amount: null,
  turnoverRatePct: null,
  volumeRatio: null,
  peRatio: null,
  pbRatio: null,
  totalMarketValue: null,
  circulatingMarketValue: null,
}
