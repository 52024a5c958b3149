// Which session a price is told to be of, and what is recommended while nobody trades.

import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { BARS, got, QUOTE, reportWith, WHOLE } from './company-reports.ts'

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
    const world = { dailyBars: async () => got(BARS.slice(0, -1)), quote: async () => got(quote) }
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
      { dailyBars: async () => got(early), quote: async () => got(suspended) },
      {
        dailyBars: async () => got(still),
        quote: async () =>
          got({ ...quote, prevClose: QUOTE.price, change: 0, changePct: 0, volume: null, amount: null }),
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
    const world = { dailyBars: async () => got(BARS.slice(0, -1)), quote: async () => got(running), clock: () => noon }
    const { details } = await reportWith(WHOLE, world)
    const raw = details?.raw_result as { volume_analysis: string }
    return raw.volume_analysis
  }
  expect(await reasonAt(0.4)).toContain('盘中成交量尚不完整（目前为全日均量的 0.40 倍）')
  expect(await reasonAt(2)).toMatch(/^盘中成交已达全日均量的 2.00 倍，放量/)
})
