// Reports as messages: a title and a text.

import { hasScore, touchMark } from '../analysis/report/consistency.ts'
import { renderMarkdown } from '../analysis/report/render/markdown.ts'
import { escapeMarkdown } from '../analysis/report/render/markdown-text.ts'
import { reportView } from '../analysis/report/render/view.ts'
import type { AnalysisReport, ReportLanguage } from '../analysis/schemas.ts'
import { textsOf } from '../analysis/texts/book.ts'
import type { Line } from './channel.ts'
import type { BatchItem } from './delivery.ts'
import { cut } from './dialects.ts'
import { sizeOf, split } from './split.ts'

export type Message = { title: string; markdown: string }

/** A report of the history; `finished` replaces the usual text if the report has a title and a text of its own. */
export type ToldReport = { report: AnalysisReport; finished: Message | null }

const TITLE_CHARACTERS = 200

type Words = {
  digest: (count: number) => string
  missing: (count: number) => string
  noReport: string
  score: string
  test: string
  testBody: (channel: string) => string
}

export const MESSAGE_TEXTS: Record<ReportLanguage, Words> = {
  zh: {
    digest: (count) => `股票分析汇总（${count} 只）`,
    missing: (count) => `其中 ${count} 只没有报告`,
    noReport: '没有报告',
    score: '评分',
    test: '测试消息',
    testBody: (channel) => `通知渠道 ${channel} 可以收到消息。`,
  },
  en: {
    digest: (count) => `Stock analyses: ${count} in all`,
    missing: (count) => `${count} of them without a report`,
    noReport: 'no report',
    score: 'score',
    test: 'Test message',
    testBody: (channel) => `The channel ${channel} receives messages.`,
  },
  ko: {
    digest: (count) => `종목 분석 요약 (${count}개)`,
    missing: (count) => `그중 ${count}개는 보고서 없음`,
    noReport: '보고서 없음',
    score: '점수',
    test: '테스트 메시지',
    testBody: (channel) => `알림 채널 ${channel}에서 메시지를 받을 수 있습니다.`,
  },
}

export function reportMessage({ report, finished }: ToldReport): Message {
  const { title, markdown } = finished ?? { title: titleOf(report), markdown: renderMarkdown(report) }
  const mark = report.meta.data_checks === null ? '' : ' ⚠'
  return { title: `${cut(title, TITLE_CHARACTERS - mark.length)}${mark}`, markdown }
}

function titleOf({ meta, summary }: AnalysisReport): string {
  return `${meta.stock_name ?? meta.stock_code} (${meta.stock_code}) · ${adviceOf(summary)}`
}

/** Every requested stock with its result, followed by one section for each report. */
export function digestMessage(
  items: readonly BatchItem[],
  reports: ReadonlyMap<string, ToldReport>,
  language: ReportLanguage,
): Message {
  const words = MESSAGE_TEXTS[language]
  const missing = items.filter(({ taskId }) => !reports.has(taskId)).length
  const title = words.digest(items.length)
  const lines = items.map((item) => lineOf(item, reports.get(item.taskId), words))
  const sections = items
    .flatMap(({ taskId }) => reports.get(taskId)?.report ?? [])
    .map((report) => sectionOf(report, words))
  const note = missing === 0 ? [] : [words.missing(missing)]
  return { title, markdown: [`# ${title}`, ...note, lines.join('\n'), ...sections].join('\n\n') }
}

/** The model's opinion, if it differs from the advice. */
function opinionOf(report: AnalysisReport): string {
  const opinion = reportView(report).comment?.contradiction ?? null
  return opinion === null ? '' : ` · ${escapeMarkdown(opinion)}`
}

function lineOf({ stockCode, stockName, error }: BatchItem, told: ToldReport | undefined, words: Words): string {
  const name = told?.report.meta.stock_name ?? stockName
  const label = escapeMarkdown(name === null ? stockCode : `${name} (${stockCode})`)
  if (told === undefined) return `- ${label}: ${words.noReport}${error === null ? '' : ` – ${escapeMarkdown(error)}`}`
  const { summary } = told.report
  return `- ${label}: **${escapeMarkdown(adviceOf(summary))}** · ${scoreOf(told.report, words)}${markOf(told.report)}${opinionOf(told.report)}`
}

const LEVELS = ['ideal_buy', 'secondary_buy', 'stop_loss', 'take_profit'] as const

function sectionOf(report: AnalysisReport, words: Words): string {
  const { meta, summary, strategy } = report
  const heading = `## ${escapeMarkdown(`${meta.stock_name ?? meta.stock_code} (${meta.stock_code})`)}`
  const verdict = `**${escapeMarkdown(adviceOf(summary))}** · ${scoreOf(report, words)}${markOf(report)}`
  const labels = textsOf(meta.report_language).report
  const levels = LEVELS.flatMap((name) => {
    const level = strategy?.[name] ?? ''
    return level === '' ? [] : [`- ${labels.level[name]}${labels.colon}${escapeMarkdown(level)}`]
  })
  const { outlook } = textsOf(meta.report_language)
  const { tradePlan } = reportView(report)
  const worth = tradePlan === null ? [] : [`- ${outlook.heading.plan}${outlook.colon}${escapeMarkdown(tradePlan)}`]
  const lines = [...levels, ...worth]
  const plan = lines.length === 0 ? [] : [lines.join('\n')]
  const reading = meta.reading === null ? [] : [escapeMarkdown(meta.reading)]
  return [heading, ...reading, verdict, escapeMarkdown(summary.analysis_summary), ...plan].join('\n\n')
}

/** The score; for a report without one, the word for that. */
function scoreOf(report: AnalysisReport, words: Words): string {
  const { noScore } = textsOf(report.meta.report_language).consistency
  return hasScore(report) ? `${words.score} ${report.summary.sentiment_score}/100` : noScore
}

/** The results of the checks, after the score. */
function markOf(report: AnalysisReport): string {
  const mark = touchMark(report, 'any')
  return mark === '' ? '' : ` ${escapeMarkdown(mark)}`
}

const adviceOf = ({ action_label, operation_advice }: AnalysisReport['summary']): string =>
  action_label ?? operation_advice

export function testMessage(channel: string, language: ReportLanguage): Message {
  const words = MESSAGE_TEXTS[language]
  return { title: words.test, markdown: `# ${words.test}\n\n${escapeMarkdown(words.testBody(channel))}` }
}

/** No message has as many parts, so no number is wider than this one. */
const WIDEST = { n: 9_999, of: 9_999 }

/** The message in as many parts as the line needs; each is within its limit when it is rendered with its number. */
export function partsOf({ title, markdown }: Message, { limit, render }: Line): string[] {
  const fits = (n: { n: number; of: number }) => (text: string) =>
    sizeOf(render({ title, markdown: text, ...n }), limit.unit) <= limit.max
  const whole = markdown.trim()
  return fits({ n: 1, of: 1 })(whole) ? [whole] : split(whole, fits(WIDEST))
}
