// A report as one self-contained HTML page: the text of its Markdown, with its chart inline.

import { z } from 'zod'
import type { Bar } from '../../../market/bars.ts'
import { sma } from '../../../market/indicators/averages.ts'
import { type Series, valueAt } from '../../../market/indicators/series.ts'
import { parseCode } from '../../../market/instruments.ts'
import type { AnalysisReport, DiagnosticSummary } from '../../schemas.ts'
import { textsOf } from '../../texts/book.ts'
import { fixed } from '../../texts/format.ts'
import { barsIn, ChartSeries } from '../trend-analysis.ts'
import { renderMarkdown } from './markdown.ts'
import { escapeHtml, markdownToHtml } from './markdown-text.ts'
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

/** The bars that a report was made from; empty for a market review. */
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

// The chart of a report as SVG: candles, three averages, the report's levels, and volume below. It is drawn from the
// bars that are stored with the report, needs no script and loads nothing.

type ChartLevel = { label: string; price: number; kind: 'entry' | 'stop' | 'target' }

export type ChartInput = {
  bars: readonly Bar[]
  levels: readonly ChartLevel[]
  title: string
  decimals: number
  /** Red for a rise is common in most of Asia, green in Hong Kong and the West. */
  risesRed: boolean
  /** Text below the chart, for example that the figures are a sample. */
  note: string | null
}

const WIDTH = 960
const HEIGHT = 540
const LEFT = 12
const RIGHT = 84
const TOP = 40
const PRICE_BOTTOM = 400
const VOLUME_TOP = 420
const VOLUME_BOTTOM = 492
const SHOWN = 120
const AVERAGES = [
  { period: 5, color: '#b7791f' },
  { period: 20, color: '#2b6cb0' },
  { period: 60, color: '#805ad5' },
] as const
const LEVEL_COLORS: Record<ChartLevel['kind'], string> = { entry: '#2b6cb0', stop: '#c53030', target: '#2f855a' }
const [RED, GREEN] = ['#c53030', '#2f855a']

/** Null without bars. */
export function renderChart(input: ChartInput): string | null {
  const shown = input.bars.slice(-SHOWN)
  if (shown.length === 0) return null
  const closes = Float64Array.from(input.bars, ({ close }) => close)
  const averages = AVERAGES.map(({ period, color }) => ({ period, color, series: sma(closes, period) }))
  const scale = scaleOf(input, shown, averages)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    `<title>${escapeHtml(input.title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="22" font-size="15" fill="#1a202c">${escapeHtml(input.title)}</text>`,
    ...legend(),
    ...grid(scale, input.decimals),
    ...shown.map((bar, i) => candle(bar, { x: scale.x(i), scale, risesRed: input.risesRed })),
    ...averages.map(({ series, color }) => line(series, { first: input.bars.length - shown.length, color, scale })),
    ...levelLines(input, scale),
    ...dates(shown, scale),
    ...(input.note === null
      ? []
      : [`<text x="${LEFT}" y="${HEIGHT - 8}" fill="#744210">${escapeHtml(input.note)}</text>`]),
    '</svg>',
  ]
  return parts.join('\n')
}

type Scale = {
  x: (index: number) => number
  y: (price: number) => number
  volumeY: (volume: number) => number
  bodyWidth: number
  low: number
  high: number
}

function scaleOf(input: ChartInput, shown: readonly Bar[], averages: readonly { series: Series }[]): Scale {
  const lows = shown.map((bar) => bar.low)
  const highs = shown.map((bar) => bar.high)
  const drawn = averages.flatMap(({ series }) =>
    [...series.slice(-shown.length)].filter((value) => !Number.isNaN(value)),
  )
  const [least, most] = [Math.min(...lows, ...drawn), Math.max(...highs, ...drawn)]
  const room = (most - least || most || 1) * 0.05
  // A distant level would flatten the candles; it is named at the edge instead.
  const near = input.levels.map(({ price }) => price).filter((price) => price > least * 0.8 && price < most * 1.2)
  const [low, high] = [Math.min(least, ...near) - room, Math.max(most, ...near) + room]
  const step = (WIDTH - LEFT - RIGHT) / shown.length
  const greatest = Math.max(...shown.map((bar) => bar.volume), 1)
  return {
    low,
    high,
    bodyWidth: Math.max(1, step * 0.65),
    x: (index) => LEFT + (index + 0.5) * step,
    y: (price) => TOP + ((high - price) / (high - low)) * (PRICE_BOTTOM - TOP),
    volumeY: (volume) => VOLUME_BOTTOM - (volume / greatest) * (VOLUME_BOTTOM - VOLUME_TOP),
  }
}

/** Two decimals are finer than a screen. */
const at = (value: number): string => String(Math.round(value * 100) / 100)

function candle(bar: Bar, { x, scale, risesRed }: { x: number; scale: Scale; risesRed: boolean }): string {
  const isUp = bar.close >= bar.open
  const color = isUp === risesRed ? RED : GREEN
  const [top, bottom] = [scale.y(Math.max(bar.open, bar.close)), scale.y(Math.min(bar.open, bar.close))]
  const left = x - scale.bodyWidth / 2
  const volume = scale.volumeY(bar.volume)
  return [
    `<path d="M${at(x)} ${at(scale.y(bar.high))}V${at(scale.y(bar.low))}" stroke="${color}"/>`,
    `<rect x="${at(left)}" y="${at(top)}" width="${at(scale.bodyWidth)}" height="${at(Math.max(1, bottom - top))}" fill="${color}"/>`,
    `<rect x="${at(left)}" y="${at(volume)}" width="${at(scale.bodyWidth)}" height="${at(VOLUME_BOTTOM - volume)}" fill="${color}" opacity="0.45"/>`,
  ].join('')
}

function line(series: Series, { first, color, scale }: { first: number; color: string; scale: Scale }): string {
  const points: string[] = []
  for (let i = first; i < series.length; i++) {
    const value = valueAt(series, i)
    if (value !== null) points.push(`${at(scale.x(i - first))},${at(scale.y(value))}`)
  }
  return points.length < 2
    ? ''
    : `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`
}

function legend(): string[] {
  return AVERAGES.map(({ period, color }, i) => {
    return `<text x="${WIDTH - RIGHT - 200 + i * 66}" y="22" fill="${color}">MA${period}</text>`
  })
}

const GRID_LINES = 5

function grid({ low, high, y }: Scale, decimals: number): string[] {
  return Array.from({ length: GRID_LINES }, (_, i) => low + ((high - low) * i) / (GRID_LINES - 1)).map((price) => {
    const height = at(y(price))
    const label = `<text x="${WIDTH - RIGHT + 6}" y="${height}" dy="4" fill="#718096">${fixed(price, decimals)}</text>`
    return `<path d="M${LEFT} ${height}H${WIDTH - RIGHT}" stroke="#e2e8f0"/>${label}`
  })
}

const LABEL_HEIGHT = 14
/** Keeps words readable on top of candles. */
const HALO = 'stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'

function levelLines({ levels, decimals }: ChartInput, scale: Scale): string[] {
  const heightOf = (price: number) => Math.min(PRICE_BOTTOM, Math.max(TOP, scale.y(price)))
  const fromTop = [...levels].sort((a, b) => b.price - a.price)
  let free = 0
  return fromTop.map(({ label, price, kind }) => {
    const color = LEVEL_COLORS[kind]
    const height = heightOf(price)
    // Labels of adjacent levels would overlap.
    const foot = Math.max(height - 4, free)
    free = foot + LABEL_HEIGHT
    const words = `${escapeHtml(label)} ${fixed(price, decimals)}`
    const text = `<text x="${LEFT + 4}" y="${at(foot)}" fill="${color}" ${HALO}>${words}</text>`
    return `<path d="M${LEFT} ${at(height)}H${WIDTH - RIGHT}" stroke="${color}" stroke-dasharray="6 4"/>${text}`
  })
}

const DATE_LABELS = 6
/** Half a date's width. */
const DATE_ROOM = 40

function dates(shown: readonly Bar[], scale: Scale): string[] {
  const step = Math.max(1, Math.floor(shown.length / DATE_LABELS))
  return shown.flatMap(({ date }, i) => {
    if (i % step !== 0) return []
    // The first label would be cut off at the edge.
    const [x, anchor] = scale.x(i) < DATE_ROOM ? [LEFT, 'start'] : [at(scale.x(i)), 'middle']
    return [
      `<text x="${x}" y="${VOLUME_BOTTOM + 16}" text-anchor="${anchor}" fill="#718096">${escapeHtml(date)}</text>`,
    ]
  })
}
