// Tencent's public quote and daily bar services. Quotes are lines of fields joined by `~`, in GBK; the meaning of a field
// depends on the market. Neither service is documented or guaranteed, so every answer is checked.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, requestText } from '../../lib/http-client.ts'
import type { Bar, Quote } from '../bars.ts'
import { localDate } from '../calendar.ts'
import { type Instrument, tencentSymbol } from '../instruments.ts'
import { addDays } from '../zoned-time.ts'
import { checkedBars, checkedQuote, faulty } from './checks.ts'
import { type BarsQuery, isPriceNeed, type PriceProvider, type QuoteQuery } from './provider.ts'
import { quoteFields, toQuote } from './tencent-quote.ts'

export type TencentOptions = { quoteUrl: string; klineUrl: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'tencent'
const MOST_BARS = 800
const REQUEST = { service: SERVICE, timeoutMs: 5_000, retries: 1 } as const
const LOT = 100

export function tencentProvider(options: TencentOptions): PriceProvider {
  // The bar service wants a US symbol with its venue (`usAAPL.OQ`), which only the quote tells.
  const venueSymbols = new Map<string, string>()
  const rememberVenue = (symbol: string, fields: string[]) => {
    if (symbol.startsWith('us')) venueSymbols.set(symbol, `us${fields[2] ?? ''}`)
  }

  async function fields(instrument: Instrument, query: QuoteQuery): Promise<string[]> {
    const symbol = symbolOf(instrument)
    const text = await requestText(`${options.quoteUrl}/q=${symbol}`, { ...requestOf(options, query), encoding: 'gbk' })
    const found = quoteFields(SERVICE, symbol, text)
    rememberVenue(symbol, found)
    return found
  }

  async function barSymbol(instrument: Instrument, query: BarsQuery): Promise<string> {
    const symbol = symbolOf(instrument)
    if (instrument.market !== 'us') return symbol
    if (!venueSymbols.has(symbol)) await fields(instrument, query)
    return venueSymbols.get(symbol) ?? symbol
  }

  return {
    name: SERVICE,
    provenance: () => null,
    supports: (instrument, need) => isPriceNeed(need) && tencentSymbol(instrument) !== null,
    async quote(instrument, query) {
      const quote: Quote = toQuote(SERVICE, instrument, await fields(instrument, query), options.clock())
      return checkedQuote(SERVICE, quote)
    },
    async dailyBars(instrument, query) {
      const symbol = await barSymbol(instrument, query)
      const today = localDate(instrument.market, options.clock())
      const url = `${options.klineUrl}/appstock/app/fqkline/get?param=${barParameter(symbol, query, today)}`
      const rows = barRows(symbol, await requestJson(url, requestOf(options, query)))
      const bars = rows.map((row) => toBar(row, instrument)).slice(-query.count)
      return checkedBars(SERVICE, bars, today)
    },
  }
}

function requestOf({ fetch }: TencentOptions, { signal }: QuoteQuery) {
  return { ...REQUEST, ...(fetch === undefined ? {} : { fetch }), ...(signal === undefined ? {} : { signal }) }
}

function symbolOf(instrument: Instrument): string {
  const symbol = tencentSymbol(instrument)
  if (symbol === null) throw faulty(SERVICE, 'unknown_symbol', instrument.key)
  return symbol
}

function barParameter(symbol: string, { count, endDate }: BarsQuery, today: string): string {
  const end = endDate ?? today
  // Seven days hold five sessions at most; the rest is room for the longest holidays.
  const start = addDays(end, -Math.ceil((count * 7) / 5) - 20)
  return [symbol, 'day', start, end, Math.min(count, MOST_BARS), 'qfq'].join(',')
}

// A row is date, open, close, high, low, volume; what may follow (a dividend, more figures) is not used.
const Row = z.tuple([z.string()], z.unknown())
const Series = z.object({ qfqday: z.array(Row).optional(), day: z.array(Row).optional() })
const Answer = z.object({ data: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullish() })

function barRows(symbol: string, answer: unknown): z.infer<typeof Row>[] {
  const { data } = parsed(Answer, answer)
  // For an unknown symbol, and after too many requests, the answer is an empty list.
  if (!data || Array.isArray(data) || Object.keys(data).length === 0) throw faulty(SERVICE, 'empty', 'no series')
  if (!(symbol in data)) throw faulty(SERVICE, 'wrong_symbol', 'the series is of another symbol')
  const series = parsed(Series, data[symbol])
  return series.qfqday ?? series.day ?? []
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (!result.success) throw faulty(SERVICE, 'malformed', 'not the known form of a series')
  return result.data
}

function toBar(row: z.infer<typeof Row>, instrument: Instrument): Bar {
  const [date, ...rest] = row
  const [open = Number.NaN, close = Number.NaN, high = Number.NaN, low = Number.NaN, volume = Number.NaN] = rest
    .slice(0, 5)
    .map(toNumber)
  return { date, open, high, low, close, volume: instrument.market === 'cn' ? volume * LOT : volume, amount: null }
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
