// The multiples of the companies of a stock's industry, as EastMoney lists them: the quote names the industry, which is one of the
// stock's boards, and the list of that board has a row for each company.

import { z } from 'zod'
import type { Board, Peer, Peers } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import { faulty } from './checks.ts'
import { ask, type EastMoneyOptions, echoes, Figure, SERVICE, secids } from './eastmoney-http.ts'
import type { QuoteQuery } from './provider.ts'

/** One page: the largest companies by market value. */
const MOST_PEERS = 100

const Quoted = z.object({ data: z.object({ f57: z.string(), f127: z.string().nullish() }).nullish() })

const Row = z.object({ f9: Figure, f12: z.string(), f14: z.string(), f20: Figure, f23: Figure })
type Row = z.infer<typeof Row>
const Page = z.object({
  data: z
    .object({
      total: z.number(),
      diff: z.union([z.array(Row), z.record(z.string(), Row).transform(Object.values<Row>)]),
    })
    .nullish(),
})

type PeersQuestion = { instrument: Instrument; boards: readonly Board[] }

export async function peers(
  options: EastMoneyOptions,
  { instrument, boards }: PeersQuestion,
  query: QuoteQuery,
): Promise<Peers> {
  const [secid = ''] = secids(instrument)
  const quoted = `${options.quoteUrl}/api/qt/stock/get?secid=${secid}&fltt=2&invt=2&fields=f57,f127`
  const { data } = await ask(options, quoted, { schema: Quoted, query })
  if (!data) throw faulty(SERVICE, 'unknown_symbol', secid)
  if (!echoes(secid, data.f57)) throw faulty(SERVICE, 'wrong_symbol', secid)
  const industry = data.f127?.trim() ?? ''
  const board = boards.find(({ name }) => name === industry)
  if (board === undefined) throw faulty(SERVICE, 'empty', 'no industry among the boards')
  const order = `fid=f20&po=1&pn=1&pz=${MOST_PEERS}&np=1&fltt=2&invt=2`
  const list = `${options.quoteUrl}/api/qt/clist/get?${order}&fs=b:${board.code}&fields=f9,f12,f14,f20,f23`
  const page = await ask(options, list, { schema: Page, query })
  const companies = (page.data?.diff ?? []).map(toPeer)
  if (companies.length === 0) throw faulty(SERVICE, 'empty', 'a board without companies')
  return { board: { code: board.code, name: board.name }, total: page.data?.total ?? companies.length, companies }
}

/** Zero is how the source writes "none"; a loss makes a negative ratio of price to earnings. */
function toPeer({ f9, f12, f14, f20, f23 }: Row): Peer {
  return {
    code: f12,
    name: f14.trim(),
    peRatio: f9 === 0 ? null : f9,
    pbRatio: f23 === 0 ? null : f23,
    marketValue: f20 !== null && f20 > 0 ? f20 : null,
  }
}
