// Tushare: mainland bars, adjusted with its own factors, and money flows. Every call is a POST that names a table; a
// code other than zero is a refusal with a text.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, UpstreamError } from '../../lib/http-client.ts'
import type { Bar } from '../bars.ts'
import { addDays, localDate } from '../calendar.ts'
import type { FlowDay } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import { checkedBars, faulty, rounded } from './checks.ts'
import type { MarketDataProvider, QuoteQuery } from './provider.ts'

export type TushareOptions = { url: string; token: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'tushare'
const LOT = 100
const THOUSAND = 1_000
const TEN_THOUSAND = 10_000
const FLOW_DAYS = 60

const cell = z.union([z.string(), z.number(), z.null()])
const Answer = z.object({
  code: z.number(),
  data: z.object({ fields: z.array(z.string()), items: z.array(z.array(cell)) }).nullish(),
})
type Row = Record<string, z.infer<typeof cell>>
type Table = { name: string; fields: string; params: Record<string, string> }

export function tushareProvider(
  options: TushareOptions,
): MarketDataProvider & Required<Pick<MarketDataProvider, 'dailyBars' | 'capitalFlow'>> {
  return {
    name: SERVICE,
    provenance: () => null,
    supports: ({ market, kind }, need) =>
      market === 'cn' && kind === 'stock' && (need === 'daily_data' || need === 'capital_flow'),
    async dailyBars(instrument, query) {
      const today = localDate('cn', options.clock())
      const params = range(instrument, query.endDate ?? today, query.count)
      const fields = 'ts_code,trade_date,open,high,low,close,vol,amount'
      const [rows, factors] = await Promise.all([
        rowsOf(options, { name: 'daily', fields, params }, query),
        rowsOf(options, { name: 'adj_factor', fields: 'ts_code,trade_date,adj_factor', params }, query),
      ])
      checkEcho(instrument, rows)
      return checkedBars(SERVICE, adjusted(ascending(rows), factors).slice(-query.count), today)
    },
    async capitalFlow(instrument, query) {
      const params = range(instrument, localDate('cn', options.clock()), FLOW_DAYS)
      const sizes = ['sm', 'md', 'lg', 'elg'].flatMap((size) => [`buy_${size}_amount`, `sell_${size}_amount`])
      const fields = ['ts_code', 'trade_date', ...sizes].join()
      const rows = await rowsOf(options, { name: 'moneyflow', fields, params }, query)
      checkEcho(instrument, rows)
      if (rows.length === 0) throw faulty(SERVICE, 'empty', 'no flow')
      return ascending(rows).map(toFlowDay)
    },
  }
}

async function rowsOf(
  { url, token, fetch }: TushareOptions,
  { name, fields, params }: Table,
  { signal }: QuoteQuery,
): Promise<Row[]> {
  const answer = await requestJson(url, {
    service: SERVICE,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_name: name, token, params, fields }),
    timeoutMs: 8_000,
    ...(fetch === undefined ? {} : { fetch }),
    ...(signal === undefined ? {} : { signal }),
  })
  const parsed = Answer.safeParse(answer)
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a table')
  const { code, data } = parsed.data
  if (code !== 0) throw new UpstreamError({ service: SERVICE, reason: 'refused', detail: `code ${code}` })
  const columns = data?.fields ?? []
  return (data?.items ?? []).map((items) => Object.fromEntries(columns.map((column, i) => [column, items[i] ?? null])))
}

const codeOf = ({ code, exchange }: Instrument): string => `${code}.${exchange}`
const compact = (date: string): string => date.replaceAll('-', '')

function range(instrument: Instrument, end: string, count: number): Record<string, string> {
  const start = addDays(end, -Math.ceil((count * 7) / 5) - 20)
  return { ts_code: codeOf(instrument), start_date: compact(start), end_date: compact(end) }
}

function checkEcho(instrument: Instrument, rows: Row[]): void {
  if (rows.some((row) => row.ts_code !== codeOf(instrument))) throw faulty(SERVICE, 'wrong_symbol', instrument.key)
}

/** Tables have the newest row first. */
const ascending = (rows: Row[]): Row[] =>
  rows.toSorted((a, b) => String(a.trade_date).localeCompare(String(b.trade_date)))

function dateOf(row: Row): string {
  const digits = String(row.trade_date)
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`
}

const numberIn = (row: Row, name: string): number => (typeof row[name] === 'number' ? row[name] : Number.NaN)

/** Prices adjusted to the newest day. If a day has no factor, the series is unusable. */
function adjusted(rows: Row[], factors: Row[]): Bar[] {
  const byDate = new Map(factors.map((row) => [row.trade_date, numberIn(row, 'adj_factor')]))
  const newest = byDate.get(rows.at(-1)?.trade_date ?? null) ?? Number.NaN
  return rows.map((row) => {
    const factor = (byDate.get(row.trade_date ?? null) ?? Number.NaN) / newest
    if (!(factor > 0)) throw faulty(SERVICE, 'malformed', `no factor for ${dateOf(row)}`)
    const price = (name: string) => rounded(numberIn(row, name) * factor, 4)
    return {
      date: dateOf(row),
      ...{ open: price('open'), high: price('high'), low: price('low'), close: price('close') },
      volume: numberIn(row, 'vol') * LOT,
      amount: Number.isFinite(numberIn(row, 'amount')) ? numberIn(row, 'amount') * THOUSAND : null,
    }
  })
}

function toFlowDay(row: Row): FlowDay {
  const net = (size: string): number => {
    const value = (numberIn(row, `buy_${size}_amount`) - numberIn(row, `sell_${size}_amount`)) * TEN_THOUSAND
    if (!Number.isFinite(value)) throw faulty(SERVICE, 'malformed', `flow of ${dateOf(row)}`)
    return rounded(value, 0)
  }
  const [small, medium, large, superLarge] = [net('sm'), net('md'), net('lg'), net('elg')]
  return {
    date: dateOf(row),
    mainNet: large + superLarge,
    smallNet: small,
    mediumNet: medium,
    largeNet: large,
    superLargeNet: superLarge,
    mainNetPct: null,
  }
}
