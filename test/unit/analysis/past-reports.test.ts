// Reports of the past, whole and rendered: what came after their session changes no byte of them.

import { expect, inject, test } from 'vitest'
import { walkOf } from '../../../scripts/evaluate/walks.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { Bar } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { got, lost, reportWith } from './company-reports.ts'

const REPORTS = inject('isProof') ? 10_000 : 60
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
  { instrument, bars, index }: Source,
  date: string,
  language: ReportLanguage,
): Promise<AnalysisReport> {
  const changes = {
    dailyBars: async () => got(bars.filter((bar) => bar.date <= date)),
    // The whole of it: what the index did later must be left out by the report itself.
    indexBars: async () => got(index),
    quote: async () => lost('http_429'),
    // Ten at night in UTC: every market of the walks has closed.
    clock: () => Date.parse(`${date}T22:00:00Z`),
  }
  return await reportWith(null, changes, { instrument, language })
}

const rendered = (report: AnalysisReport): string =>
  [JSON.stringify(report), renderMarkdown(report), renderHtml(report)].join('\n')

test('bars that come later change no byte of the JSON, Markdown and HTML of reports that were made before', async () => {
  let compared = 0
  for (let seed = 1; compared < REPORTS; seed++) {
    const { instrument, bars } = walkOf({ seed, bars: LENGTH, drift: 0 })
    const index = indexBeside(bars)
    const each = Math.min(EACH, REPORTS - compared)
    const days = Array.from({ length: each }, (_, i) => 30 + Math.floor((i * (LENGTH - 60)) / each))
    const before: string[] = []
    // As it was: the source ends with the day of the report, in bars of their own.
    for (const [i, day] of days.entries()) {
      const past = <T>(series: readonly T[]) => structuredClone(series.slice(0, day + 1))
      const source = { instrument, bars: past(bars), index: past(index) }
      const report = await reportOf(source, bars[day]?.date ?? '', LANGUAGES[i % 3] ?? 'zh')
      if (day >= 60)
        expect(report.details?.raw_result).toMatchObject({
          market_comparison: { status: 'told', beta: expect.any(Number) },
        })
      before.push(rendered(report))
    }
    // Later: one source that holds everything, asked from the newest day back, so that whatever a report leaves behind meets those of earlier days.
    for (const [i, day] of [...days.entries()].reverse()) {
      const again = rendered(
        await reportOf({ instrument, bars, index }, bars[day]?.date ?? '', LANGUAGES[i % 3] ?? 'zh'),
      )
      expect(again === before[i], `seed ${seed}, ${bars[day]?.date}`).toBe(true)
      compared += 1
    }
  }
  expect(compared).toBe(REPORTS)
}, 3_600_000)

test('a bar of a day that has not come is left out: it is told, and no figure of the report differs', async () => {
  for (const seed of [1, 2, 3]) {
    const { instrument, bars } = walkOf({ seed, bars: 300, drift: 0 })
    const date = bars[250]?.date ?? ''
    const changes = { quote: async () => lost('http_429'), clock: () => Date.parse(`${date}T22:00:00Z`) }
    const made = async (count: number) =>
      await reportWith(null, { ...changes, dailyBars: async () => got(bars.slice(0, count)) }, { instrument })
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
