// Which session a price is told to be of, and what is recommended while nobody trades.

import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { BARS, FLOW, failedFetch, fetchedValue, LAST, QUOTE, reportWith, WHOLE } from './company-reports.ts'

type Raw = {
  decision_type: string
  guardrail_reason: string | null
  trade_plan: unknown
  dashboard: { core_conclusion: { position_advice: { no_position: string } } }
}

const CLOSED_AT = Date.parse('2026-03-20T07:00:00Z')
const quote = { ...QUOTE, quotedAt: CLOSED_AT, volume: BARS.at(-1)?.volume ?? null }
const flat = (bar: Bar, price: number): Bar => ({
  ...bar,
  open: price,
  high: price,
  low: price,
  close: price,
  volume: 0,
})

test('a quote stands in for the newest session that has no bar yet, until the next one begins', async () => {
  const clocks = ['2026-03-20T09:00:00Z', '2026-03-21T04:00:00Z', '2026-03-22T23:30:00Z']
  for (const clock of clocks) {
    const world = { dailyBars: async () => fetchedValue(BARS.slice(0, -1)), quote: async () => fetchedValue(quote) }
    const { meta, summary, details } = await reportWith(WHOLE, { ...world, clock: () => Date.parse(clock) })
    expect(meta.data_checks).toBeNull()
    expect(summary.analysis_summary).toContain('2026-03-20 收于')
    const context = details?.context_snapshot?.enhanced_context as { today: { date: string; close: number } }
    expect(context.today).toMatchObject({ date: '2026-03-20', close: QUOTE.price })
  }
})

test('a stock that is suspended, or whose price stands still, is neither bought nor sold', async () => {
  const early = BARS.slice(0, -12)
  const idle = { ...quote, price: early.at(-1)?.close ?? 0, prevClose: early.at(-1)?.close ?? 0, volume: 0 }
  const suspended = { ...idle, change: 0, changePct: 0, open: null, high: null, low: null, amount: null }
  const still = BARS.map((bar, i) => (i < BARS.length - 19 ? bar : flat(bar, QUOTE.price)))
  for (const language of ReportLanguage.options) {
    const reason = textsOf(language).report.guard.not_traded
    const worlds = [
      { dailyBars: async () => fetchedValue(early), quote: async () => fetchedValue(suspended) },
      {
        dailyBars: async () => fetchedValue(still),
        quote: async () =>
          fetchedValue({ ...quote, prevClose: QUOTE.price, change: 0, changePct: 0, volume: null, amount: null }),
      },
    ]
    for (const world of worlds) {
      const report = await reportWith(WHOLE, world, { language })
      expect(report.meta.data_checks).toContain(textsOf(language).consistency.check.stale_bars)
      expect(['watch', 'hold']).toContain(report.summary.action)
      const raw = report.details?.raw_result as { guardrail_reason: string | null; decision_type: string }
      expect(raw.decision_type).toBe('hold')
      if (raw.guardrail_reason !== null) expect(renderMarkdown(report)).toContain(raw.guardrail_reason)
      expect(reason).not.toBe('')
    }
  }
})

test('while a session runs its volume so far is told, and judged only where it is heavy already', async () => {
  const noon = Date.parse('2026-03-20T03:00:00Z')
  const usual = BARS.slice(-6, -1).reduce((sum, { volume }) => sum + volume, 0) / 5
  const reasonAt = async (share: number) => {
    const running = {
      ...quote,
      quotedAt: noon,
      volume: usual * share,
      amount: usual * share * QUOTE.price,
      high: null,
      low: null,
    }
    const world = {
      dailyBars: async () => fetchedValue(BARS.slice(0, -1)),
      quote: async () => fetchedValue(running),
      clock: () => noon,
    }
    const { details } = await reportWith(WHOLE, world)
    const raw = details?.raw_result as { volume_analysis: string }
    return raw.volume_analysis
  }
  expect(await reasonAt(0.4)).toContain('盘中成交量尚不完整（目前为全日均量的 0.40 倍）')
  expect(await reasonAt(2)).toMatch(/^盘中成交已达全日均量的 2.00 倍，放量/)
})

test('bars that miss more than one session that is over are neither bought nor sold, unless a quote tells of the newest', async () => {
  const at = (clock: string) => ({ clock: () => Date.parse(clock), quote: async () => failedFetch('http_429') })
  const newest = { ...quote, quotedAt: Date.parse('2026-03-24T07:00:00Z'), open: LAST, high: LAST, low: LAST }
  for (const language of ReportLanguage.options) {
    const { report, analysis, outlook } = textsOf(language)
    const late = await reportWith(WHOLE, at('2026-03-23T09:00:00Z'), { language })
    expect([late.summary.action, (late.strategy?.ideal_buy ?? null) !== null]).toEqual(['buy', true])
    const quoted = {
      ...at('2026-03-24T09:00:00Z'),
      quote: async () => fetchedValue({ ...newest, prevClose: LAST, change: 0, changePct: 0 }),
    }
    const known = (await reportWith(WHOLE, quoted, { language })).details?.raw_result as Raw
    expect(known.guardrail_reason ?? '').not.toContain(report.guard.outdated_bars.slice(-8))
    expect(known.trade_plan).not.toMatchObject({ text: outlook.noPlanOfOld })
    const old = await reportWith(WHOLE, at('2026-03-24T09:00:00Z'), { language })
    const raw = old.details?.raw_result as Raw
    const reason = report.guard.outdated_bars.replace('{missed}', '2')
    expect([old.summary.action, raw.decision_type, raw.guardrail_reason]).toEqual(['watch', 'hold', reason])
    expect(old.strategy).toMatchObject({ ideal_buy: null, secondary_buy: null })
    expect(raw.trade_plan).toEqual({ least_reward_risk: 1.5, text: outlook.noPlanOfOld })
    expect(raw.dashboard.core_conclusion.position_advice.no_position).toBe(analysis.stayOut.outdated)
    expect(renderMarkdown(old)).toContain(reason)
  }
})

test('beside the last close of a suspended stock stands the change of that day, and nothing tells where to buy it', async () => {
  const early = BARS.slice(0, -12)
  const [last, before] = [early.at(-1), early.at(-2)]
  if (last === undefined || before === undefined) throw new Error('no bars')
  const idle = { ...quote, price: last.close, prevClose: last.close, volume: 0, change: 0, changePct: 0, amount: null }
  for (const language of ReportLanguage.options) {
    const world = {
      dailyBars: async () => fetchedValue(early),
      quote: async () => fetchedValue({ ...idle, high: null, low: null }),
    }
    const report = await reportWith(WHOLE, world, { language })
    expect(report.meta.change_pct).toBeCloseTo((last.close / before.close - 1) * 100, 1)
    expect(report.meta.change_pct).not.toBe(0)
    expect(report.strategy).toMatchObject({ ideal_buy: null, secondary_buy: null })
    const raw = report.details?.raw_result as Raw
    const { outlook, analysis } = textsOf(language)
    expect(raw.trade_plan).toMatchObject({ text: outlook.noPlanUntraded })
    expect(raw.dashboard.core_conclusion.position_advice.no_position).toBe(analysis.stayOut.untraded)
  }
})

test('while a session runs the average turnover is that of whole sessions, the same in every place that tells it', async () => {
  const noon = Date.parse('2026-03-20T03:00:00Z')
  const world = {
    dailyBars: async () => fetchedValue(BARS.slice(0, -1)),
    quote: async () => fetchedValue({ ...quote, quotedAt: noon - 60_000, volume: 1_000 }),
  }
  const { details } = await reportWith(WHOLE, { ...world, clock: () => noon })
  const context = details?.context_snapshot?.enhanced_context as { trend_analysis: { average_turnover_20d: number } }
  const raw = details?.raw_result as { liquidity: { average_turnover: number } }
  expect(context.trend_analysis.average_turnover_20d).toBeCloseTo(raw.liquidity.average_turnover, 2)
})

test('a score that a rule took back stands below the points that it was made of, each under a name of its own', async () => {
  const outflow = FLOW.map((day) => ({ ...day, mainNet: -1e7 }))
  for (const language of ReportLanguage.options) {
    const report = await reportWith({ ...WHOLE, flow: async () => fetchedValue(outflow) }, {}, { language })
    const { heading } = textsOf(language).report
    const { sentiment_score: score, operation_advice: advice } = report.summary
    const rows = renderMarkdown(report).split('\n')
    const context = report.details?.context_snapshot?.enhanced_context as { trend_analysis: { signal_score: number } }
    const raw = context.trend_analysis.signal_score
    expect(raw).toBeGreaterThan(score)
    expect(rows.filter((row) => row.startsWith(`| **${heading.score}** |`))).toEqual([
      `| **${heading.score}** | **${score} / 100** | ${advice} |`,
    ])
    expect(rows.find((row) => row.startsWith(`| **${heading.raw_score}** | **${raw} / 100**`))).toBeDefined()
  }
})
