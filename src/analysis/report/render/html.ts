// A report as one page of HTML that needs nothing else: the words of its Markdown, its chart drawn in place.

import { z } from 'zod'
import type { Bar } from '../../../market/bars.ts'
import { parseCode } from '../../../market/instruments.ts'
import type { AnalysisReport, DiagnosticSummary } from '../../schemas.ts'
import { textsOf } from '../../texts/book.ts'
import { barsIn, ChartSeries } from '../trend-analysis.ts'
import { type ChartLevel, renderChart } from './chart.ts'
import { renderMarkdown } from './markdown.ts'
import { escapeHtml, markdownToHtml } from './markdown-html.ts'
import { reportView } from './view.ts'

/** What the page may load: its own style and nothing else. */
export const REPORT_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const STYLE = `
body{font:16px/1.6 system-ui,sans-serif;color:#1a202c;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;border-bottom:1px solid #e2e8f0;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{border:1px solid #e2e8f0;padding:.35rem .6rem;text-align:left}
blockquote{margin:0;padding:.6rem 1rem;background:#fffaf0;border-left:4px solid #b7791f}
figure{margin:1rem 0;overflow-x:auto}svg{max-width:100%;min-width:40rem;height:auto}hr{border:0;border-top:1px solid #e2e8f0}
`

export function renderHtml(report: AnalysisReport, diagnostics: DiagnosticSummary | null = null): string {
  const { meta } = report
  const chart = reportChart(report)
  const title = [meta.stock_name, meta.stock_code].filter(Boolean).join(' ')
  const [heading = '', ...rest] = renderMarkdown(report, diagnostics).split('\n\n')
  return [
    '<!doctype html>',
    `<html lang="${meta.report_language === 'zh' ? 'zh-CN' : meta.report_language}">`,
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style></head>`,
    '<body>',
    markdownToHtml(heading),
    ...(chart === null ? [] : [`<figure>${chart}</figure>`]),
    markdownToHtml(rest.join('\n\n')),
    '</body></html>',
    '',
  ].join('\n')
}

const Snapshot = z.object({ chart_series: ChartSeries })
const Raw = z.object({
  dashboard: z.object({ battle_plan: z.object({ levels: z.array(z.object({ key: z.string(), price: z.number() })) }) }),
})

type StoredLevel = { key: keyof ReturnType<typeof textsOf>['report']['level']; price: number }

/** The levels of a stored report as numbers. */
export function storedLevels({ meta, details }: AnalysisReport): StoredLevel[] {
  const names = textsOf(meta.report_language).report.level
  const raw = Raw.safeParse(details?.raw_result)
  return (raw.data?.dashboard.battle_plan.levels ?? []).flatMap(({ key, price }) => {
    return Object.hasOwn(names, key) ? [{ key: key as StoredLevel['key'], price }] : []
  })
}

/** The bars that a report was made from; none of a market review. */
export function storedBars({ details }: AnalysisReport): Bar[] {
  const stored = Snapshot.safeParse(details?.context_snapshot)
  return stored.success ? barsIn(stored.data.chart_series) : []
}

const KIND: Record<string, ChartLevel['kind']> = { stop_loss: 'stop', take_profit: 'target' }

/** The chart of a stored report; null for one without bars, such as a market review. */
export function reportChart(report: AnalysisReport): string | null {
  const { meta } = report
  const names = textsOf(meta.report_language).report.level
  const levels = storedLevels(report).map(({ key, price }) => ({
    label: names[key],
    price,
    kind: KIND[key] ?? ('entry' as const),
  }))
  const { decimals, date } = reportView(report)
  const parsed = parseCode(meta.stock_code)
  return renderChart({
    bars: storedBars(report),
    levels,
    title: [meta.stock_name, meta.stock_code, date].filter(Boolean).join(' · '),
    decimals,
    risesRed: parsed.ok && ['cn', 'tw', 'jp', 'kr'].includes(parsed.instrument.market),
    note: [meta.data_notice, meta.data_checks].filter(Boolean).join(' ') || null,
  })
}
