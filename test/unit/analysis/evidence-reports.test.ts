import { expect, test } from 'vitest'
import type { EvidenceRow } from '../../../src/analysis/evidence/vocabulary.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import { BARS, failedFetch, fetchedValue, reportWith, WHOLE } from './company-reports.ts'
import { ROW } from './evidence-row.ts'
import { barsOf } from './series.ts'

const rawOf = (report: Awaited<ReturnType<typeof reportWith>>) => report.details?.raw_result as Record<string, unknown>

test('a report quotes the evidence that applies to it, also when that shows nothing, and has no probability below its size', async () => {
  for (const language of ReportLanguage.options) {
    const words = textsOf(language).evidence
    const told = async (rows: EvidenceRow[] | null) => {
      const report = await reportWith(WHOLE, { evidenceRows: async () => rows }, { language })
      return { raw: rawOf(report), markdown: renderMarkdown(report) }
    }
    const shown = await told([{ ...ROW, group: 'sell' }, ROW])
    expect(shown.raw).toMatchObject({
      confidence_probability: 0.546,
      confidence_brier_skill: -0.0012,
      confidence_least_size: 30,
      evidence: { row: ROW },
    })
    for (const figure of ['1234', '210', '+1.20', '+0.90', '+0.30', '-1.10', '+1.70', '55', '52', '-0.001'])
      expect(shown.markdown).toContain(figure)
    expect(shown.markdown).toContain(words.noEdge.split('{')[0])

    const few = await told([{ ...ROW, verdict: 'too_few', confidence_probability: null, brier_skill: null }])
    expect(few.raw).toMatchObject({ confidence_probability: null, confidence_brier_skill: null })
    expect(few.markdown).toContain(words.tooFew.replace('{least}', '30'))

    const edge = await told([{ ...ROW, verdict: 'edge' }])
    expect(edge.markdown).toContain(words.edge.split('{')[0])

    const none = await told(null)
    expect(none.raw).toMatchObject({ confidence_probability: null, evidence: { row: null, text: words.none } })
    expect(none.markdown).toContain(words.none)
  }
})

test('what cannot be had costs no report, and a report without advice quotes no evidence', async () => {
  const away = await reportWith(WHOLE, {
    evidenceRows: async () => {
      throw new Error('the database is away')
    },
  })
  expect(rawOf(away)).toMatchObject({ confidence_probability: null, evidence: { row: null } })
  const torn = { evidenceRows: async () => [ROW], dailyBars: async () => fetchedValue([]) }
  const blocked = rawOf(await reportWith(WHOLE, torn))
  expect(blocked.evidence === null || (blocked.evidence as { row: unknown }).row === null).toBe(true)
})

test('advice that no replayed day could give quotes no evidence and says so', async () => {
  const words = textsOf('zh').evidence
  const evidenceRows = async () => ['buy', 'hold', 'sell'].map((group) => ({ ...ROW, group }) as EvidenceRow)
  const told = async (bars: typeof BARS) =>
    rawOf(
      await reportWith(WHOLE, {
        evidenceRows,
        dailyBars: async () => fetchedValue(bars),
        quote: async () => failedFetch('http_429'),
      }),
    )
  for (const count of [10, 40, 59])
    expect(await told(BARS.slice(-count)), `${count} bars`).toMatchObject({
      confidence_probability: null,
      evidence: { row: null, text: words.notReplayed },
    })
  expect(await told(BARS.slice(-60))).toMatchObject({ evidence: { row: { count: ROW.count } } })
  // Bars that miss sessions are advised on by a guard that the replay does not have.
  expect(await told(BARS.slice(0, -4))).toMatchObject({ evidence: { row: null, text: words.notReplayed } })
})

test('what is listed in favour has more than the middle of its part', async () => {
  // Rising by a little each session: just above MA5, which is a point less than the middle.
  const bars = barsOf(
    Array.from({ length: 80 }, (_, i) => 1000 * 1.002 ** i),
    { volume: 3_000_000 },
  )
  const report = await reportWith(WHOLE, {
    dailyBars: async () => fetchedValue(bars),
    quote: async () => failedFetch('http_429'),
  })
  type Enhanced = { trend_analysis: { score_parts: { key: string; points: number; reason: string }[] } }
  const enhanced = report.details?.context_snapshot?.enhanced_context as Enhanced | undefined
  const { positive_catalysts: told } = (rawOf(report).dashboard as { intelligence: { positive_catalysts: string[] } })
    .intelligence
  const middle: Record<string, number> = { trend: 15, bias: 10, volume: 7, support: 5, macd: 8, rsi: 5 }
  const parts = enhanced?.trend_analysis.score_parts ?? []
  expect(parts.find(({ key }) => key === 'bias')).toMatchObject({ points: 9 })
  expect(told.length).toBeGreaterThan(0)
  for (const { key, points, reason } of parts) {
    if (told.includes(reason)) expect(points, reason).toBeGreaterThan(middle[key] ?? 0)
  }
})
