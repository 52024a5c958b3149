// Hostile answers of a model and hostile news: whatever they say, every field outside the box of the model's words is what it is
// when the model says nothing of note, in the report and in all that is made of it.

import { expect, inject, test } from 'vitest'
import { stepTeller } from '../../../src/analysis/flow/live.ts'
import type { FlowEvent } from '../../../src/analysis/flow/run-flow.ts'
import type { Narrator } from '../../../src/analysis/narrator.ts'
import { recordOf } from '../../../src/analysis/report/record.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { RunJob } from '../../../src/analysis/task.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import { digestMessage, reportMessage } from '../../../src/notify/message.ts'
import type { HostileText } from '../../fixtures/sentences/hostile.ts'
import { DEVELOPMENT } from '../../fixtures/sentences/split.ts'
import { ALONE, type AnalysisWorld, analyze, DEADLINES, jobOf, type Subject } from './alone.ts'
import { barsOf, wave } from './series.ts'

/** Every third, unless everything is to be proved. */
const HOSTILE = DEVELOPMENT.hostile.filter((_, at) => inject('isProof') || at % 3 === 0)

const NOW = Date.parse('2026-03-20T08:00:00Z')
const BARS = barsOf(wave(80, 0.3, 1400))

const subjectIn = (language: ReportLanguage): Subject => ({
  instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
  names: { zh: '贵州茅台', en: 'Kweichow Moutai' },
  request: { reportType: 'detailed', language, analysisPhase: 'auto', skills: null },
  configuredLanguage: language,
  queryId: 'd'.repeat(32),
})

type NewsArticle = { title: string; snippet: string; source: string }

const newsOf = (told: NewsArticle): AnalysisWorld['news'] => ({
  isConfigured: true,
  search: async () => ({
    ...{ count: 1, isPooled: false, social: null, ageSeconds: null, maxAgeDays: 3, runs: [] },
    items: [
      {
        ...told,
        ...{
          url: 'https://n.test/1',
          publishedAt: '2026-03-19T00:00:00Z',
          dimension: 'latest_news',
          provider: 'tavily',
        },
      },
    ],
  }),
})

type Case = { language: ReportLanguage; output: unknown; news: NewsArticle | null }

/** What a run shows: its report, its record, its pages and messages, and what is streamed while it goes on. */
async function shownOf({ language, output, news }: Case) {
  const narrator: Narrator = {
    complete: async () => ({ output, model: 'test/model', provider: 'test', tokens: 1, isCutOff: false }),
  }
  const frames: unknown[] = []
  const subject = subjectIn(language)
  const result = await analyze(subject, {
    dailyBars: async () => ({ ok: true, value: BARS, provider: 'tencent', provenance: null, runs: [] }),
    quote: async () => ({ ok: false, runs: [] }),
    ...ALONE,
    ...{ narrator, news: news && newsOf(news), clock: () => NOW, deadlines: DEADLINES },
    onStage: (...stage) => void frames.push(stage),
    signal: new AbortController().signal,
  })
  if (!result.ok) throw new Error(result.message)
  const { report, diagnostics } = result
  const job: RunJob = { ...jobOf(subject.instrument, { ...subject.request, language }), queryId: subject.queryId }
  frames.push(...(await stepsOf(job, diagnostics.llm_runs)))
  const {
    report: stored,
    diagnostics: run,
    ...row
  } = recordOf({ owner: 'ann', request: job.request, report, diagnostics })
  return {
    report,
    stored: JSON.parse(stored),
    run: JSON.parse(run ?? 'null'),
    row,
    frames,
    ...surfacesOf(report, language),
  }
}

async function stepsOf(job: RunJob, runs: readonly Record<string, unknown>[]): Promise<Omit<FlowEvent, 'timestamp'>[]> {
  const events: FlowEvent[] = []
  const steps = stepTeller(job, {
    onStage: async () => {},
    onSteps: async (told) => void events.push(...told),
    signal: new AbortController().signal,
  })
  for (const run of runs) await steps.model(run as Parameters<typeof steps.model>[0])
  return events.map(({ timestamp: _, ...event }) => event)
}

function surfacesOf(report: AnalysisReport, language: ReportLanguage) {
  const as = (report_type: AnalysisReport['meta']['report_type']) => ({
    ...report,
    meta: { ...report.meta, report_type },
  })
  const { stock_code: stockCode, stock_name: stockName } = report.meta
  const item = { taskId: 't', stockCode, stockName, isCompleted: true, error: null }
  return {
    markdown: renderMarkdown(report),
    html: renderHtml(report),
    simple: renderMarkdown(as('simple')),
    brief: renderMarkdown(as('brief')),
    message: reportMessage({ report, finished: null }),
    digest: digestMessage([item], new Map([['t', { report, finished: null }]]), language),
  }
}

type ReportTexts = Awaited<ReturnType<typeof shownOf>>

/** Every text and figure of it outside the box, by where it stands. */
function outside(shown: ReportTexts, language: ReportLanguage): Record<string, string> {
  const heading = textsOf(language).report.heading.model_words
  const counts = new RegExp(textsOf(language).analysis.modelCounts.replace(/\{\w+\}/g, '\\d+'))
  const found: Record<string, string> = {}
  const visit = (value: unknown, path: string) => {
    // How an answer was out of shape is said in code's words.
    if (/\.(?:model_comment|figure_check|problems)$/.test(path)) return
    // A frame has the time of the machine.
    if (/^\.frames\..*\.(?:started_at|ended_at|duration_ms)$/.test(path)) return
    if (typeof value === 'object' && value !== null) {
      const entries = Array.isArray(value) ? value.filter((one) => typeof one !== 'string' || !counts.test(one)) : value
      for (const [key, one] of Object.entries(entries)) visit(one, `${path}.${key}`)
    } else found[path] = withoutBox(String(value), heading, counts)
  }
  visit(shown, '')
  return found
}

/** A page without the section of the model's words and the note that counts them. */
const withoutBox = (text: string, heading: string, counts: RegExp) =>
  text
    .replace(new RegExp(`^## ${heading}\\n[\\s\\S]*?(?=^## )`, 'gm'), '')
    .replace(new RegExp(`<h2>${heading.replace("'", "(?:&#39;|')")}</h2>[\\s\\S]*?(?=<h2>)`, 'g'), '')
    .split('\n')
    .filter((line) => !counts.test(line))
    .join('\n')

/** An answer that says the text in every place that a model may fill, and tries more places. */
function answerWith(text: string, fields: HostileText['fields'] = {}) {
  const [line, paragraph] = [text.slice(0, 400), text.slice(0, 2_000)]
  const paragraphs = [
    ...['technical_analysis', 'ma_analysis', 'volume_analysis', 'fundamental_analysis', 'news_summary'],
    ...['market_sentiment', 'sector_position', 'short_term_outlook', 'medium_term_outlook', 'earnings_outlook'],
  ]
  return {
    ...fields,
    ...nested(fields),
    ...Object.fromEntries(paragraphs.map((key) => [key, paragraph])),
    ...{ one_sentence: line, analysis_summary: paragraph, action: 'buy' },
    ...{ positive_catalysts: [line], risk_alerts: [line], advice_without_position: line, advice_with_position: line },
  }
}

/** `a.b` as objects in one another. */
function nested(fields: HostileText['fields']): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(fields)) {
    const [first = '', ...rest] = path.split('.')
    if (rest.length > 0) root[first] = { ...(root[first] as object), ...nested({ [rest.join('.')]: value }) }
    else root[first] = value
  }
  return root
}

const CALM: NewsArticle = { title: 'A calm day', snippet: 'Nothing happened', source: 'n.test' }
test('hostile answers change no field outside the box, nor any page, row, message or frame', async () => {
  const calm = new Map<string, Record<string, string>>()
  const calmOf = async (language: ReportLanguage, isUsable: boolean) => {
    const key = `${language} ${isUsable}`
    const known =
      calm.get(key) ??
      outside(await shownOf({ language, output: isUsable ? answerWith('x') : 'x', news: null }), language)
    calm.set(key, known)
    return known
  }
  for (const { id, text, fields, language } of HOSTILE) {
    for (const output of [
      answerWith(text, fields),
      text,
      JSON.stringify({ ...answerWith('x'), ...fields, action: text }),
    ]) {
      const shown = await shownOf({ language, output, news: null })
      const expected = await calmOf(language, shown.report.meta.model_used !== null)
      expect([id, outside(shown, language)]).toEqual([id, expected])
    }
  }
}, 300_000)

/** Where the news themselves stand: the list of them, and what the report was made from. */
const LISTED = /news_content$|news_items\.0\.(?:title|snippet)$|^\.row\.contextSnapshot$/

/** A page without the lines in which it quotes headlines as such. */
const withoutQuotations = (page: string) =>
  page
    .split('\n')
    .filter((line) => !/^(?:> |<p>)“/.test(line))
    .join('\n')

test('hostile news stand in the list of news, are quoted as headlines, and are nowhere else outside the box', async () => {
  for (const { id, text, language } of HOSTILE) {
    const quiet = outside(await shownOf({ language, output: answerWith('x'), news: CALM }), language)
    const told = { title: text.slice(0, 200), snippet: text, source: 'n.test' }
    const loud = outside(await shownOf({ language, output: answerWith(text), news: told }), language)
    expect([id, Object.keys(loud)]).toEqual([id, Object.keys(quiet)])
    for (const [path, value] of Object.entries(loud)) {
      if (LISTED.test(path)) continue
      const [said, expected] = [value, quiet[path] ?? ''].map(withoutQuotations)
      expect([id, path, said]).toEqual([id, path, expected])
    }
  }
}, 300_000)
