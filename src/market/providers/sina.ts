// Sina's quote list, lines of comma-separated fields in GBK, and its daily bars of the mainland. The bars are not
// adjusted for splits and dividends, so other sources precede it.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, requestText } from '../../lib/http-client.ts'
import type { Bar, Quote } from '../bars.ts'
import { instantAt, isDate, localDate, marketZone } from '../calendar.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { changeOf, checkedBars, checkedQuote, faulty, PRICES_ALONE } from './checks.ts'
import { isPriceNeed, type PriceProvider, type QuoteQuery } from './provider.ts'

export type SinaOptions = { quoteUrl: string; klineUrl: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'sina'
const MOST_BARS = 1_023
const DAY_MS = 86_400_000
// Without it the list answers 403.
const HEADERS = { referer: 'https://finance.sina.com.cn' }

type Positions = {
  name: number
  price: number
  prevClose: number
  open: number
  high: number
  low: number
  volume: number
}

const POSITIONS: Record<'cn' | 'hk' | 'us', Positions> = {
  cn: { name: 0, open: 1, prevClose: 2, price: 3, high: 4, low: 5, volume: 8 },
  hk: { name: 1, open: 2, prevClose: 3, high: 4, low: 5, price: 6, volume: 12 },
  us: { name: 0, price: 1, open: 5, high: 6, low: 7, volume: 10, prevClose: 26 },
}
const AMOUNT: Partial<Record<string, number>> = { cn: 9, hk: 11 }

export function sinaProvider(options: SinaOptions): PriceProvider {
  const request = ({ signal }: QuoteQuery) => ({
    service: SERVICE,
    headers: HEADERS,
    timeoutMs: 5_000,
    retries: 1,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(signal === undefined ? {} : { signal }),
  })
  return {
    name: SERVICE,
    provenance: () => null,
    supports(instrument, need) {
      if (need === 'daily_data') return instrument.market === 'cn'
      return isPriceNeed(need) && quoteSymbol(instrument) !== null
    },
    async quote(instrument, query) {
      const symbol = quoteSymbol(instrument)
      if (symbol === null) throw faulty(SERVICE, 'unknown_symbol', instrument.key)
      const text = await requestText(`${options.quoteUrl}/list=${symbol}`, { ...request(query), encoding: 'gb18030' })
      return checkedQuote(SERVICE, toQuote(instrument, fieldsOf(symbol, text), options.clock()))
    },
    async dailyBars(instrument, query) {
      const today = localDate(instrument.market, options.clock())
      const end = query.endDate ?? today
      const symbol = instrument.exchange.toLowerCase() + instrument.code
      const days = (Date.parse(today) - Date.parse(end)) / DAY_MS
      const length = Math.min(MOST_BARS, query.count + Math.max(0, Math.ceil((days * 5) / 7)))
      const path = `/cn/api/openapi.php/CN_MarketDataService.getKLineData?symbol=${symbol}&scale=240&ma=no&datalen=${length}`
      const parsed = Answer.safeParse(await requestJson(options.klineUrl + path, request(query)))
      if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a series')
      const bars = (parsed.data.result.data ?? [])
        .map((row) => toBar(row, instrument))
        .filter(({ date }) => date <= end)
      return checkedBars(SERVICE, bars.slice(-query.count), today)
    },
  }
}

function quoteSymbol({ market, kind, exchange, code }: Instrument): string | null {
  if (market === 'cn') return exchange.toLowerCase() + code
  if (kind === 'index') return null
  if (market === 'hk') return `rt_hk${code}`
  return market === 'us' ? `gb_${code.toLowerCase().replace('.', '$')}` : null
}

/** The fields of the symbol's line. The line of an unknown symbol is empty. */
function fieldsOf(symbol: string, text: string): string[] {
  const lines = [...text.matchAll(/hq_str_([^=\s]+)="([^"]*)"/g)]
  if (lines.length === 0) throw faulty(SERVICE, 'malformed', 'no quote line')
  const line = lines.find(([, name]) => name === symbol)
  if (!line) throw faulty(SERVICE, 'wrong_symbol', symbol)
  if (!line[2]) throw faulty(SERVICE, 'unknown_symbol', symbol)
  return line[2].split(',')
}

function toQuote(instrument: Instrument, fields: string[], now: number): Quote {
  const { market, kind } = instrument
  const at = POSITIONS[market === 'hk' || market === 'us' ? market : 'cn']
  const number = (index: number | undefined): number | null => {
    const text = index === undefined ? '' : (fields[index] ?? '').trim()
    return text !== '' && Number.isFinite(Number(text)) ? Number(text) : null
  }
  const positive = (index: number | undefined): number | null => {
    const value = number(index)
    return value !== null && value > 0 ? value : null
  }
  const price = number(at.price) ?? Number.NaN
  const prevClose = number(at.prevClose) ?? Number.NaN
  return {
    ...PRICES_ALONE,
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: positive(at.open),
    high: positive(at.high),
    low: positive(at.low),
    // Indices count in lots, or have no unit.
    volume: kind === 'index' ? null : number(at.volume),
    amount: positive(AMOUNT[market]),
    quotedAt: quoteTime(instrument, fields, now),
    name: fields[at.name]?.trim() || null,
    currency: currencyOf(instrument),
  }
}

/** Mainland and Hong Kong times are local; US quotes have Beijing time. */
function quoteTime({ market }: Instrument, fields: string[], now: number): number {
  const [day = '', clock = ''] =
    market === 'us' ? (fields[3] ?? '').split(' ') : market === 'hk' ? fields.slice(17, 19) : fields.slice(30, 32)
  const date = day.replaceAll('/', '-')
  const [, hour, minute, second = '0'] = /^(\d\d):(\d\d)(?::(\d\d))?/.exec(clock) ?? []
  if (!isDate(date) || hour === undefined) throw faulty(SERVICE, 'bad_dates', 'the quote has no time')
  const secondOfDay = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  const at = instantAt(date, secondOfDay, marketZone(market === 'hk' ? 'hk' : 'cn'))
  if (at > now + DAY_MS) throw faulty(SERVICE, 'bad_dates', `${date} has not come yet`)
  return at
}

const text = z.union([z.string(), z.number()]).transform(Number)
const Row = z.object({ day: z.string(), open: text, high: text, low: text, close: text, volume: text })
const Answer = z.object({ result: z.object({ data: z.array(Row).nullish() }) })

/** The volume is in shares; that of an index is not, and is left out. */
function toBar({ day, open, high, low, close, volume }: z.infer<typeof Row>, { kind }: Instrument): Bar {
  return { date: day.slice(0, 10), open, high, low, close, volume: kind === 'index' ? 0 : volume, amount: null }
}

const Node = z.array(z.object({ code: z.string(), name: z.string() }))
const PAGE_SIZE = 100
const MOST_PAGES = 100

/** Code and name of every mainland stock, page by page. */
export async function sinaMainlandList(
  options: SinaOptions & { pause: () => Promise<void> },
): Promise<{ code: string; name: string }[]> {
  const listed: { code: string; name: string }[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    const path = `/cn/api/json_v2.php/Market_Center.getHQNodeData?page=${page}&num=${PAGE_SIZE}&sort=symbol&asc=1&node=hs_a`
    const answer = await requestJson(options.klineUrl + path, {
      service: SERVICE,
      headers: HEADERS,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    })
    const rows = Node.safeParse(answer)
    if (!rows.success) throw faulty(SERVICE, 'malformed', `page ${page} of the list`)
    listed.push(...rows.data.map(({ code, name }) => ({ code, name })))
    if (rows.data.length < PAGE_SIZE) return listed
    await options.pause()
  }
  throw faulty(SERVICE, 'malformed', 'a list without an end')
}
