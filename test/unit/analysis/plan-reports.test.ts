import { expect, test } from 'vitest'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import { digestMessage } from '../../../src/notify/message.ts'
import { BARS, FLOW, got, lost, reportWith, WHOLE } from './company-reports.ts'

type Raw = {
  horizons: { text: string; rows: { key: string; direction: string }[] } | null
  trade_plan: { text: string; reward_risk?: number; entry?: number; most_entry?: number; position_pct?: number } | null
  dashboard: { decision_stability: { support: number | null; resistance: number | null } }
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
    { dailyBars: async () => got(broken), quote: async () => lost('http_429') },
    { language: 'en' },
  )
  const { decision_stability: told } = rawOf(report).dashboard
  expect(told.support).toBeNull()
  expect(told.resistance).toBeGreaterThan(close)
  // Money flows out, so no rule holds the sale back.
  const outflow = FLOW.map((day) => ({ ...day, mainNet: -1e7 }))
  const sold = await reportWith(
    { ...WHOLE, flow: async () => got(outflow) },
    { dailyBars: async () => got(falling), quote: async () => lost('http_429') },
    { language: 'en' },
  )
  expect(sold.summary.action).toBe('sell')
  expect(sold.strategy).toMatchObject({ ideal_buy: null, secondary_buy: null })
  expect(rawOf(sold).trade_plan?.text).toBe(textsOf('en').outlook.noPlanOfSale)
})
