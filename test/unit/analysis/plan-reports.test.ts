import { expect, test } from 'vitest'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { type AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { digestMessage } from '../../../src/notify/message.ts'
import { seeded } from '../../support/name-errors.ts'
import { BARS, FLOW, failedFetch, fetchedValue, reportWith, WHOLE } from './company-reports.ts'
import { barsOf, wave } from './series.ts'

type Raw = {
  horizons: { text: string; rows: { key: string; direction: string }[] } | null
  trade_plan: { text: string; reward_risk?: number; entry?: number; most_entry?: number; position_pct?: number } | null
  dashboard: {
    decision_stability: { support: number | null; resistance: number | null }
    core_conclusion: { position_advice: { no_position: string; has_position: string } }
    battle_plan: { position_strategy: { suggested_position: string }; levels: { key: string; basis: string }[] }
  }
  ma_analysis: string | null
}
const rawOf = ({ details }: AnalysisReport) => details?.raw_result as unknown as Raw

test('a report tells its horizons and what its plan wins and risks, in every language, rendering and message', async () => {
  for (const language of ['zh', 'en', 'ko'] as const) {
    const report = await reportWith(WHOLE, {}, { language })
    const { horizons, trade_plan: plan } = rawOf(report)
    expect(horizons?.rows.map(({ key, direction }) => `${key} ${direction}`)).toEqual([
      ...['short up', 'medium up', 'long unknown', 'weekly up', 'monthly unknown'],
    ])
    expect(plan?.reward_risk).toBeGreaterThanOrEqual(1.5)
    expect(plan?.entry).toBeLessThanOrEqual(plan?.most_entry ?? 0)
    const { heading, direction } = textsOf(language).outlook
    const told = rawOf(report).dashboard.battle_plan.position_strategy.suggested_position
    expect(told.match(/[0-9.]+(?=%)/g)).toEqual([String(plan?.position_pct)])
    const message = digestMessage(
      [{ taskId: 't', stockCode: '600519', stockName: null, isCompleted: true, error: null }],
      new Map([['t', { report, finished: null }]]),
      language,
    )
    for (const text of [renderMarkdown(report), renderHtml(report), message.markdown]) {
      expect(text).toContain(heading.plan)
      expect(text).toContain(`${plan?.position_pct}%`.replace('%', language === 'en' ? ' %' : '%'))
      expect(text).toContain(heading.horizons)
      expect(text).toContain(direction.unknown)
    }
  }
})

test('an advice to sell shows no price to buy at, and a support that is broken is none', async () => {
  const falling = BARS.toReversed().map((bar, i) => ({ ...bar, date: BARS[i]?.date ?? bar.date }))
  const [last, before] = [falling.at(-1), falling.at(-2)]
  if (last === undefined || before === undefined) throw new Error('no bars')
  const close = before.close * 0.93
  const broken = [...falling.slice(0, -1), { ...last, open: before.close, high: before.close, low: close, close }]
  const report = await reportWith(
    WHOLE,
    { dailyBars: async () => fetchedValue(broken), quote: async () => failedFetch('http_429') },
    { language: 'en' },
  )
  const { decision_stability: told } = rawOf(report).dashboard
  expect(told.support).toBeNull()
  expect(told.resistance).toBeGreaterThan(close)
  // Money flows out, so no rule holds the sale back.
  const outflow = FLOW.map((day) => ({ ...day, mainNet: -1e7 }))
  const sold = await reportWith(
    { ...WHOLE, flow: async () => fetchedValue(outflow) },
    { dailyBars: async () => fetchedValue(falling), quote: async () => failedFetch('http_429') },
    { language: 'en' },
  )
  expect(sold.summary.action).toBe('sell')
  expect(sold.strategy).toMatchObject({ ideal_buy: null, secondary_buy: null })
  expect(rawOf(sold).trade_plan?.text).toBe(textsOf('en').outlook.noPlanOfSale)
})

test('a level is measured from nothing that the report does not show, and waiting is told with the reason that holds', async () => {
  for (const language of ReportLanguage.options) {
    const { analysis, report: labels } = textsOf(language)
    const hidden = new Set<string>()
    for (let seed = 1; seed <= 40; seed++) {
      const report = await reportWith(
        WHOLE,
        { dailyBars: async () => fetchedValue(walkOf(seed)), quote: async () => failedFetch('http_429') },
        { language },
      )
      const { battle_plan: plan, core_conclusion: conclusion } = rawOf(report).dashboard
      const keys = plan.levels.map(({ key }) => key)
      for (const { basis } of plan.levels) {
        if (basis === 'ideal_buy' || basis === 'secondary_buy') expect(keys).toContain(basis)
      }
      if (!keys.includes('secondary_buy')) {
        expect(report.strategy?.stop_loss ?? '').not.toContain(labels.basis.secondary_buy)
        hidden.add(report.strategy?.stop_loss?.replace(/^[^(（]*/, '') ?? '')
      }
      const { no_position, has_position } = conclusion.position_advice
      expect([no_position, has_position]).not.toContain(analysis.noPositionBare.hold)
      expect([no_position, has_position]).not.toContain(analysis.hasPositionBare.hold)
    }
    expect(hidden.size).toBeGreaterThan(3)
  }
})

test('an MA60 is null and unsaid until there are 60 bars', async () => {
  for (const [count, isThere] of [
    [20, false],
    [59, false],
    [60, true],
  ] as const) {
    const bars = walkOf(3).slice(-count)
    const report = await reportWith(
      WHOLE,
      { dailyBars: async () => fetchedValue(bars), quote: async () => failedFetch('http_429') },
      { language: 'en' },
    )
    const context = report.details?.context_snapshot?.enhanced_context as { trend_analysis: { ma60: number | null } }
    expect(context.trend_analysis.ma60 !== null).toBe(isThere)
    expect(rawOf(report).ma_analysis?.includes('MA60')).toBe(isThere)
  }
})

/** A walk that goes nowhere, of as many bars as sessions. */
function walkOf(seed: number): Bar[] {
  const random = seeded(seed)
  let price = 100
  const closes = BARS.map(() => {
    price *= 1 + (random(1_000_000) / 1_000_000 - 0.5) * 0.04
    return price
  })
  return BARS.map((bar, i) => {
    const close = closes[i] ?? price
    const open = closes[i - 1] ?? close
    return { ...bar, open, close, high: Math.max(open, close) * 1.006, low: Math.min(open, close) * 0.994 }
  })
}

type Trend = {
  current_price: number
  resistance_levels: number[]
  support_levels: number[]
  ma5: number
  ma20: number
}

test('a price below a cent is told with digits that tell it from its neighbours', async () => {
  const instrument = { key: 'X', market: 'us', exchange: 'US', kind: 'stock', code: 'X' } as const
  const bars = barsOf(wave(80, 0.3, 0.00023), { market: 'us', endsOn: '2026-03-19' })
  const world = { dailyBars: async () => fetchedValue(bars), quote: async () => failedFetch('http_429') }
  const report = await reportWith(null, world, { instrument, language: 'en' })
  const last = bars.at(-1)?.close ?? 0
  const details = report.details as unknown as {
    context_snapshot: { enhanced_context: { trend_analysis: Trend } }
    raw_result: { market_snapshot: Record<string, string> }
  }
  const { trend_analysis: trend } = details.context_snapshot.enhanced_context
  const snapshot = details.raw_result.market_snapshot
  expect(Math.abs((report.meta.current_price ?? 0) / last - 1)).toBeLessThan(0.001)
  expect(trend.ma5).not.toBe(trend.ma20)
  for (const level of trend.resistance_levels) expect(level).toBeGreaterThan(trend.current_price)
  for (const level of trend.support_levels) expect(level).toBeLessThanOrEqual(trend.current_price)
  expect(Number(snapshot.change_amount)).not.toBe(0)
  expect(snapshot.high).not.toBe(snapshot.low)
})

test('the name of a model is parted from what follows it', async () => {
  for (const language of ReportLanguage.options) {
    const report = await reportWith(WHOLE, {}, { language })
    const named = { ...report, meta: { ...report.meta, model_used: 'custom/scripted' } }
    expect(renderMarkdown(named)).toContain(`custom/scripted · ${textsOf(language).report.disclaimer}`)
  }
})
