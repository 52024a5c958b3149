import { z } from 'zod'
import { parseCode } from '../market/instruments.ts'
import { type ChartLevel, renderChart } from './chart.ts'
import { barsIn, ChartSeries } from './chart-series.ts'
import { labelsOf } from './labels.ts'
import type { AnalysisReport } from './report.ts'
import { reportView } from './view.ts'

const Snapshot = z.object({ chart_series: ChartSeries })
const Raw = z.object({
  dashboard: z.object({ battle_plan: z.object({ levels: z.array(z.object({ key: z.string(), price: z.number() })) }) }),
})

const KIND: Record<string, ChartLevel['kind']> = { stop_loss: 'stop', take_profit: 'target' }

/** The chart of a stored report; null for one without bars, such as a market review. */
export function reportChart(report: AnalysisReport): string | null {
  const { meta, details } = report
  const stored = Snapshot.safeParse(details?.context_snapshot)
  if (!stored.success) return null
  const raw = Raw.safeParse(details?.raw_result)
  const names = labelsOf(meta.report_language).level
  const levels = (raw.data?.dashboard.battle_plan.levels ?? []).map(({ key, price }) => ({
    label: Object.hasOwn(names, key) ? names[key as keyof typeof names] : key,
    price,
    kind: KIND[key] ?? ('entry' as const),
  }))
  const { decimals, date } = reportView(report)
  const parsed = parseCode(meta.stock_code)
  return renderChart({
    bars: barsIn(stored.data.chart_series),
    levels,
    title: [meta.stock_name, meta.stock_code, date].filter(Boolean).join(' · '),
    decimals,
    risesRed: parsed.ok && ['cn', 'tw', 'jp', 'kr'].includes(parsed.instrument.market),
    note: meta.data_notice,
  })
}
