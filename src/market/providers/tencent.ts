// Tencent's public quote and daily bar services. Quotes are lines of fields separated by `~`, in GBK; the meaning of a
// field depends on the market. Neither service is documented or guaranteed, so every answer is validated.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, requestText, UpstreamError } from '../../lib/http-client.ts'
import type { Bar, Quote } from '../bars.ts'
import { addDays, instantAt, isDate, localDate, marketZone } from '../calendar.ts'
import { currencyOf, type Instrument, tencentSymbol } from '../instruments.ts'
import { changeOf, checkedBars, checkedQuote, faulty } from './checks.ts'
import { type BarsQuery, isPriceNeed, type PriceProvider, type QuoteQuery } from './provider.ts'

export type TencentOptions = { quoteUrl: string; klineUrl: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'tencent'
const MOST_BARS = 800
/** Symbols in one request for quotes. */
const MOST_QUOTES = 60
const REQUEST = { service: SERVICE, timeoutMs: 5_000, retries: 1 } as const
const LOT = 100

export function tencentProvider(options: TencentOptions): PriceProvider {
  const { fields, barSymbol } = symbolsOf(options)
  return {
    name: SERVICE,
    provenance: () => null,
    supports: (instrument, need) => isPriceNeed(need) && tencentSymbol(instrument) !== null,
    async quote(instrument, query) {
      const quote: Quote = toQuote(SERVICE, instrument, await fields(instrument, query), options.clock())
      return checkedQuote(SERVICE, quote)
    },
    quotes: {
      atOnce: MOST_QUOTES,
      async ask(instruments, query) {
        const symbols = instruments.map(symbolOf)
        const url = `${options.quoteUrl}/q=${symbols.join(',')}`
        const text = await requestText(url, { ...requestOf(options, query), encoding: 'gbk' })
        return listedQuotes(instruments, text, options.clock())
      },
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

/** The bar service needs a US symbol with its exchange (`usAAPL.OQ`), which only the quote contains. */
function symbolsOf(options: TencentOptions) {
  const venueSymbols = new Map<string, string>()

  async function fields(instrument: Instrument, query: QuoteQuery): Promise<string[]> {
    const symbol = symbolOf(instrument)
    const text = await requestText(`${options.quoteUrl}/q=${symbol}`, { ...requestOf(options, query), encoding: 'gbk' })
    const found = quoteFields(SERVICE, symbol, text)
    if (symbol.startsWith('us')) venueSymbols.set(symbol, `us${found[2] ?? ''}`)
    return found
  }

  async function barSymbol(instrument: Instrument, query: BarsQuery): Promise<string> {
    const symbol = symbolOf(instrument)
    if (instrument.market !== 'us') return symbol
    if (!venueSymbols.has(symbol)) await fields(instrument, query)
    return venueSymbols.get(symbol) ?? symbol
  }

  return { fields, barSymbol }
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

// A row is date, open, close, high, low, volume; further fields (a dividend, more figures) are not used.
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

// One line of Tencent's quote list, `v_sh600519="1~name~code~price~…";`, converted to a quote.

// Positions that all markets share, then those with another or unknown meaning elsewhere.
const FIELD = { name: 1, code: 2, price: 3, prevClose: 4, open: 5, volume: 6, time: 30, high: 33, low: 34, amount: 37 }
const CAPITAL = { circulating: 44, total: 45 }
const MAINLAND = { turnoverPct: 38, pe: 39, pb: 46, volumeRatio: 49, floatShares: 72 }
const AMERICA = { pe: 39, pb: 47 }

const HUNDRED_MILLION = 100_000_000
const TEN_THOUSAND = 10_000
const DAY_MS = 86_400_000

/** The fields of the symbol's line, if the line exists and belongs to that symbol. */
function quoteFields(service: string, symbol: string, text: string): string[] {
  const lines = [...text.matchAll(/v_([^=\s]+)="([^"]*)"/g)]
  if (lines.length === 0) throw faulty(service, 'malformed', 'no quote line')
  const line = lines.find(([, name]) => name?.toLowerCase() === symbol.toLowerCase())
  if (!line) {
    const unknown = lines.some(([, name]) => name === 'pv_none_match')
    throw faulty(service, unknown ? 'unknown_symbol' : 'wrong_symbol', symbol)
  }
  const fields = (line[2] ?? '').split('~')
  if (!echoes(symbol.slice(2), fields[FIELD.code] ?? '')) throw faulty(service, 'wrong_symbol', symbol)
  return fields
}

/** The valid quotes of the list; an error in one does not affect the others. */
function listedQuotes(instruments: readonly Instrument[], text: string, now: number): Map<string, Quote> {
  const told = new Map<string, Quote>()
  for (const instrument of instruments) {
    try {
      const found = quoteFields(SERVICE, symbolOf(instrument), text)
      told.set(instrument.key, checkedQuote(SERVICE, toQuote(SERVICE, instrument, found, now)))
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
    }
  }
  if (told.size === 0) throw faulty(SERVICE, 'empty', 'none of the quotes is right')
  return told
}

/** The code as sent, or as the US list writes it: with an exchange after it (`AAPL.OQ`) or a dot before it (`.INX`). */
function echoes(asked: string, answered: string): boolean {
  const [want, got] = [asked.toUpperCase(), answered.toUpperCase()]
  return got === want || got.startsWith(`${want}.`) || got === `.${want}`
}

function toQuote(service: string, instrument: Instrument, fields: string[], now: number): Quote {
  const { market } = instrument
  const number = (index: number): number | null => numberOrNull(fields[index])
  const positive = (index: number): number | null => nullUnless((value) => value > 0, number(index))
  const ofMarket = (index: number, ...markets: string[]) => (markets.includes(market) ? number(index) : null)
  const price = number(FIELD.price) ?? Number.NaN
  const prevClose = number(FIELD.prevClose) ?? Number.NaN
  const volume = sharesTraded(instrument, fields)
  const hundredMillions = (index: number) => scaled(positive(index), HUNDRED_MILLION)
  return {
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: positive(FIELD.open),
    high: positive(FIELD.high),
    low: positive(FIELD.low),
    volume,
    amount: turnover(instrument, positive(FIELD.amount), (volume ?? 0) * price),
    quotedAt: quoteTime(service, instrument, fields[FIELD.time] ?? '', now),
    name: fields[FIELD.name]?.trim() || null,
    currency: currency(instrument, fields),
    turnoverRatePct: market === 'cn' ? positive(MAINLAND.turnoverPct) : null,
    volumeRatio: market === 'cn' ? positive(MAINLAND.volumeRatio) : null,
    // A loss gives a negative ratio, which is a valid figure; the source writes zero for "none".
    peRatio: nullUnless((value) => value !== 0, ofMarket(market === 'us' ? AMERICA.pe : MAINLAND.pe, 'cn', 'hk', 'us')),
    pbRatio: nullUnless((value) => value > 0, ofMarket(market === 'us' ? AMERICA.pb : MAINLAND.pb, 'cn', 'us')),
    totalMarketValue: hundredMillions(CAPITAL.total),
    circulatingMarketValue: market === 'us' ? null : hundredMillions(CAPITAL.circulating),
  }
}

/** Mainland volume is in lots, except for a few symbols where it is in shares: the turnover shows which. */
function sharesTraded({ market }: Instrument, fields: string[]): number | null {
  const volume = numberOrNull(fields[FIELD.volume])
  if (volume === null || volume < 0 || market !== 'cn') return volume
  const turnoverPct = numberOrNull(fields[MAINLAND.turnoverPct]) ?? 0
  const expected = ((numberOrNull(fields[MAINLAND.floatShares]) ?? 0) * turnoverPct) / 100
  const alreadyShares = expected > 0 && volume > expected / 3 && volume < expected * 3
  return alreadyShares ? volume : volume * LOT
}

/** Mainland turnover is in units of ten thousand. Elsewhere the unit is chosen that matches price times volume. */
function turnover({ market }: Instrument, amount: number | null, traded: number): number | null {
  if (amount === null) return null
  if (market === 'cn') return amount * TEN_THOUSAND
  const fits = (value: number) => value > traded / 2 && value < traded * 2
  return [amount, amount * TEN_THOUSAND].find(fits) ?? null
}

function quoteTime(service: string, { market }: Instrument, text: string, now: number): number {
  const digits = text.replace(/\D/g, '')
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(digits) ?? []
  const date = `${year}-${month}-${day}`
  if (!isDate(date)) throw faulty(service, 'bad_dates', 'the quote has no time')
  const at = instantAt(date, Number(hour) * 3600 + Number(minute) * 60 + Number(second), marketZone(market))
  if (at > now + DAY_MS) throw faulty(service, 'bad_dates', `${date} has not come yet`)
  return at
}

/** A few Hong Kong listings trade in another currency, given in the third field from the end. */
function currency(instrument: Instrument, fields: string[]): string {
  const told = instrument.market === 'hk' ? (fields.at(-3) ?? '') : ''
  return /^[A-Z]{3}$/.test(told) ? told : currencyOf(instrument)
}

function numberOrNull(text: string | undefined): number | null {
  if (text === undefined || text.trim() === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

function nullUnless(test: (value: number) => boolean, value: number | null): number | null {
  return value !== null && test(value) ? value : null
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : Math.round(value * factor)
}
