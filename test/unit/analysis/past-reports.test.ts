// Reports of the past, whole and rendered: what came after their session changes no byte of them.

import { expect, inject, test } from 'vitest'
import { walkOf } from '../../../scripts/evaluate/walks.ts'
import { GROUPS } from '../../../src/analysis/evidence/vocabulary.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { Bar, Quote } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import type { AnalysisWorld } from './alone.ts'
import { failedFetch, fetchedValue, QUOTE, reportWith } from './company-reports.ts'
import { ROW as EVIDENCE } from './evidence-row.ts'

const REPORTS = inject('isProof') ? 10_000 : 60
/** Those with all that is told beside the bars. */
const REPORTS_BESIDE = inject('isProof') ? 2_000 : 30
const LENGTH = 400
/** Reports of one series, spread over it; the last is of a day that 30 bars come after. */
const EACH = 50
const LANGUAGES: readonly ReportLanguage[] = ['zh', 'en', 'ko']

/** What a source holds; it grows, and what is asked at a moment is what it has by then. */
interface Source {
  instrument: Instrument
  bars: Bar[]
  /** Of the index that the listing is measured against. */
  index: Bar[]
  /** What else was told on a day; null: bars and index alone. */
  beside: ((bar: Bar, before: Bar) => Partial<AnalysisWorld>) | null
}

/** A quote after the close, two rows of news and a row of evidence, as they were told on the day of the bar. */
function toldOn(bar: Bar, before: Bar): Partial<AnalysisWorld> {
  const at = Date.parse(`${bar.date}T21:00:00Z`)
  const quote: Quote = {
    ...{ ...QUOTE, name: 'Walk', currency: 'USD', quotedAt: at, prevClose: before.close, price: bar.close },
    ...{ open: bar.open, high: bar.high, low: bar.low, volume: bar.volume, change: bar.close - before.close },
    ...{ changePct: (bar.close / before.close - 1) * 100, totalMarketValue: null, circulatingMarketValue: null },
  }
  const items = ['The plant opens', 'The plant may open'].map((title, i) => ({
    ...{ title, snippet: `${title}, it was said`, url: `https://n.test/${i}`, source: 'n.test', provider: 'tavily' },
    ...{ publishedAt: `${before.date}T12:00:00Z`, dimension: 'latest_news' as const },
  }))
  const found = { count: 2, isPooled: false, social: null, ageSeconds: null, maxAgeDays: 3, runs: [] }
  return {
    quote: async () => fetchedValue(quote),
    news: { isConfigured: true, search: async () => ({ ...found, items }) },
    evidenceRows: async () => GROUPS.map((group) => ({ ...EVIDENCE, group, count: bar.volume })),
  }
}

/** An index that goes its own way on the sessions of a series, part of the way with it. */
function indexBeside(bars: readonly Bar[]): Bar[] {
  const first = bars[0]?.close ?? 1
  return bars.map(({ date, close }, i) => {
    const level = 3_000 * Math.sqrt(close / first) * (1 + 0.01 * Math.sin(i * 1.7))
    return { date, open: level, high: level * 1.002, low: level * 0.998, close: level, volume: 1e8, amount: null }
  })
}

/** A listing's report after the close of a day, from all that its source holds up to that day. */
async function reportOf(
  { instrument, bars, index, beside }: Source,
  date: string,
  language: ReportLanguage,
): Promise<AnalysisReport> {
  const at = bars.findIndex((bar) => bar.date === date)
  const [bar, before] = [bars[at], bars[at - 1]]
  const told = beside === null || bar === undefined || before === undefined ? {} : beside(bar, before)
  const changes = {
    dailyBars: async () => fetchedValue(bars.filter((one) => one.date <= date)),
    // The whole of it: what the index did later must be left out by the report itself.
    indexBars: async () => fetchedValue(index),
    quote: async () => failedFetch('http_429'),
    ...told,
    // Ten at night in UTC: every market of the walks has closed.
    clock: () => Date.parse(`${date}T22:00:00Z`),
  }
  return await reportWith(null, changes, { instrument, language })
}

const rendered = (report: AnalysisReport): string =>
  [JSON.stringify(report), renderMarkdown(report), renderHtml(report)].join('\n')

/** Makes reports of walks as they were and again from sources that have grown, and compares them to the byte. */
async function compareAgain({ count, beside }: { count: number; beside: Source['beside'] }): Promise<void> {
  let compared = 0
  for (let seed = 1; compared < count; seed++) {
    const { instrument, bars } = walkOf({ seed, bars: LENGTH, drift: 0 })
    const index = indexBeside(bars)
    const each = Math.min(EACH, count - compared)
    const days = Array.from({ length: each }, (_, i) => 30 + Math.floor((i * (LENGTH - 60)) / each))
    const before: string[] = []
    // As it was: the source ends with the day of the report, in bars of their own.
    for (const [i, day] of days.entries()) {
      const past = <T>(series: readonly T[]) => structuredClone(series.slice(0, day + 1))
      const source = { instrument, bars: past(bars), index: past(index), beside }
      const report = await reportOf(source, bars[day]?.date ?? '', LANGUAGES[i % 3] ?? 'zh')
      if (day >= 60)
        expect(report.details?.raw_result).toMatchObject({
          market_comparison: { status: 'told', beta: expect.any(Number) },
          ...(beside === null ? {} : { evidence: { row: { verdict: 'no_edge_shown' } }, news_result_count: 2 }),
        })
      if (beside !== null) expect(report.meta.current_price).toBeCloseTo(bars[day]?.close ?? 0, 3)
      before.push(rendered(report))
    }
    // Later: one source that holds everything, asked from the newest day back, so that whatever a report leaves behind meets those of earlier days.
    for (const [i, day] of [...days.entries()].reverse()) {
      const again = rendered(
        await reportOf({ instrument, bars, index, beside }, bars[day]?.date ?? '', LANGUAGES[i % 3] ?? 'zh'),
      )
      expect(again === before[i], `seed ${seed}, ${bars[day]?.date}`).toBe(true)
      compared += 1
    }
  }
  expect(compared).toBe(count)
}

test('bars that come later change no byte of the JSON, Markdown and HTML of reports that were made before', async () => {
  await compareAgain({ count: REPORTS, beside: null })
}, 3_600_000)

test('nor of reports with a quote, news and evidence, where those are what they were', async () => {
  await compareAgain({ count: REPORTS_BESIDE, beside: toldOn })
}, 3_600_000)

test('a bar of a day that has not come is left out: it is told, and no figure of the report differs', async () => {
  for (const seed of [1, 2, 3]) {
    const { instrument, bars } = walkOf({ seed, bars: 300, drift: 0 })
    const date = bars[250]?.date ?? ''
    const changes = { quote: async () => failedFetch('http_429'), clock: () => Date.parse(`${date}T22:00:00Z`) }
    const made = async (count: number) =>
      await reportWith(null, { ...changes, dailyBars: async () => fetchedValue(bars.slice(0, count)) }, { instrument })
    const [alone, ahead] = [await made(251), await made(252)]
    expect(ahead.meta.data_checks).not.toEqual(alone.meta.data_checks)
    expect(figuresOf(ahead)).toEqual(figuresOf(alone))
  }
})

/** Score, figures, plan and chart as they are given to programs. */
function figuresOf({ summary, details }: AnalysisReport) {
  const { raw_result: raw, context_snapshot: context } = details ?? {}
  const enhanced = context?.enhanced_context as { trend_analysis: object | null } | undefined
  expect(enhanced?.trend_analysis).toMatchObject({ ma5: expect.any(Number) })
  const { sentiment_score: score, action } = summary
  return { score, action, trend: enhanced?.trend_analysis, plan: raw?.trade_plan, chart: context?.chart_series }
}
