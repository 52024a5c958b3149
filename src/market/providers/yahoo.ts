// Yahoo: bars and the latest price from its charts. Days without trades are nulls in the arrays; prices are adjusted
// here with the adjusted close. Company data is in a separate file.

import type { Bar, Quote } from '../bars.ts'
import { localDate, minuteOfDay } from '../calendar.ts'
import type { VolumePart } from '../day-volumes.ts'
import { currencyOf, type Instrument, yahooSymbol } from '../instruments.ts'
import {
  changeOf,
  checkedBars,
  checkedParts,
  checkedQuote,
  faulty,
  PRICES_ALONE,
  rounded,
  withoutNoise,
} from './checks.ts'
import { yahooEvents } from './company-events.ts'
import {
  type BarsQuery,
  isPriceNeed,
  type MarketDataProvider,
  type MarketNeed,
  type PriceProvider,
  type QuoteQuery,
} from './provider.ts'
import { fundamentals } from './yahoo-fundamentals.ts'
import { type Chart, chartOf, SERVICE, type YahooOptions } from './yahoo-http.ts'

const DAY_MS = 86_400_000

const RANGES: [name: string, days: number][] = [
  ['1mo', 30],
  ['3mo', 90],
  ['6mo', 180],
  ['1y', 365],
  ['2y', 730],
  ['5y', 1826],
  ['10y', 3652],
]

type YahooProvider = PriceProvider & Pick<MarketDataProvider, 'fundamentals' | 'dayVolumes' | 'companyEvents'>

export function yahooProvider(options: YahooOptions): YahooProvider {
  const chart = (instrument: Instrument, range: string, query: QuoteQuery) =>
    chartOf(options, { instrument, range, events: 'div,split' }, query)
  return {
    name: SERVICE,
    provenance: () => null,
    supports,
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
    async dayVolumes(instrument, query) {
      const question = { instrument, range: '1mo', interval: '5m', events: 'div' } as const
      const parts = toParts(instrument, await chartOf(options, question, query))
      return checkedParts(SERVICE, parts, localDate(instrument.market, options.clock()))
    },
    companyEvents: (instrument, query) => yahooEvents(options, instrument, query),
    fundamentals: (instrument, query) => fundamentals(options, instrument, query),
  }
}

/** For mainland companies other sources have more data, and in another form: the year up to a day, not three months. */
function supports(instrument: Instrument, need: MarketNeed): boolean {
  if (yahooSymbol(instrument) === null) return false
  const { market, kind } = instrument
  // Its mainland minutes are late, and its indices have no volumes.
  if (need === 'intraday_volume') return market !== 'cn' && kind !== 'index'
  return (
    isPriceNeed(need) || ((need === 'fundamentals' || need === 'company_events') && market !== 'cn' && kind === 'stock')
  )
}

/** The shortest range that goes back far enough from today, including holidays. */
function rangeFor({ count, endDate }: BarsQuery, now: number): string {
  const sinceEnd = endDate === undefined ? 0 : Math.max(0, (now - Date.parse(endDate)) / DAY_MS)
  const days = sinceEnd + (count * 7) / 5 + 20
  return RANGES.find(([, reach]) => reach >= days)?.[0] ?? 'max'
}

/** One bar for each timestamp with all prices. */
function toBars({ market }: Instrument, chart: Chart, adjusted: boolean): Bar[] {
  const prices = chart.indicators.quote[0] ?? {}
  const adjustedCloses = adjusted ? chart.indicators.adjclose?.[0]?.adjclose : undefined
  const timestamps = chart.timestamp ?? []
  const columns = [prices.open, prices.high, prices.low, prices.close, prices.volume, adjustedCloses]
  // If a value is missing in a column, every later value would belong to the wrong day.
  const isWhole = (column: unknown[] | undefined) => column === undefined || column.length === timestamps.length
  if (timestamps.length > 0 && !columns.every(isWhole)) {
    throw faulty(SERVICE, 'malformed', 'columns of different lengths')
  }
  return timestamps.flatMap((seconds, i) => {
    const open = toldPrice(prices.open?.[i])
    const high = toldPrice(prices.high?.[i])
    const low = toldPrice(prices.low?.[i])
    const close = toldPrice(prices.close?.[i])
    const adjustedClose = adjustedCloses === undefined ? close : toldPrice(adjustedCloses[i])
    if (open === null || high === null || low === null || close === null || adjustedClose === null) return []
    const adjust = (price: number) => rounded((price * adjustedClose) / close, 6)
    const date = localDate(market, seconds * 1000)
    const volume = prices.volume?.[i] ?? 0
    return [
      { date, open: adjust(open), high: adjust(high), low: adjust(low), close: adjust(close), volume, amount: null },
    ]
  })
}

const PART_MS = 5 * 60_000

/**
 * Its parts have the time at which they begin. The newest one may have the time of the last trade instead, and has no
 * volume.
 */
function toParts({ market }: Instrument, chart: Chart): VolumePart[] {
  const [volumes, timestamps] = [chart.indicators.quote[0]?.volume ?? [], chart.timestamp ?? []]
  if (volumes.length !== timestamps.length) throw faulty(SERVICE, 'malformed', 'columns of different lengths')
  return timestamps.flatMap((seconds, i) => {
    const volume = volumes[i] ?? null
    const end = seconds * 1000 + PART_MS
    if (volume === null || end % PART_MS !== 0) return []
    return [{ date: localDate(market, seconds * 1000), until: minuteOfDay(market, end), volume }]
  })
}

/** Prices have 32-bit precision. */
const toldPrice = (price: number | null | undefined): number | null => (price == null ? null : withoutNoise(price))

function toQuote(instrument: Instrument, chart: Chart): Quote {
  const { meta } = chart
  const price = toldPrice(meta.regularMarketPrice) ?? Number.NaN
  if (!meta.regularMarketTime) throw faulty(SERVICE, 'bad_dates', 'the quote has no time')
  const quotedAt = meta.regularMarketTime * 1000
  const today = localDate(instrument.market, quotedAt)
  const bars = toBars(instrument, chart, false)
  const bar = bars.find(({ date }) => date === today)
  // The answer's own "previous close" is the one before the whole range, so it is used last.
  const prevClose = bars.findLast(({ date }) => date < today)?.close ?? toldPrice(meta.chartPreviousClose) ?? Number.NaN
  return {
    ...PRICES_ALONE,
    ...{ amount: null },
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
