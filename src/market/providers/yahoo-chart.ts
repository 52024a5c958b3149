// Yahoo's chart endpoint, the one that needs neither cookie nor crumb: bars, the latest price and the dividends in one answer.

import { z } from 'zod'
import { type Instrument, yahooSymbol } from '../instruments.ts'
import { faulty } from './checks.ts'
import type { QuoteQuery } from './provider.ts'
import { ask, SERVICE, type YahooOptions } from './yahoo-http.ts'

const numbers = z.array(z.number().nullable()).optional()
const Paid = z.object({ amount: z.number(), date: z.number(), currency: z.string().nullish() })
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
  events: z.object({ dividends: z.record(z.string(), Paid).optional() }).nullish(),
  indicators: z.object({
    quote: z.array(z.object({ open: numbers, high: numbers, low: numbers, close: numbers, volume: numbers })),
    adjclose: z.array(z.object({ adjclose: numbers })).optional(),
  }),
})
export type Chart = z.infer<typeof Chart>
const Answer = z.object({ chart: z.object({ result: z.array(Chart).nullish() }) })

export type ChartQuestion = {
  instrument: Instrument
  range: string
  interval?: '1d' | '5m'
  events: 'div' | 'div,split'
}

export async function chartOf(
  options: YahooOptions,
  { instrument, range, interval = '1d', events }: ChartQuestion,
  query: QuoteQuery,
): Promise<Chart> {
  const symbol = symbolOf(instrument)
  const path = `/v8/finance/chart/${encodeURIComponent(symbol)}?range=${range}&interval=${interval}&events=${events}`
  const parsed = Answer.safeParse(await ask(options, path, query))
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a chart')
  const chart = parsed.data.chart.result?.[0]
  if (!chart) throw faulty(SERVICE, 'unknown_symbol', symbol)
  if (!isSymbol(chart.meta.symbol ?? symbol, symbol)) throw faulty(SERVICE, 'wrong_symbol', symbol)
  return chart
}

export function symbolOf(instrument: Instrument): string {
  const symbol = yahooSymbol(instrument)
  if (symbol === null) throw faulty(SERVICE, 'unknown_symbol', instrument.key)
  return symbol
}

export const isSymbol = (answered: string, symbol: string): boolean => answered.toUpperCase() === symbol.toUpperCase()
