// The bars that a report's chart is drawn from, stored with the report: the chart of an old report is the chart of its day.

import { z } from 'zod'
import type { Bar } from '../market/bars.ts'
import { round } from './trend-analysis.ts'

/** As many as are drawn, and as many before them as the longest average needs. */
const STORED = 180

export const ChartSeries = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.tuple([z.string(), z.number(), z.number(), z.number(), z.number(), z.number()])),
})
export type ChartSeries = z.infer<typeof ChartSeries>

export function chartSeries(bars: readonly Bar[]): ChartSeries {
  return {
    columns: ['date', 'open', 'high', 'low', 'close', 'volume'],
    rows: bars.slice(-STORED).map(({ date, open, high, low, close, volume }) => {
      return [date, round(open), round(high), round(low), round(close), round(volume)]
    }),
  }
}

export function barsIn({ rows }: ChartSeries): Bar[] {
  return rows.map(([date, open, high, low, close, volume]) => ({ date, open, high, low, close, volume, amount: null }))
}
