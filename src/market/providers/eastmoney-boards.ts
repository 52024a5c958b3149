// EastMoney's boards: which ones a stock belongs to, which are the strongest and weakest of the day, and the lists of stocks and
// funds, from which names are refreshed.

import { z } from 'zod'
import type { Board, BoardRankings, RankedBoard, RankedEnds } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import { faulty } from './checks.ts'
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

// Small lists come as an array, some as an object whose keys count.
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

/** One page contains both ends when it holds all boards. */
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

/** Code and name of every mainland stock, page by page: about a minute at the rate that EastMoney allows. */
export const mainlandList = (options: EastMoneyOptions, query: QuoteQuery): Promise<ListedRow[]> =>
  wholeList(options, MAINLAND, query)

/** The same of Hong Kong's main board and its market for growing companies, REITs and funds included. */
export const hongKongList = (options: EastMoneyOptions, query: QuoteQuery): Promise<ListedRow[]> =>
  wholeList(options, HONG_KONG, query)

/** The same of the funds that trade in Shanghai and Shenzhen. */
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
