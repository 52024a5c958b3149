// The figures of an index pass the checks before a review quotes them.

import { expect, test } from 'vitest'
import { NO_COMMENT } from '../../../src/analysis/market-review/comment.ts'
import type { IndexFact, RegionFacts } from '../../../src/analysis/market-review/facts.ts'
import { gatherRegion, type ReviewDeps } from '../../../src/analysis/market-review/gather.ts'
import { regionMarkdown } from '../../../src/analysis/market-review/markdown.ts'
import { reviewRecord } from '../../../src/analysis/market-review/record.ts'
import { runReview } from '../../../src/analysis/market-review/run-review.ts'
import { codeNarrative } from '../../../src/analysis/market-review/write.ts'
import { AnalysisReport } from '../../../src/analysis/schemas.ts'
import { reviewRequest } from '../../../src/analysis/task.ts'
import type { NewAnalysis } from '../../../src/db/analyses.ts'
import type { Bar } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import type { MarketSnapshot } from '../../../src/market/providers/index.ts'
import { reportMessage } from '../../../src/notify/message.ts'
import { barsOf, wave } from '../analysis/series.ts'
import { quoteOf } from '../market/series-evidence.ts'

// Friday, 2026-03-20, after the close in Shanghai.
const NOW = Date.parse('2026-03-20T08:00:00Z')
const BARS = barsOf(wave(60, 0.1, 3000), { volume: 5_000 })

function snapshot({ bars = BARS, prevClose = 1 } = {}): MarketSnapshot {
  const [before, last] = BARS.slice(-2) as [Bar, Bar]
  const shared = { ok: true as const, provenance: null, runs: [] }
  const yesterday = { ...before, close: before.close * prevClose }
  const quote = { ...quoteOf(last, yesterday, { quotedAt: NOW - 3_600_000, currency: null }), turnoverRatePct: null }
  return {
    bars: { ...shared, value: bars, provider: 'tencent' },
    quote: { ...shared, value: quote, provider: 'yahoo' },
    ...{ provenance: null, asOf: NOW, runs: [] },
  }
}

const UNTOLD: MarketSnapshot = {
  ...{ bars: { ok: false, runs: [] }, quote: { ok: false, runs: [] } },
  ...{ provenance: null, asOf: NOW, runs: [] },
}

const REQUEST = reviewRequest({
  ...{ regions: ['cn'], reportLanguage: 'en', configuredLanguage: 'en', notify: true, channels: null },
  priority: 'interactive',
})

const TENFOLD = BARS.map(({ open, high, low, close, ...rest }) => {
  return { ...rest, open: open * 10, high: high * 10, low: low * 10, close: close * 10 }
})
const UNITS = BARS.map((bar, i) => (i > 30 ? { ...bar, volume: bar.volume * 100 } : bar))

function worldOf(answer: (instrument: Instrument) => MarketSnapshot) {
  const deps: ReviewDeps = {
    market: {
      snapshot: async (instrument) => answer(instrument),
      rankings: async () => ({ ok: false, runs: [] }),
    },
    listed: async () => ({ prices: null, runs: [] }),
    ...{ news: null, narrator: null, colorScheme: 'red_up' },
    deadlines: { regionMs: 60_000, partMs: 60_000, modelMs: 60_000 },
  }
  const asked = { language: 'en' as const, clock: () => NOW, signal: new AbortController().signal }
  return { deps, ctx: { ...asked, stage: async () => {}, tried: async () => {} } }
}

async function reviewed(answer: (instrument: Instrument) => MarketSnapshot): Promise<RegionFacts> {
  const { deps, ctx } = worldOf(answer)
  const gathered = await gatherRegion('cn', deps, ctx)
  if (!gathered.ok) throw new Error(gathered.reason)
  return gathered.facts
}

const named = (facts: RegionFacts, key: string): IndexFact | undefined => facts.indices.find((fact) => fact.key === key)

test('an index whose prices fail a check is left out and its gap names the check; sound ones are as they were', async () => {
  const facts = await reviewed(({ key }) => snapshot(key === 'SZ399001' ? { bars: TENFOLD } : {}))
  expect(named(facts, 'SZ399001')).toBeUndefined()
  expect(named(facts, 'SH000001')).toMatchObject({ checks: null, current: BARS.at(-1)?.close, volume: 5_059 })
  const gap = facts.gaps.find(({ what }) => what === 'indices')
  expect(gap?.detail).toMatch(/^SZSE Component: ⚠ Data consistency failed: .*same-day close \(2026-03-20: bars 3\d{4}/)
  const all = await reviewed(() => snapshot({ bars: TENFOLD })).catch((error: Error) => error.message)
  expect(all).toMatch(/SSE Composite: ⚠ Data consistency failed/)
})

test('an index that a check warns of is marked in its table and named on top; odd volumes are not quoted', async () => {
  const facts = await reviewed(({ key }) =>
    key === 'SH000300' ? snapshot({ prevClose: 0.985 }) : snapshot(key === 'SZ399001' ? { bars: UNITS } : {}),
  )
  expect(named(facts, 'SH000300')?.checks).toMatch(/previous close \(2026-03-19/)
  expect(named(facts, 'SZ399001')).toMatchObject({ volume: null, amount: null })
  const text = regionMarkdown({ facts, light: null, narrative: codeNarrative(facts), comment: NO_COMMENT })
  expect(text).toMatch(/^\| CSI 300 ⚠ \|/m)
  expect(text).toMatch(/^> CSI 300: ⚠ Data consistency warning/m)
  expect(text).toMatch(/^\| SSE Composite \|/m)
})

test('a review whose figures a check warns of says so in its record, its list row and the title of its message', async () => {
  const job = { ...{ owner: 'ann', queryId: 'f'.repeat(32), taskId: null, attempt: 1 }, request: REQUEST }
  const recordOf = async (prevClose: number) => {
    const { deps, ctx } = worldOf(({ market }) => (market === 'cn' ? snapshot({ prevClose }) : UNTOLD))
    const result = await runReview(['cn'], deps, ctx)
    if (!result.ok) throw new Error(result.reason)
    return reviewRecord(result.review, job, NOW)
  }
  const [sound, odd] = [await recordOf(1), await recordOf(0.985)]
  expect(sound).toMatchObject({ dataChecks: null, analysisSummary: expect.not.stringContaining('⚠') })
  expect(odd.dataChecks).toMatch(/^SSE Composite: ⚠ Data consistency warning: previous close/)
  expect(odd.analysisSummary).toContain('⚠')
  const titleOf = ({ report }: NewAnalysis) => {
    const finished = { title: 'x'.repeat(300), markdown: 'y' }
    return reportMessage({ report: AnalysisReport.parse(JSON.parse(report)), finished }).title
  }
  expect([titleOf(sound).endsWith('⚠'), titleOf(odd).endsWith('⚠'), titleOf(odd).length]).toEqual([false, true, 200])
})

test('the record of a review has every member of a report, those that only a company has as null, and its own for the console', async () => {
  const job = { ...{ owner: 'ann', queryId: 'f'.repeat(32), taskId: null, attempt: 1 }, request: REQUEST }
  const { deps, ctx } = worldOf(({ market }) => (market === 'cn' ? snapshot({}) : UNTOLD))
  const result = await runReview(['cn'], deps, ctx)
  if (!result.ok) throw new Error(result.reason)
  const record = reviewRecord(result.review, job, NOW)
  const report = AnalysisReport.parse(JSON.parse(record.report))
  const nothing = {
    ...{ analysis_context_pack_overview: null, financial_report: null, dividend_metrics: null, belong_boards: null },
    ...{ sector_rankings: null, concept_rankings: null, market_structure: null, news_content: null },
  }
  expect(report.details).toEqual({
    ...{ ...nothing, empty_news_disclosure: null, raw_result: { market_review_report: result.review.text } },
    // It stands beside the report in the row, not twice.
    context_snapshot: null,
  })
  expect(JSON.parse(record.contextSnapshot ?? '')).toEqual({
    ...{ report_kind: 'market_review', market_review_region: REQUEST.region, report_language: 'en' },
    ...{ market_light_snapshots: result.review.lights, market_review_payload: result.review.payload },
    analysis_context_pack_overview: null,
  })
  expect(report.meta).toMatchObject({
    ...{ id: null, query_id: job.queryId, report_type: 'market_review', report_language: 'en', current_price: null },
    ...{ change_pct: null, market_phase_summary: null, data_notice: null, data_provenance: null, reading: null },
  })
  const [light] = Object.values(result.review.lights)
  expect(light).toBeDefined()
  // Of one market its light is that of the review; it is no advice to act.
  expect(report.summary).toMatchObject({
    ...{ operation_advice: light?.label, trend_prediction: light?.temperature_label, sentiment_score: light?.score },
    ...{ action: null, action_label: null, sentiment_label: null },
  })
})
