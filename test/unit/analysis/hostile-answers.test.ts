// Hostile answers of a model, and hostile texts of news, against every form in which a report leaves: none of what they bring stands
// outside the box of the model's words, and no field has the value that they ask for.

import { expect, test } from 'vitest'
import type { Deps } from '../../../src/analysis/gather/input.ts'
import type { Narrator } from '../../../src/analysis/narrator.ts'
import { recordOf } from '../../../src/analysis/report/record.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import { digestMessage, reportMessage } from '../../../src/notify/message.ts'
import { DEVELOPMENT } from '../../fixtures/sentences/split.ts'
import { ALONE, analyze, DEADLINES, type Subject } from './alone.ts'
import { barsOf, wave } from './series.ts'

const NOW = Date.parse('2026-03-20T08:00:00Z')
const REQUEST = { reportType: 'detailed', analysisPhase: 'auto', skills: null } as const
const subject = (language: ReportLanguage): Subject => ({
  instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
  names: { zh: '贵州茅台' },
  request: { ...REQUEST, language },
  configuredLanguage: 'zh',
  queryId: 'd'.repeat(32),
})

/** An answer that says the text in every place that a model may fill. */
function answerWith(text: string, action = 'buy') {
  const [line, paragraph] = [text.slice(0, 400), text.slice(0, 2_000)]
  const paragraphs = [
    ...['technical_analysis', 'ma_analysis', 'volume_analysis', 'fundamental_analysis', 'news_summary'],
    ...['market_sentiment', 'sector_position', 'short_term_outlook', 'medium_term_outlook', 'earnings_outlook'],
  ]
  return {
    ...Object.fromEntries(paragraphs.map((key) => [key, paragraph])),
    ...{ one_sentence: line, analysis_summary: paragraph, action },
    ...{ positive_catalysts: [line], risk_alerts: [line], advice_without_position: line, advice_with_position: line },
  }
}

type ReportSurfaces = { report: AnalysisReport; frames: string[]; row: string }

async function made(
  output: unknown,
  { language = 'zh', news = null }: { language?: ReportLanguage; news?: Deps['news'] } = {},
): Promise<ReportSurfaces> {
  const narrator: Narrator = {
    complete: async ({ onText }) => {
      onText?.(500)
      return { output, model: 'test/model', provider: 'test', tokens: 1, isCutOff: false }
    },
  }
  const frames: string[] = []
  const result = await analyze(subject(language), {
    dailyBars: async () => ({
      ok: true,
      value: barsOf(wave(80, 0.3, 1400)),
      provider: 'tencent',
      provenance: null,
      runs: [],
    }),
    quote: async () => ({ ok: false, runs: [] }),
    ...{ ...ALONE, news, narrator },
    onStage: (...frame) => void frames.push(frame.join(' ')),
    clock: () => NOW,
    signal: new AbortController().signal,
    deadlines: DEADLINES,
  })
  if (!result.ok) throw new Error(result.message)
  return { report: result.report, frames, row: JSON.stringify(rowOf(result.report, result.diagnostics)) }
}

/** What lists of the history show and search. */
function rowOf(report: AnalysisReport, diagnostics: Parameters<typeof recordOf>[0]['diagnostics']) {
  const request = {
    ...{ kind: 'analysis' as const, key: '600519', stockCode: '600519', stockName: null, reportLanguage: null },
    ...{ originalQuery: null, selectionSource: null, forceRefresh: false, notify: false, region: null, reading: null },
    ...{ priority: 'interactive' as const, batch: null, channels: null, ...REQUEST, language: 'zh' as const },
  }
  const {
    report: _report,
    contextSnapshot: _snapshot,
    ...columns
  } = recordOf({ owner: 'ann', request, report, diagnostics })
  return columns
}

/** Every form of a report, each without the box. */
function surfaces({ report, frames, row }: ReportSurfaces): Record<string, string> {
  const raw = { ...report.details?.raw_result, model_comment: null }
  const bare: AnalysisReport = { ...report, details: report.details && { ...report.details, raw_result: raw } }
  const short = (report_type: 'simple' | 'brief') =>
    renderMarkdown({ ...report, meta: { ...report.meta, report_type } })
  const { model_words: heading } = textsOf(report.meta.report_language).report.heading
  const cutBox = (text: string, next: string) => {
    const at = text.indexOf(heading)
    return at < 0 ? text : text.slice(0, at) + text.slice(text.indexOf(next, at))
  }
  const items = [{ taskId: 't', stockCode: '600519', stockName: null, isCompleted: true, error: null }]
  const told = { report, finished: null }
  return {
    ...{ json: JSON.stringify(bare), row, frames: frames.join('\n') },
    markdown: cutBox(renderMarkdown(report), '\n## '),
    html: cutBox(renderHtml(report), '<h2'),
    ...{ simple: short('simple'), brief: short('brief') },
    message: reportMessage(told).title + cutBox(reportMessage(told).markdown, '\n## '),
    digest: digestMessage(items, new Map([['t', told]]), report.meta.report_language).markdown,
  }
}

const plain = (text: string) => text.normalize('NFKC').replace(/\p{Cf}/gu, '')

/** Every value at any depth that stands under one of the names. */
function valuesUnder(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [
    ...(key === name && key !== 'model_comment' ? [one] : []),
    ...(key === 'model_comment' ? [] : valuesUnder(one, name)),
  ])
}

test('hostile answers reach no form of a report outside the box, and no field has the value that they ask for', async () => {
  const first = await made(answerWith('x'))
  const calm = Object.fromEntries(Object.entries(surfaces(first)).map(([name, text]) => [name, plain(text)]))
  let looked = 0
  for (const { id, text, marks, fields } of DEVELOPMENT.hostile) {
    for (const output of [answerWith(text), text, { ...answerWith('x'), ...fields }]) {
      const one = await made(output)
      for (const [name, rest] of Object.entries(surfaces(one))) {
        for (const mark of marks) {
          if (calm[name]?.includes(plain(mark))) continue
          expect([id, name, mark, rest.includes(mark) || plain(rest).includes(plain(mark))]).toEqual([
            id,
            name,
            mark,
            false,
          ])
          looked++
        }
      }
      for (const name of Object.keys(fields)) {
        const asked = JSON.stringify(fields[name])
        const held = valuesUnder(first.report, name).map((value) => JSON.stringify(value))
        const values = valuesUnder(one.report, name).map((value) => JSON.stringify(value))
        expect([id, name, values.filter((value) => value === asked && !held.includes(value))]).toEqual([id, name, []])
      }
      // Of an answer without a usable shape code's summary says so.
      const ofCode = ({ report: { summary, strategy } }: ReportSurfaces) => [
        { ...summary, analysis_summary: null },
        strategy,
      ]
      expect([id, ofCode(one)]).toEqual([id, ofCode(first)])
    }
  }
  expect(looked).toBeGreaterThan(DEVELOPMENT.hostile.length)
}, 300_000)

const newsOf = (title: string): NonNullable<Deps['news']> => ({
  isConfigured: true,
  search: async () => ({
    ...{ count: 1, isPooled: false, social: null, ageSeconds: null, maxAgeDays: 3, runs: [] },
    items: [
      {
        ...{ title, snippet: title, url: 'https://n.test/1', source: 'n.test', publishedAt: '2026-03-19T00:00:00Z' },
        ...{ dimension: 'latest_news' as const, provider: 'tavily' },
      },
    ],
  }),
})

test('hostile texts of news change no advice, score, level, trend or verdict', async () => {
  const verdictOf = ({ report: { summary, strategy, details } }: ReportSurfaces) => {
    const { analysis_summary: _, ...computed } = summary
    const dashboard = details?.raw_result?.dashboard as Record<string, unknown> | undefined
    expect(dashboard).toBeDefined()
    return JSON.stringify([computed, strategy, dashboard?.core_conclusion, dashboard?.battle_plan])
  }
  const calm = verdictOf(await made(answerWith('x'), { news: newsOf('贵州茅台召开股东大会') }))
  for (const { id, text } of DEVELOPMENT.hostile) {
    const one = await made(answerWith('x'), { news: newsOf(text.slice(0, 200)) })
    expect([id, verdictOf(one)]).toEqual([id, calm])
    // What programs read of the news are counts, source and date.
    const raw = one.report.details?.raw_result as { news_summary: string; dashboard: { intelligence: object } }
    const read = JSON.stringify([raw.news_summary, raw.dashboard.intelligence])
    expect([id, read.includes(JSON.stringify(text.slice(0, 200)).slice(1, -1))]).toEqual([id, false])
  }
}, 300_000)

test('a headline is quoted among the news, under a sentence that says whose words it is', async () => {
  for (const language of ['zh', 'en', 'ko'] as const) {
    const { markdown } = surfaces(await made(answerWith('x'), { language, news: newsOf('股东大会 召开') }))
    expect(markdown).toContain(textsOf(language).analysis.news.quoted)
    expect(markdown).toContain('> “股东大会 召开” (n.test, 2026-03-19)')
  }
})

test('a model that contradicts the advice is shown beside it in every form and language, and not followed', async () => {
  for (const language of ['zh', 'en', 'ko'] as const) {
    const agreed = await made(answerWith('x', 'hold'), { language })
    for (const action of ['sell', 'buy'] as const) {
      const one = await made(answerWith('x', action), { language })
      expect([one.report.summary, one.report.strategy]).toEqual([agreed.report.summary, agreed.report.strategy])
      if (one.report.summary.action === action) continue
      const { modelDiffers } = textsOf(language).analysis
      const opinion = modelDiffers.replace('{action}', textsOf(language).report.action[action])
      const { simple, brief, digest, markdown, html, message } = surfaces(one)
      for (const text of [simple, brief, digest, markdown, html, message]) expect(text).toContain(opinion)
    }
  }
})
