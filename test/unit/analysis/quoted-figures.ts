// Everything that a report quotes, place by place, and whether a place that quotes something else than the truth says so.
// "The same place" is: in JSON the object that holds the figure's own block (`meta`, `summary`, `strategy`, `raw_result`, `context_snapshot`
// and the others of `details`), which names the check that touches the figure; in Markdown and HTML the section that shows it, in a list
// the row, in a message its title or its paragraph.

import { hasScore } from '../../../src/analysis/report/consistency.ts'
import { recordOf } from '../../../src/analysis/report/record.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport } from '../../../src/analysis/schemas.ts'
import { digestMessage, reportMessage } from '../../../src/notify/message.ts'

/** Of a figure's own size. Below it two figures are one. */
const TOLERANCE = 0.005
const MARK = '⚠'

export type ReportRecord = { report: AnalysisReport; diagnostics: Parameters<typeof recordOf>[0]['diagnostics'] }

/** Places that quote something else than the truth without saying so. */
export function unmarked(truth: ReportRecord, other: ReportRecord): string[] {
  return [
    ...unmarkedInJson(truth.report, other.report),
    ...REPORT_TYPES.flatMap((type) =>
      unmarkedInSections(type, markdownOf(truth.report, type), markdownOf(other.report, type)),
    ),
    ...unmarkedInRows(tableRows(truth.report), tableRows(other.report)),
    ...unmarkedInSections('html', htmlParts(truth.report), htmlParts(other.report)),
    ...unmarkedInRow(truth, other),
    ...unmarkedInMessages(truth.report, other.report),
    ...withoutAdvice(other.report),
  ]
}

const REPORT_TYPES = ['simple', 'brief', 'full'] as const

const isClose = (a: number, b: number): boolean =>
  Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b)) + 1e-9

type Leaf = string | number | boolean | null

function leavesOf(value: unknown, path: string, found = new Map<string, Leaf>()): Map<string, Leaf> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) leavesOf(inner, `${path}.${key}`, found)
  } else found.set(path, value as Leaf)
  return found
}

/** A text quotes the same when its words are the same and its figures close. */
function isSameText(a: string, b: string): boolean {
  if (a === b) return true
  const [words, others] = [a.split(FIGURE), b.split(FIGURE)]
  if (words.join('|') !== others.join('|')) return false
  const [figures, rest] = [figuresIn(a), figuresIn(b)]
  return figures.every((figure, i) => isClose(figure, rest[i] ?? Number.NaN))
}

const FIGURE = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g
const figuresIn = (text: string): number[] => (text.match(FIGURE) ?? []).map(Number)

function isSame(a: Leaf | undefined, b: Leaf): boolean {
  if (typeof a === 'number' && typeof b === 'number') return isClose(a, b)
  if (typeof a === 'string' && typeof b === 'string') return isSameText(a, b)
  return a === b
}

/** Says nothing of the market, or tells its own day: what the checks found, and what the report is made of. */
const ABOUT_ITSELF =
  /\.(consistency|diagnostics|data_checks|bars_age_seconds|bar_count)(\.|$)|\.sentiment_label$|created_at|trade_date|^report\.details\.analysis_context_pack_overview\.(blocks|counts|data_quality|warnings)/

function unmarkedInJson(truth: AnalysisReport, other: AnalysisReport): string[] {
  const before = leavesOf(truth, 'report')
  const places: string[] = []
  for (const [path, value] of leavesOf(other, 'report')) {
    if (value === null || ABOUT_ITSELF.test(path) || isSame(before.get(path), value)) continue
    if (!isMarkedInJson(other, path, value)) places.push(`json ${path}: ${before.get(path)} → ${value}`)
  }
  return places
}

function isMarkedInJson({ meta, summary, details }: AnalysisReport, path: string, value: Leaf): boolean {
  if (path.startsWith('report.meta.')) return meta.data_checks !== null
  if (path.startsWith('report.summary.')) return summary.analysis_summary.includes(MARK)
  if (path.startsWith('report.strategy.')) return String(value).includes(MARK)
  const block = path.split('.')[2] ?? ''
  const holder = (details as Record<string, unknown> | null)?.[block]
  if (block === 'raw_result' || block === 'context_snapshot') return touches(holder, path)
  return JSON.stringify(holder ?? null).includes(MARK)
}

type Marked = { consistency?: { findings: { verdict: string; touches: string[] }[] } }

/** The block's own findings name the kind of figure that stands at the path; what follows from all is touched by any. */
function touches(block: unknown, path: string): boolean {
  const findings = (block as Marked).consistency?.findings ?? []
  const touched = new Set(findings.flatMap((one) => (['warn', 'fail'].includes(one.verdict) ? one.touches : [])))
  if (/(volume|turnover|obv|amount|liquidity)/.test(path) && touched.has('volume')) return true
  if (/(change|pct|amplitude)/.test(path) && touched.has('change')) return true
  return DERIVED.test(path) ? touched.size > 0 : [...touched].some((touch) => touch !== 'volume')
}

/** The score, its words, and what is said because of it. */
const DERIVED =
  /score|advice|action|guard|decision|confidence|buy_signal|signal|trend|reason|summary|sentence|points|risk|catalyst|plan|position|window|check|outlook|limitation|chip|chart_series|strategy|analysis|level|timing|sensitivity|alerts|calibration|band|type|phase_decision|skill/

function markdownOf(report: AnalysisReport, type: (typeof REPORT_TYPES)[number]): Map<string, string> {
  const text = renderMarkdown({ ...report, meta: { ...report.meta, report_type: type } })
  return new Map(text.split(/^(?=#{1,2} )/m).map((part) => [part.split('\n')[0] ?? '', part]))
}

function htmlParts(report: AnalysisReport): Map<string, string> {
  const parts = renderHtml(report).split(/(?=<h[12]>|<figure>|<\/figure>)/)
  return new Map(parts.map((part) => [/^<h[12]>.*?<\/h[12]>|^<\/?\w+>/.exec(part)?.[0] ?? '', part]))
}

/** Every figure of a section is one that the true section has, or the section says what a check found. */
function unmarkedInSections(kind: string, truth: Map<string, string>, other: Map<string, string>): string[] {
  return [...other].flatMap(([heading, text]) => {
    if (text.includes(MARK)) return []
    const known = figuresIn(truth.get(heading) ?? '')
    const strange = figuresIn(text).filter((figure) => !known.some((one) => isClose(one, figure)))
    return strange.length === 0 ? [] : [`${kind} ${heading}: ${strange.join(', ')}`]
  })
}

/** The lines of all tables, by their section and first cell. */
function tableRows(report: AnalysisReport): Map<string, string> {
  const rows = [...markdownOf(report, 'full')].flatMap(([heading, text]) => {
    const lines = text.split('\n').filter((line) => line.startsWith('| '))
    return lines.map((line): [string, string] => [`${heading} ${line.split(' | ')[0]}`, line])
  })
  return new Map(rows)
}

/** A mark under a table does not say which of its lines it means: each line has its own. */
function unmarkedInRows(truth: Map<string, string>, other: Map<string, string>): string[] {
  return [...other].flatMap(([name, line]) => {
    if (line.includes(MARK)) return []
    const known = figuresIn(truth.get(name) ?? '')
    const strange = figuresIn(line).filter((figure) => !known.some((one) => isClose(one, figure)))
    return strange.length === 0 ? [] : [`line ${name}: ${strange.join(', ')}`]
  })
}

function unmarkedInRow(truth: ReportRecord, other: ReportRecord): string[] {
  const row = ({ report, diagnostics }: ReportRecord) =>
    recordOf({ owner: 'ann', request: REQUEST, report, diagnostics })
  const [before, after] = [row(truth), row(other)]
  const shown = [
    'sentimentScore',
    'operationAdvice',
    'action',
    'actionLabel',
    'trendPrediction',
    'currentPrice',
    'changePct',
    'volumeRatio',
    'turnoverRate',
    'analysisSummary',
  ] as const
  if (after.dataChecks !== null) return []
  return shown
    .filter((key) => !isSame(before[key], after[key]))
    .map((key) => `row ${key}: ${before[key]} → ${after[key]}`)
}

const REQUEST = {
  ...{
    kind: 'analysis' as const,
    key: 'x',
    stockCode: 'x',
    stockName: null,
    reportLanguage: null,
    originalQuery: null,
    reading: null,
  },
  ...{ selectionSource: null, forceRefresh: false, notify: false, region: null, priority: 'interactive' as const },
  ...{ batch: null, channels: null, reportType: 'full' as const, analysisPhase: 'auto' as const, skills: null },
  language: 'zh' as const,
}

function unmarkedInMessages(truth: AnalysisReport, other: AnalysisReport): string[] {
  const [before, after] = [paragraphs(truth), paragraphs(other)]
  return after.flatMap((text, i) => {
    const isSaid = text.includes(MARK) || isSameText(before[i] ?? '', text) || LEVELS.test(text)
    return isSaid ? [] : [`message: ${before[i]} → ${text}`]
  })
}

/** Lines of levels carry their own marks, which the strategy's strings are held to. */
const LEVELS = /^- (理想|次优|止损|目标)/

function paragraphs(report: AnalysisReport): string[] {
  const item = { taskId: 't', stockCode: 'x', stockName: 'x', error: null }
  const digest = digestMessage([item] as never, new Map([['t', { report, finished: null }]]), 'zh')
  const { title } = reportMessage({ report, finished: null })
  return [title, ...digest.markdown.split('\n\n').filter((part) => !part.startsWith('#'))]
}

/** A report without a score gives no advice and no level anywhere. */
function withoutAdvice(report: AnalysisReport): string[] {
  if (hasScore(report)) return []
  const { summary, strategy, meta } = report
  const text = renderMarkdown(report)
  return [
    ...(summary.action === null && summary.action_label === null ? [] : ['an action']),
    ...(strategy === null ? [] : ['levels']),
    ...(meta.data_checks?.includes(MARK) ? [] : ['no notice']),
    ...(text.includes('/100（') ? ['a score'] : []),
    ...(text.indexOf(MARK) < text.indexOf('- ') ? [] : ['a notice that is not on top']),
  ]
}
