import { expect, test } from 'vitest'
import { historyFlow } from '../../../src/analysis/flow/history.ts'
import { modelNarrator } from '../../../src/analysis/write/model-narrator.ts'
import { type LanguageModel, ModelError } from '../../../src/llm/model.ts'
import type { ProviderRun } from '../../../src/market/provider-run.ts'
import { ALONE, analyze, DEADLINES } from './alone.ts'
import { barsOf, wave } from './series.ts'

const AT = Date.parse('2026-03-20T08:00:00Z')
const iso = (ms: number) => new Date(AT + ms).toISOString().replace('Z', '000Z')
const line = 'The rise goes on.'
const ANSWER = {
  ...{ one_sentence: line, analysis_summary: line, action: 'hold', technical_analysis: null, ma_analysis: null },
  ...{ volume_analysis: null, fundamental_analysis: null, news_summary: null, market_sentiment: null },
  ...{ sector_position: null, short_term_outlook: null, medium_term_outlook: null, earnings_outlook: null },
  ...{ positive_catalysts: [], risk_alerts: [], advice_without_position: line, advice_with_position: line },
}

/** Busy at first, then out of shape, then as it should be; each call takes a second. */
function failingTwice(pass: (ms: number) => void): LanguageModel {
  let calls = 0
  return {
    ...{ id: 'test/model', contextWindow: null, seesImages: false },
    ask: async () => {
      calls++
      pass(1_000)
      if (calls === 1) throw new ModelError('rate_limit', 'busy', { retryAfterMs: 0 })
      const usage = { promptTokens: 1, completionTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
      const text = calls === 2 ? 'no JSON' : JSON.stringify(ANSWER)
      return { text, calls: [], usage, cost: 0, responseId: 'x', finish: 'stop', latencyMs: 1_000 }
    },
  }
}

const ran = (provider: string, more: Partial<ProviderRun>): ProviderRun => ({
  ...{ dataType: 'daily_data', provider, operation: 'daily_bars', success: false, latencyMs: 40, errorType: null },
  ...{ errorMessage: null, fallbackFrom: null, fallbackTo: null, recordCount: null, createdAt: iso(0), ...more },
})

test('the flow of a finished analysis has each try of the model with its times, and the source that stood in', async () => {
  let now = AT
  const bars = [
    ran('eastmoney', { errorType: 'timeout', errorMessage: 'eastmoney: timeout', fallbackTo: 'tencent' }),
    ran('tencent', { success: true, fallbackFrom: 'eastmoney', recordCount: 80, createdAt: iso(40) }),
  ]
  const result = await analyze(
    {
      instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
      ...{ names: { zh: '贵州茅台' }, configuredLanguage: 'en', queryId: 'e'.repeat(32) },
      request: { reportType: 'detailed', language: 'en', analysisPhase: 'auto', skills: null },
    },
    {
      dailyBars: async () => ({
        ok: true,
        value: barsOf(wave(80, 0.3, 1400)),
        provider: 'tencent',
        provenance: null,
        runs: bars,
      }),
      quote: async () => ({ ok: false, runs: [] }),
      ...ALONE,
      narrator: modelNarrator(failingTwice((ms) => (now += ms))),
      onStage: () => undefined,
      clock: () => now,
      signal: new AbortController().signal,
      deadlines: DEADLINES,
    },
  )
  if (!result.ok) throw new Error(result.message)
  const { diagnostics, report } = result
  const flow = historyFlow({
    ...{ queryId: 'e'.repeat(32), stockCode: '600519', stockName: '贵州茅台', language: 'en', isReview: false },
    ...{ createdAt: iso(3_000), diagnostics, overview: report.details?.analysis_context_pack_overview ?? null },
  })
  const models = flow.nodes.filter(({ kind }) => kind === 'model')
  expect(
    models.map(({ status, message, started_at, ended_at, duration_ms }) => [
      status,
      message,
      started_at,
      ended_at,
      duration_ms,
    ]),
  ).toEqual([
    ['failed', 'quota', iso(0), iso(1_000), 1_000],
    ['failed', 'bad_json', iso(1_000), iso(2_000), 1_000],
    ['success', null, iso(2_000), iso(3_000), 1_000],
  ])
  const between = (kind: string) => flow.edges.filter((edge) => edge.kind === kind)
  expect(between('retry').map(({ to }) => to)).toEqual(models.slice(1).map(({ id }) => id))
  const [failed, stood] = flow.nodes.filter(({ kind }) => kind === 'data_source')
  expect([failed?.status, failed?.ended_at, stood?.status, stood?.started_at]).toEqual([
    'timeout',
    iso(40),
    'success',
    iso(40),
  ])
  expect(between('fallback')).toMatchObject([{ from: failed?.id, to: stood?.id }])
  // A failure that a later try made good is a trouble, not the end.
  expect(flow.status).toBe('degraded')
  const lost = { ...diagnostics, llm_runs: diagnostics.llm_runs.slice(0, 2) }
  expect(historyFlow({ ...base(), diagnostics: lost }).status).toBe('failed')
})

const base = () => ({
  ...{ queryId: 'e'.repeat(32), stockCode: '600519', stockName: null, language: 'en' as const, isReview: false },
  ...{ createdAt: iso(3_000), overview: null },
})
