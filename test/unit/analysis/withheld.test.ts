// Reports whose figures failed a check, and those that a check warns of: what stands in every form of them.

import { expect, test } from 'vitest'
import { previousOf } from '../../../src/analysis/gather/previous.ts'
import type { Narrator } from '../../../src/analysis/narrator.ts'
import { recordOf } from '../../../src/analysis/report/record.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { type AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { digestMessage, reportMessage } from '../../../src/notify/message.ts'
import { BARS, fetchedValue, LAST, QUOTE, reportWith, WHOLE } from './company-reports.ts'
import { barsOf, wave } from './series.ts'

const TYPES = ['simple', 'detailed', 'full', 'brief'] as const

/** A split of ten to one, three bars ago, that the source did not take out. */
const SPLIT = BARS.map((bar, i): Bar => {
  if (i >= BARS.length - 3) return bar
  const { open, high, low, close } = bar
  return { ...bar, open: open * 10, high: high * 10, low: low * 10, close: close * 10, volume: bar.volume / 10 }
})
/** One high, ten times. */
const TICK = BARS.map((bar, i) => (i === 40 ? { ...bar, high: bar.high * 10 } : bar))

type Raw = Record<string, unknown> & { dashboard: Record<string, unknown>; consistency: Record<string, unknown> }
const rawOf = ({ details }: AnalysisReport) => details?.raw_result as Raw

test('a report whose figures failed a check has no score, no advice and no level, and says which check first, in every form', async () => {
  for (const language of ReportLanguage.options) {
    const words = textsOf(language)
    const report = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(SPLIT) }, { language })
    const { meta, summary, strategy } = report
    expect(meta.data_checks).toContain(words.consistency.check.corporate_action)
    expect(meta.data_checks).toMatch(/17\d{3}.* → 17\d{2}/)
    expect(summary).toMatchObject({
      ...{ action: null, action_label: null, sentiment_score: 50, sentiment_label: words.consistency.noScore },
      operation_advice: words.report.advice.none,
      trend_prediction: words.report.trendPrediction.none,
    })
    expect(summary.analysis_summary.startsWith(meta.data_checks ?? '-')).toBe(true)
    expect(strategy).toBeNull()
    const raw = rawOf(report)
    expect(raw).toMatchObject({ sentiment_score: null, decision_type: null, action: null })
    expect(raw.dashboard).toMatchObject({ decision_score_calibration: null, battle_plan: { levels: [] } })
    expect(raw.consistency).toMatchObject({ blocked: true, withheld: ['averages', 'range', 'levels'] })
    expect(report.details?.context_snapshot?.consistency).toEqual(raw.consistency)
    expect(report.details?.context_snapshot?.enhanced_context).toMatchObject({ trend_analysis: null, bar_count: 80 })
    expect(report.details?.analysis_context_pack_overview?.data_quality).toMatchObject({
      overall_score: 0,
      level: 'poor',
    })
    for (const report_type of TYPES) {
      const markdown = renderMarkdown({ ...report, meta: { ...meta, report_type } })
      expect(markdown.split('\n\n')[1]).toMatch(/^> ⚠ /)
      expect(markdown).not.toMatch(/50\/100/)
    }
    expect(renderMarkdown(report)).toContain(words.consistency.noScore)
    expect(renderHtml(report)).not.toContain('<svg')
    const digest = digestOf(report, language)
    expect(digest).toContain(words.consistency.noScore)
    expect(digest).not.toContain('50/100')
    expect(reportMessage({ report, finished: null }).title).toContain(words.report.advice.none)
  }
})

function digestOf(report: AnalysisReport, language: ReportLanguage): string {
  const item = { taskId: 't', stockCode: '600519', stockName: null, error: null, isCompleted: true }
  return digestMessage([item], new Map([['t', { report, finished: null }]]), language).markdown
}

test('it is nobody’s advice: its row has no score, the next report is not compared with it, and no model is asked', async () => {
  let asked = 0
  const narrator: Narrator = {
    complete: async () => {
      asked += 1
      throw new Error('nobody asks')
    },
  }
  const report = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(SPLIT), narrator })
  expect(asked).toBe(0)
  expect(previousOf(report)).toBeNull()
  const sound = await reportWith(WHOLE)
  expect(previousOf(sound)).not.toBeNull()
  const before = previousOf(sound)
  const compared = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(SPLIT), previous: async () => before })
  expect(rawOf(compared).changes_since_previous).toBeNull()
  const request = {
    ...{ kind: 'analysis' as const, key: '600519', stockCode: '600519', stockName: null, reportLanguage: null },
    ...{ originalQuery: null, reading: null, selectionSource: null, forceRefresh: false, notify: false, region: null },
    ...{ priority: 'interactive' as const, batch: null, channels: null, reportType: 'full' as const },
    ...{ analysisPhase: 'auto' as const, skills: null, language: 'zh' as const },
  }
  const row = (made: AnalysisReport) => recordOf({ owner: 'ann', request, report: made, diagnostics: NO_DIAGNOSTICS })
  expect(row(report)).toMatchObject({ sentimentScore: null, action: null, dataChecks: report.meta.data_checks })
  expect(row(sound)).toMatchObject({ sentimentScore: sound.summary.sentiment_score, dataChecks: null })
})

const NO_DIAGNOSTICS = {
  ...{ trace_id: 't', task_id: null, query_id: 'q', stock_code: '600519', trigger_source: 'api' },
  ...{ provider_runs: [], llm_runs: [], notification_runs: [], history_runs: [] },
} as unknown as Parameters<typeof recordOf>[0]['diagnostics']

test('what a check warns of lowers confidence by a step, and is named beside every figure that it touches', async () => {
  for (const language of ReportLanguage.options) {
    const words = textsOf(language)
    const sound = await reportWith(WHOLE, {}, { language })
    const report = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(TICK) }, { language })
    const mark = words.consistency.check.bad_tick
    expect(rawOf(sound).confidence_level).toBe(words.report.confidence.medium)
    expect(rawOf(report).confidence_level).toBe(words.report.confidence.low)
    expect(report.meta.data_checks).toContain(mark)
    for (const level of Object.values(report.strategy ?? {})) expect(level).toContain(`⚠ ${mark}`)
    const sections = renderMarkdown(report).split(/^## /m)
    const marked = (['levels', 'indicators', 'score_parts', 'conclusion', 'plan'] as const).map((heading) =>
      sections.find((section) => section.startsWith(words.report.heading[heading]))?.includes(mark),
    )
    expect(marked).toEqual([true, true, true, true, true])
    // The price is the quote's, which no check touches.
    const price = renderMarkdown(report)
      .split('\n')
      .find((line) => line.startsWith(`- ${words.report.heading.price}`))
    expect(price).not.toContain('⚠')
    expect(renderHtml(report)).toMatch(new RegExp(`<text[^>]*>[^<]*${mark}`))
  }
})

test('how prices were adjusted, and by whom, stands beside averages and ranges; a range of adjusted bars is called that', async () => {
  const long = barsOf(wave(300, 0.05, 1400))
  const price = long.at(-1)?.close ?? 0
  const before = long.at(-2)?.close ?? 0
  const quote = { ...QUOTE, price, prevClose: before, change: price - before, changePct: (price / before - 1) * 100 }
  const made = (provider: string, language: ReportLanguage) =>
    reportWith(
      WHOLE,
      {
        dailyBars: async () => ({ ...fetchedValue(long), provider }),
        quote: async () => fetchedValue({ ...quote, volume: 1_000_299 }),
      },
      { language },
    )
  for (const language of ReportLanguage.options) {
    const { adjustedRange, adjustment } = textsOf(language).consistency
    const { indicator } = textsOf(language).report
    const rows = async (provider: string) => {
      const lines = renderMarkdown(await made(provider, language)).split('\n')
      return lines.filter((line) =>
        /^(MA 5|均线 5|이동평균 5|布林|Bollinger|볼린저)|52/.test(/^\| ([^|]*) \| \d/.exec(line)?.[1] ?? ''),
      )
    }
    const adjusted = await rows('yahoo')
    const said = adjustment.forward.replace('{source}', 'yahoo')
    expect(adjusted.map((line) => line.includes(said))).toEqual([true, true, true])
    expect(adjusted.some((line) => line.startsWith(`| ${adjustedRange}`))).toBe(true)
    const plain = await rows('sina')
    expect(plain.map((line) => line.includes(adjustment.none.replace('{source}', 'sina')))).toEqual([true, true, true])
    expect(plain.some((line) => line.startsWith(`| ${indicator.year_range}`))).toBe(true)
  }
})

test('the change of sixty sessions is told, and a report has one volume ratio', async () => {
  const report = await reportWith(WHOLE, { quote: async () => fetchedValue({ ...QUOTE, volumeRatio: 31.4159 }) })
  const context = report.details?.context_snapshot?.enhanced_context as { realtime: Record<string, number | null> }
  const then = BARS.at(-61)?.close ?? 0
  expect(context.realtime.change_60d).toBeCloseTo((LAST / then - 1) * 100, 3)
  const young = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(BARS.slice(-60)) })
  expect(young.details?.context_snapshot?.enhanced_context).toMatchObject({ realtime: { change_60d: null } })
  const raw = rawOf(report) as unknown as {
    dashboard: { data_perspective: { volume_analysis: { volume_ratio: number } } }
    market_snapshot: { volume_ratio: string }
  }
  const ratio = raw.dashboard.data_perspective.volume_analysis.volume_ratio
  expect(context.realtime.volume_ratio).toBe(ratio)
  expect(raw.market_snapshot.volume_ratio).toBe(ratio.toFixed(2))
  expect(JSON.stringify(report)).not.toContain('31.4159')
})

/** Each row of a table by its first cell. */
function rowsOf(markdown: string): Map<string, string> {
  const rows = markdown.split('\n').filter((line) => line.startsWith('| '))
  return new Map(rows.map((line) => [line.split(' | ')[0]?.slice(2) ?? '', line]))
}

test('each line of the indicators has the mark of the check that touches it, and no other', async () => {
  for (const language of ReportLanguage.options) {
    const { report: labels, consistency: words } = textsOf(language)
    const marked = rowsOf(
      renderMarkdown(await reportWith(WHOLE, { dailyBars: async () => fetchedValue(TICK) }, { language })),
    )
    const mark = words.check.bad_tick
    const lines = [...marked].filter(([name]) => name.startsWith(labels.indicator.ma) || name === labels.indicator.atr)
    expect(lines).toHaveLength(2)
    for (const [, line] of lines) expect(line).toContain(`⚠ ${mark}`)
    expect(marked.get(labels.indicator.volume_ratio)).not.toContain('⚠')
    const clean = rowsOf(renderMarkdown(await reportWith(WHOLE, {}, { language })))
    for (const line of clean.values()) expect(line).not.toContain('⚠')
  }
})

test('volumes that nothing at hand can check are called that at the ratio, at the part of the score and in their sentence', async () => {
  const bars = BARS.map((bar) => ({ ...bar, amount: null }))
  const quote = { ...QUOTE, amount: null, volume: null, turnoverRatePct: null }
  for (const language of ReportLanguage.options) {
    const { report: labels, consistency: words } = textsOf(language)
    const sources = { dailyBars: async () => fetchedValue(bars), quote: async () => fetchedValue(quote) }
    const report = await reportWith(WHOLE, sources, { language })
    const said = words.unchecked.replace('{checks}', words.check.volume_units)
    const unchecked = rawOf(report).consistency.findings
    expect(unchecked).toContainEqual(
      expect.objectContaining({ check: 'volume_units', verdict: 'not_possible', touches: ['volume'] }),
    )
    const rows = rowsOf(renderMarkdown(report))
    expect(rows.get(labels.indicator.volume_ratio)).toContain(said)
    expect(rows.get(labels.scorePart.volume)).toContain(said)
    expect(rows.get(labels.indicator.atr)).not.toContain(said)
    expect(renderHtml(report).split(said).length).toBeGreaterThan(2)
    expect(JSON.stringify(rawOf(report).dashboard)).toContain(said)
    const checked = renderMarkdown(await reportWith(WHOLE, {}, { language }))
    expect(checked).not.toContain(said)
  }
})
