// A report as Markdown. It reads only the report (and, for a run with problems, its diagnostics), so a push, a download
// and the console show the same text. Notices about sample data and missing news are in every form.

import type { Touch } from '../../../market/consistency/types.ts'
import type { AnalysisReport, DiagnosticSummary } from '../../schemas.ts'
import { fill, textsOf } from '../../texts/book.ts'
import { aside, fixed, largeNumber, signedPct, withUnit } from '../../texts/format.ts'
import type { ReportTexts } from '../../texts/texts.ts'
import { withSeparator } from '../../write/sentences.ts'
import { checkLines, consistencyIn, hasScore, headingMark, touchMark } from '../consistency.ts'
import type { TrendAnalysis } from '../trend-analysis.ts'
import { commentMarkdown, list, table, escapeMarkdown as text } from './markdown-text.ts'
import { type ReportView, reportView } from './view.ts'

type Page = { report: AnalysisReport; view: ReportView; labels: ReportTexts }

/** The report in the length of its type: `simple`, `brief`, or the whole. A market review has its own text. */
export function renderMarkdown(report: AnalysisReport, diagnostics: DiagnosticSummary | null = null): string {
  const review = report.meta.report_type === 'market_review' && report.details?.raw_result?.market_review_report
  if (typeof review === 'string') return review
  const page: Page = { report, view: reportView(report), labels: textsOf(report.meta.report_language).report }
  const sections = SECTIONS[report.meta.report_type] ?? full
  const body = [
    title(page),
    notice(page),
    checksNotice(page),
    ...sections(page),
    disclosure(page),
    trouble(page, diagnostics),
    footer(page),
  ]
  return `${body.filter((section) => section !== null && section !== '').join('\n\n')}\n`
}

type Section = string | null

const SECTIONS: Partial<Record<AnalysisReport['meta']['report_type'], (page: Page) => Section[]>> = {
  simple: (page) => [
    facts(page),
    oneSentence(page),
    levelList(page),
    section(page, 'risks', list(escaped(page.view.risks))),
  ],
  brief: (page) => [brief(page)],
}

function full(page: Page): Section[] {
  const { view, report } = page
  return [
    facts(page),
    section(page, 'conclusion', text(report.summary.analysis_summary)),
    section(page, 'changes', list(escaped(view.changes))),
    view.trend && section(page, 'score_parts', scoreTable(view.trend, page)),
    section(page, 'levels', levelTable(page)),
    view.trend && section(page, 'indicators', indicatorTable(view.trend, page)),
    section(page, 'reasons_for', list(escaped(view.catalysts))),
    section(page, 'risks', list(escaped(view.risks))),
    section(page, 'beside', besideList(page)),
    section(page, 'company', list(escaped(view.company))),
    section(page, 'news', newsOf(page)),
    section(page, 'outlook', list(escaped(view.outlook))),
    section(page, 'model_words', modelComment(page)),
    section(page, 'strategies', list(view.strategies.map((finding) => strategyLine(finding, page)))),
    section(page, 'plan', planList(page)),
    section(page, 'data_quality', qualityList(page)),
  ]
}

function section({ labels, report }: Page, heading: keyof ReportTexts['heading'], body: string): Section {
  if (body === '') return null
  const mark = text(headingMark(report, heading))
  return [`## ${labels.heading[heading]}`, body, ...(mark === '' ? [] : [mark])].join('\n\n')
}

const modelComment = ({ view: { comment }, report }: Page): string =>
  comment === null ? '' : commentMarkdown(comment, report.meta.report_language)

const escaped = (texts: string[]) => texts.map(text)

/** The text about the news, followed by headlines as quotations of their authors. */
function newsOf({ view: { news, headlines }, report: { meta } }: Page): string {
  const told = list(escaped(news))
  if (headlines.length === 0) return told
  const lines = headlines.map(({ title: headline, source, publishedAt }) => {
    const from = [source, publishedAt?.slice(0, 10)].flatMap((part) => part ?? []).join(', ')
    return `> “${text(headline)}”${from === '' ? '' : ` (${text(from)})`}`
  })
  const quoted = [`> ${text(textsOf(meta.report_language).analysis.news.quoted)}`, ...lines].join('\n>\n')
  return [told, quoted].filter((part) => part !== '').join('\n\n')
}

function title({ report: { meta }, labels }: Page): string {
  const name = text(meta.stock_name ?? labels.unnamed)
  const code = text(meta.stock_code)
  const blank = labels.colon === '：' ? '' : ' '
  return `# ${name}${aside(code, meta.report_language)}${blank}${labels.heading.report}`
}

function notice({ report: { meta } }: Page): Section {
  const lines = [meta.reading, meta.data_notice].flatMap((line) => (line === null ? [] : [`> ${text(line)}`]))
  return lines.length === 0 ? null : lines.join('\n>\n')
}

/** Which checks failed or warn, before any figure. */
function checksNotice({ report: { meta } }: Page): Section {
  return meta.data_checks === null ? null : `> ${text(meta.data_checks)}`
}

const withMark = (line: string, mark: string): string => (mark === '' ? line : `${line} ${text(mark)}`)

/** The head of the report: one labelled line for each fact. */
function facts(page: Page): string {
  const { report, view, labels } = page
  const { summary } = report
  const { heading } = labels
  const { outlook } = textsOf(report.meta.report_language)
  const any = touchMark(report, 'any')
  const lines: [string, string | null][] = [
    [heading.price, priceText(page)],
    [heading.data_date, dateText(page)],
    [heading.advice, withMark(`**${text(summary.operation_advice)}**${otherAction(page)}${otherOpinion(page)}`, any)],
    [heading.trend, withMark(trendText(page), any)],
    [outlook.heading.horizons, view.horizons && text(view.horizons)],
    [heading.score, withMark(scoreText(report), any)],
    [heading.confidence, view.confidence && text(view.confidence)],
    [textsOf(report.meta.report_language).evidence.heading, view.evidence && text(view.evidence)],
    [textsOf(report.meta.report_language).consistency.basis, basisText(report)],
  ]
  return list(lines.flatMap(([label, value]) => (value ? [`${label}${labels.colon}${value}`] : [])))
}

/** The score with its word; only the word when there is no score. */
function scoreText(report: AnalysisReport): string {
  const { summary, meta } = report
  const label = summary.sentiment_label
  if (!hasScore(report)) return text(label ?? textsOf(meta.report_language).consistency.noScore)
  return `${summary.sentiment_score}/100${label ? aside(text(label), meta.report_language) : ''}`
}

/** How past prices were adjusted, and by whom. */
function basisText(report: AnalysisReport): string | null {
  const label = consistencyIn(report)?.adjustment.label
  return label === undefined ? null : text(label)
}

/** The day of the data with the phase of its session. A phase of another day is labelled as of now, or of the request. */
function dateText({ report: { meta }, view: { date }, labels }: Page): string | null {
  const session = meta.market_phase_summary
  const phase = session && labels.phase[session.phase]
  // Withheld figures have no day, and a phase alone means nothing.
  if (date === null || phase === null) return date
  if (session?.session_date === date) return `${text(date)} · ${phase}`
  const isOfClock =
    (session?.analysis_intent ?? 'auto') === 'auto' || session?.warnings.includes('phase_against_calendar') === true
  const template = isOfClock ? labels.phaseNow : labels.phaseAsked
  return text(date) + aside(fill(template, { phase }), meta.report_language)
}

function priceText(page: Page): string | null {
  const { report, view } = page
  const { meta } = report
  if (meta.current_price === null) return null
  const price = fixed(meta.current_price, view.decimals)
  const language = meta.report_language
  const change = meta.change_pct === null ? '' : aside(signedPct(meta.change_pct), language)
  const told = (view.currency === null ? price : withUnit(price, view.currency, language)) + change
  return withMark(told, touchMark(report, ['price', 'change']))
}

/** The action next to the advice, if the score moved it away from the text. */
function otherAction({ report: { summary } }: Page): string {
  const { action_label: label, operation_advice: advice } = summary
  return label === null || advice.toLowerCase().includes(label.toLowerCase()) ? '' : ` → ${text(label)}`
}

/** The model's opinion next to the advice, if it differs. */
function otherOpinion({ report, view: { comment } }: Page): string {
  return comment?.contradiction ? aside(text(comment.contradiction), report.meta.report_language) : ''
}

/** The trend over all horizons, and that of the short averages alone. */
function trendText({ report: { summary, meta }, view }: Page): string {
  const state = view.trend?.trend_status
  const short = state && fill(textsOf(meta.report_language).outlook.ofShort, { trend: text(state) })
  return short ? `${text(summary.trend_prediction)} · ${short}` : text(summary.trend_prediction)
}

function oneSentence({ view, report }: Page): string {
  const guard = view.guardReason === null ? '' : `\n\n${text(view.guardReason)}`
  return `${withMark(text(view.oneSentence ?? report.summary.analysis_summary), touchMark(report, 'any'))}${guard}`
}

/** The figures that a part of the score depends on; a part that is not listed is marked by any check. */
const PART_OF: Readonly<Record<string, readonly Touch[]>> = {
  trend: ['price', 'averages'],
  bias: ['price', 'averages'],
  volume: ['volume', 'price', 'change'],
  support: ['price', 'averages', 'levels'],
  macd: ['price', 'averages'],
  rsi: ['price', 'averages'],
}

function scoreTable(trend: TrendAnalysis, { labels, report }: Page): string {
  const { part, points, reason, score, raw_score } = labels.heading
  const any = touchMark(report, 'any')
  const rows = trend.score_parts.map(({ key, label, points: scored, max, reason: told }) => {
    return [text(label), `${scored} / ${max}`, withMark(text(told), touchMark(report, PART_OF[key] ?? 'any'))]
  })
  const total = (label: string, sum: number, told: string) => [
    `**${label}**`,
    `**${sum} / 100**`,
    withMark(text(told), any),
  ]
  const { sentiment_score: final, operation_advice: advice } = report.summary
  const isHeldBack = hasScore(report) && final !== trend.signal_score
  const first = total(isHeldBack ? raw_score : score, trend.signal_score, trend.buy_signal)
  return table([part, points, reason], [...rows, first, ...(isHeldBack ? [total(score, final, advice)] : [])])
}

function levels({ report: { strategy }, labels }: Page): [string, string][] {
  if (strategy === null) return []
  const keys = ['ideal_buy', 'secondary_buy', 'stop_loss', 'take_profit'] as const
  return keys.flatMap((key): [string, string][] => {
    const value = strategy[key]
    return value === null ? [] : [[labels.level[key], text(value)]]
  })
}

function levelTable(page: Page): string {
  const { level, reference, supports, resistances } = page.labels.heading
  const rows = levels(page)
  const nearby = list(
    [[supports, page.view.trend?.supports] as const, [resistances, page.view.trend?.resistances] as const].flatMap(
      ([label, found]) => {
        const prices = nearbyTexts(found ?? [], page)
        return prices.length === 0 ? [] : [`${label}${page.labels.colon}${prices.join(page.labels.listComma)}`]
      },
    ),
  )
  const derived = rows.length === 0 ? '' : table([level, reference], rows)
  return [derived, nearby].filter((part) => part !== '').join('\n\n')
}

/** Nearest first; levels with the same text are merged, with all their bases. */
function nearbyTexts(found: TrendAnalysis['supports'], { view, report, labels }: Page): string[] {
  const bases = new Map<string, Set<string>>()
  for (const { price, basis } of found) {
    const shown = fixed(price, view.decimals)
    bases.set(shown, (bases.get(shown) ?? new Set()).add(text(basis)))
  }
  return [...bases].map(([price, all]) => price + aside([...all].join(labels.comma), report.meta.report_language))
}

const besideList = ({ view, labels }: Page): string =>
  list(view.beside.map(({ label, text: told }) => `${text(label)}${labels.colon}${text(told)}`))

function levelList(page: Page): string {
  return list(levels(page).map(([label, value]) => `${label}${page.labels.colon}${value}`))
}

function indicatorTable(trend: TrendAnalysis, { labels, view, report }: Page): string {
  const { indicator, value } = labels.heading
  const inDigits =
    (digits: number) =>
    (...values: (number | null)[]) =>
      values.map((each) => shown(each, digits)).join(' / ')
  const [price, plain] = [inDigits(view.decimals), inDigits(2)]
  // Differences of averages need more digits for a small price.
  const fine = inDigits(Math.max(2, view.decimals + 1))
  const basis = text(trend.adjustment?.label ?? '')
  const of = (name: string) => (basis === '' ? name : name + aside(basis, report.meta.report_language))
  const averages = touchMark(report, ['averages'])
  const rows: [string, string, string][] = [
    [
      of(labels.indicator.ma),
      price(trend.ma5, trend.ma10, trend.ma20, trend.ma60_is_ma20 === true ? null : trend.ma60),
      averages,
    ],
    [labels.indicator.bias, plain(trend.bias_ma5, trend.bias_ma10, trend.bias_ma20), averages],
    [labels.indicator.macd, fine(trend.macd_dif, trend.macd_dea, trend.macd_bar), averages],
    [labels.indicator.rsi, plain(trend.rsi_6, trend.rsi_12, trend.rsi_24), averages],
    [labels.indicator.kdj, plain(trend.kdj_k, trend.kdj_d, trend.kdj_j), averages],
    [of(labels.indicator.boll), price(trend.boll_upper, trend.boll_middle, trend.boll_lower), averages],
    [labels.indicator.atr, price(trend.atr_14), averages],
    [labels.indicator.volume_ratio, volumeRatio(trend, { view, report }), touchMark(report, ['volume'])],
    ...performanceRows(trend, report),
    [of(yearRangeName(trend, report)), yearRange(trend, price), touchMark(report, ['range'])],
  ]
  const told = rows.map(([name, figures, mark]) => [name, /\d/.test(figures) ? withMark(figures, mark) : figures])
  return table([indicator, value], told)
}

/** While a session runs: with what it compares, or why there is none. */
function volumeRatio({ volume_ratio_5d: ratio }: TrendAnalysis, { view, report }: Pick<Page, 'view' | 'report'>) {
  if (view.volumeRatioNote === null) return shown(ratio, 2)
  return shown(ratio, 2) + aside(text(view.volumeRatioNote), report.meta.report_language)
}

/** The performance of the listing, and its turnover. */
function performanceRows(trend: TrendAnalysis, report: AnalysisReport): [string, string, string][] {
  const language = report.meta.report_language
  const { heading } = textsOf(language).outlook
  const plain = (...values: (number | null)[]) => values.map((value) => shown(value, 2)).join(' / ')
  const { average_turnover_20d: turnover } = trend
  return [
    [
      heading.returns,
      plain(trend.return_5d_pct, trend.return_20d_pct, trend.return_60d_pct, trend.return_250d_pct),
      touchMark(report, ['price', 'averages']),
    ],
    [heading.risk, plain(trend.volatility_60d_pct, trend.max_drawdown_250d_pct), touchMark(report, ['averages'])],
    [heading.turnover, turnover === null ? '–' : largeNumber(turnover, language), touchMark(report, ['volume'])],
  ]
}

const yearRange = (
  { low_52w: low, high_52w: high }: TrendAnalysis,
  price: (...values: (number | null)[]) => string,
): string => (low === null ? '–' : `${price(low)} – ${price(high)}`)

/** The name says so if the range of a year comes from adjusted bars. */
function yearRangeName({ adjustment }: TrendAnalysis, { meta }: AnalysisReport): string {
  const { report: labels, consistency } = textsOf(meta.report_language)
  return adjustment?.kind === 'forward' ? consistency.adjustedRange : labels.indicator.year_range
}

const shown = (value: number | null, decimals: number): string => (value === null ? '–' : fixed(value, decimals))

/** The verdict, then the state of each condition. */
function strategyLine(finding: ReportView['strategies'][number], { labels, report }: Page): string {
  const { name, verdict_label: verdict, met, unmet, unknown } = finding
  const marked = [
    ...met.map((one) => `✓ ${one}`),
    ...unmet.map((one) => `✗ ${one}`),
    ...unknown.map((one) => `? ${one}`),
  ]
  return `${text(name)}${labels.colon}**${text(verdict)}**${aside(escaped(marked).join(labels.listComma), report.meta.report_language)}`
}

function planList({ view: { plan, tradePlan }, labels, report }: Page): string {
  const lines: [string, string | null][] = [
    [labels.heading.no_position, plan.noPosition],
    [labels.heading.has_position, plan.hasPosition],
    [labels.heading.entry_plan, plan.entry],
    [labels.heading.risk_control, plan.risk],
    [textsOf(report.meta.report_language).outlook.heading.plan, tradePlan],
  ]
  return list(lines.flatMap(([label, value]) => (value ? [`${label}${labels.colon}${text(value)}`] : [])))
}

function qualityList({ report, view, labels }: Page): string {
  const pack = report.details?.analysis_context_pack_overview
  if (!pack) return list(escaped(view.limitations))
  const short = pack.blocks.filter(({ status }) => status !== 'available')
  return list([
    `${labels.heading.points}${labels.colon}${pack.data_quality.overall_score}/100`,
    ...escaped(checkLines(report)),
    ...short.map(({ label, status }) => `${text(label)}${labels.colon}${labels.blockStatus[status]}`),
    ...escaped(view.limitations),
  ])
}

/** Three to five sentences: verdict, levels, the first risk. */
function brief(page: Page): string {
  const { report, view, labels } = page
  const stop = labels.colon === '：' ? '。' : '. '
  const price = priceText(page)
  const sentences = [
    price === null ? null : `${labels.heading.price}${labels.colon}${price}`,
    withMark(text(view.oneSentence ?? report.summary.operation_advice), touchMark(report, 'any')),
    view.comment?.contradiction ? text(view.comment.contradiction) : null,
    levels(page)
      .map(([label, value]) => `${label} ${value}`)
      .join(labels.listComma),
    view.risks[0] ? `${labels.heading.risks}${labels.colon}${text(view.risks[0])}` : null,
  ]
  return `${sentences.filter(Boolean).join(stop)}${stop.trim()}`
}

function disclosure({ report: { details } }: Page): Section {
  return details?.empty_news_disclosure ? text(details.empty_news_disclosure) : null
}

/** The problems of a run that had any. */
function trouble({ labels }: Page, diagnostics: DiagnosticSummary | null): Section {
  if (diagnostics === null || (diagnostics.status !== 'degraded' && diagnostics.status !== 'failed')) return null
  const affected = Object.values(diagnostics.components).filter(
    ({ status }) => status === 'degraded' || status === 'failed',
  )
  const lines = affected.map(({ label, message }) => `${text(label)}${labels.colon}${text(message)}`)
  return `## ${labels.heading.diagnostics}${labels.colon}${labels.diagnosticStatus[diagnostics.status]}\n\n${list(lines)}`
}

function footer({ report: { meta }, labels }: Page): string {
  const { model_used: model } = meta
  const made = model === null ? withSeparator(labels.codeMade) : `${fill(labels.modelMade, { model: text(model) })} · `
  return `---\n\n${made}${labels.disclaimer}\n\n${text(meta.query_id)} · ${text(meta.created_at)}`
}
