// EastMoney's boards: those of a stock, the strongest and weakest of the day, and the lists of stocks and funds from
// which names are refreshed.

import { z } from 'zod'
import { UpstreamError } from '../../lib/http-client.ts'
import type { Quote } from '../bars.ts'
import type { Board, BoardRankings, RankedBoard, RankedEnds } from '../company.ts'
import { currencyOf, type Instrument, type Market, parseCode } from '../instruments.ts'
import { changeOf, checkedQuote, faulty } from './checks.ts'
import { ask, type EastMoneyOptions, Figure, SERVICE, secids } from './eastmoney-http.ts'
import type { QuoteQuery } from './provider.ts'

const ENDS = 5
const PAGE_SIZE = 100

const Row = z.object({
  f3: Figure,
  f12: z.string(),
  f14: z.string(),
  f62: Figure,
  f104: Figure,
  f105: Figure,
  f128: z.string().nullish(),
})
type Row = z.infer<typeof Row>

// Small lists are arrays, some others are objects with numbered keys.
const Page = z.object({
  data: z
    .object({
      total: z.number(),
      diff: z.union([z.array(Row), z.record(z.string(), Row).transform(Object.values<Row>)]),
    })
    .nullish(),
})

export async function boardsOf(options: EastMoneyOptions, instrument: Instrument, query: QuoteQuery): Promise<Board[]> {
  const [secid = ''] = secids(instrument)
  const url = `${options.quoteUrl}/api/qt/slist/get?spt=3&secid=${secid}&pi=0&pz=50&po=1&fltt=2&fields=f12,f13,f14,f3`
  const { data } = await ask(options, url, { schema: Page, query })
  const boards = (data?.diff ?? []).map(({ f12, f14, f3 }) => ({ code: f12, name: f14.trim(), changePct: f3 }))
  if (boards.length === 0) throw faulty(SERVICE, 'empty', 'no boards')
  if (boards.some(({ code, name }) => !/^BK\d{4}$/.test(code) || name === ''))
    throw faulty(SERVICE, 'malformed', 'no board')
  return boards
}

export async function rankings(options: EastMoneyOptions, query: QuoteQuery): Promise<BoardRankings> {
  return { industries: await ends(options, 'm:90+t:2', query), concepts: await ends(options, 'm:90+t:3', query) }
}

/** One page contains both ends if it holds all boards. */
async function ends(options: EastMoneyOptions, group: string, query: QuoteQuery): Promise<RankedEnds> {
  const url = (descending: 0 | 1) => {
    const order = `fid=f3&po=${descending}&pn=1&pz=${PAGE_SIZE}&np=1&fltt=2&invt=2`
    return `${options.quoteUrl}/api/qt/clist/get?${order}&fs=${group}&fields=f3,f12,f14,f62,f104,f105,f128`
  }
  const down = await ask(options, url(1), { schema: Page, query })
  const falling = down.data?.diff ?? []
  const total = down.data?.total ?? 0
  if (falling.length === 0) throw faulty(SERVICE, 'empty', 'no boards')
  const isWhole = falling.length >= total
  const rising = isWhole
    ? falling.toReversed()
    : ((await ask(options, url(0), { schema: Page, query })).data?.diff ?? [])
  return {
    top: falling.slice(0, ENDS).map((row, i) => toRanked(row, i + 1)),
    bottom: rising.slice(0, ENDS).map((row, i) => toRanked(row, total - i)),
  }
}

function toRanked(row: Row, rank: number): RankedBoard {
  if (!/^BK\d{4}$/.test(row.f12) || row.f14.trim() === '') throw faulty(SERVICE, 'malformed', 'no board')
  return {
    code: row.f12,
    name: row.f14.trim(),
    changePct: row.f3,
    rank,
    risingCount: row.f104,
    fallingCount: row.f105,
    leader: row.f128?.trim() || null,
    mainNet: row.f62,
  }
}

type ListedRow = { code: string; name: string }

const MAINLAND = 'm:0+t:6,m:0+t:80,m:1+t:2,m:1+t:23,m:0+t:81+s:2048'
const HONG_KONG = 'm:128+t:3,m:128+t:4,m:128+t:1,m:128+t:2'
const FUNDS = 'b:MK0021,b:MK0022,b:MK0023,b:MK0024'
const MOST_PAGES = 100

/** Code and name of every mainland stock, page by page: takes about a minute at EastMoney's rate limit. */
export const mainlandList = (options: EastMoneyOptions, query: QuoteQuery): Promise<ListedRow[]> =>
  wholeList(options, MAINLAND, query)

/** The same for Hong Kong's main board and growth market, including REITs and funds. */
export const hongKongList = (options: EastMoneyOptions, query: QuoteQuery): Promise<ListedRow[]> =>
  wholeList(options, HONG_KONG, query)

/** The same for the funds that trade in Shanghai and Shenzhen. */
export const fundList = (options: EastMoneyOptions, query: QuoteQuery): Promise<ListedRow[]> =>
  wholeList(options, FUNDS, query)

async function wholeList(options: EastMoneyOptions, group: string, query: QuoteQuery): Promise<ListedRow[]> {
  const listed: ListedRow[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    const order = `fid=f12&po=0&pn=${page}&pz=${PAGE_SIZE}&np=1&fltt=2&invt=2`
    const url = `${options.quoteUrl}/api/qt/clist/get?${order}&fs=${group}&fields=f12,f14`
    const { data } = await ask(options, url, { schema: Page, query })
    if (!data) throw faulty(SERVICE, 'empty', `page ${page} of the list`)
    listed.push(...data.diff.map(({ f12, f14 }) => ({ code: f12, name: f14 })))
    if (listed.length >= data.total || data.diff.length === 0) return listed
  }
  throw faulty(SERVICE, 'malformed', 'a list without an end')
}

// The quotes of whole markets, a hundred in one answer.

const LISTED_FIELDS = 'f2,f5,f6,f8,f9,f10,f12,f14,f15,f16,f17,f18,f20,f21,f23,f100,f124'
const LISTED_GROUPS: Readonly<Partial<Record<Market, string>>> = {
  cn: MAINLAND,
  hk: HONG_KONG,
  us: 'm:105,m:106,m:107',
}

const QuotedRow = z.object({
  ...{ f2: Figure, f5: Figure, f6: Figure, f8: Figure, f9: Figure, f10: Figure, f15: Figure, f16: Figure, f17: Figure },
  ...{ f18: Figure, f20: Figure, f21: Figure, f23: Figure, f124: Figure },
  ...{ f12: z.string(), f14: z.string(), f100: z.string().nullish() },
})
type QuotedRow = z.infer<typeof QuotedRow>
const QuotedPage = z.object({
  data: z
    .object({
      total: z.number(),
      diff: z.union([z.array(QuotedRow), z.record(z.string(), QuotedRow).transform(Object.values<QuotedRow>)]),
    })
    .nullish(),
})

export type ListedQuote = { instrument: Instrument; quote: Quote; industry: string | null }

export const isListed = (market: Market): boolean => LISTED_GROUPS[market] !== undefined

/** One page of a market, ordered by code. An error in one row does not affect the others. */
export async function listedQuotes(
  options: EastMoneyOptions,
  { market, page }: { market: Market; page: number },
  query: QuoteQuery,
): Promise<{ quotes: ListedQuote[]; rows: number; isLast: boolean }> {
  const order = `fid=f12&po=0&pn=${page}&pz=${PAGE_SIZE}&np=1&fltt=2&invt=2`
  const url = `${options.quoteUrl}/api/qt/clist/get?${order}&fs=${LISTED_GROUPS[market] ?? ''}&fields=${LISTED_FIELDS}`
  const { data } = await ask(options, url, { schema: QuotedPage, query })
  if (!data) throw faulty(SERVICE, 'empty', `page ${page} of the list`)
  const quotes = data.diff.flatMap((row) => listedQuote(row, market))
  const isLast = page * PAGE_SIZE >= data.total || data.diff.length === 0
  return { quotes, rows: data.diff.length, isLast }
}

function listedQuote(row: QuotedRow, market: Market): ListedQuote[] {
  const code = market === 'hk' ? `HK${row.f12}` : row.f12.replace('_', '.')
  const parsed = parseCode(code)
  if (!parsed.ok || parsed.instrument.market !== market || parsed.instrument.kind === 'index') return []
  const { instrument } = parsed
  try {
    return [{ instrument, quote: checkedQuote(SERVICE, quoteOf(row, instrument)), industry: named(row.f100) }]
  } catch (error) {
    if (error instanceof UpstreamError) return []
    throw error
  }
}

const named = (text: string | null | undefined): string | null =>
  text === null || text === undefined || ['', '-'].includes(text.trim()) ? null : text.trim()

const above0 = (value: number | null): number | null => (value !== null && value > 0 ? value : null)
const LOT = 100

/** The source writes zero for "none"; a loss gives a negative price-earnings ratio. */
function quoteOf(row: QuotedRow, instrument: Instrument): Quote {
  const [price, prevClose] = [row.f2 ?? Number.NaN, row.f18 ?? Number.NaN]
  return {
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: above0(row.f17),
    high: above0(row.f15),
    low: above0(row.f16),
    volume: row.f5 === null ? null : row.f5 * (instrument.market === 'cn' ? LOT : 1),
    amount: above0(row.f6),
    quotedAt: row.f124 === null || row.f124 <= 0 ? null : row.f124 * 1000,
    name: row.f14.trim() || null,
    currency: currencyOf(instrument),
    turnoverRatePct: above0(row.f8),
    volumeRatio: above0(row.f10),
    peRatio: row.f9 === 0 ? null : row.f9,
    pbRatio: above0(row.f23),
    totalMarketValue: above0(row.f20),
    circulatingMarketValue: above0(row.f21),
  }
}
