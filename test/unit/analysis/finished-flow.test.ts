import { expect, onTestFinished, test, vi } from 'vitest'
import type { ModelRun } from '../../../src/analysis/diagnostics.ts'
import { historyFlow } from '../../../src/analysis/flow/history.ts'
import { stepTeller } from '../../../src/analysis/flow/live.ts'
import type { FlowEvent } from '../../../src/analysis/flow/run-flow.ts'
import { askModel } from '../../../src/analysis/write/ask-model.ts'
import { modelNarrator } from '../../../src/analysis/write/model-narrator.ts'
import { fallbackModel } from '../../../src/llm/client.ts'
import { type LanguageModel, ModelError, type ModelFailure } from '../../../src/llm/model.ts'
import type { ProviderRun } from '../../../src/market/bars.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { ALONE, analyze, DEADLINES, jobOf, type Subject } from './alone.ts'
import { barsOf, wave } from './series.ts'

const SUBJECT: Subject = {
  instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
  ...{ names: { zh: '贵州茅台' }, configuredLanguage: 'en', queryId: 'e'.repeat(32) },
  request: { reportType: 'detailed', language: 'en', analysisPhase: 'auto', skills: null },
}

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
  const result = await analyze(SUBJECT, {
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
  })
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
    ['failed', 'rate_limit', iso(0), iso(1_000), 1_000],
    ['failed', 'bad_json', iso(1_000), iso(2_000), 1_000],
    ['success', null, iso(2_000), iso(3_000), 1_000],
  ])
  const between = (kind: string) => flow.edges.filter((edge) => edge.kind === kind)
  expect(between('retry').map(({ to }) => to)).toEqual(models.slice(1).map(({ id }) => id))
  expect(flow.summary.fallback_count).toBe(between('fallback').length)
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

const REPLY = {
  ...{ calls: [], cost: 0, responseId: 'x', finish: 'stop' as const, latencyMs: 1_000, text: JSON.stringify(ANSWER) },
  usage: { promptTokens: 1, completionTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
}

/** A model whose calls take a second each and fail as told, the last of them answers. */
function failing(id: string, kinds: readonly ModelFailure[], pass: (ms: number) => void): LanguageModel {
  const left = [...kinds]
  return {
    ...{ id, contextWindow: null, seesImages: false },
    ask: async () => {
      pass(1_000)
      const kind = left.shift()
      if (kind !== undefined) throw new ModelError(kind, 'no', { retryAfterMs: 0 })
      return REPLY
    },
  }
}

/** A report that these models wrote beside, standing in for one another. */
async function toldBy(models: (pass: (ms: number) => void) => [LanguageModel, ...LanguageModel[]]) {
  let now = AT
  const steps: FlowEvent[] = []
  const [first, ...others] = models((ms) => (now += ms))
  const result = await analyze(SUBJECT, {
    dailyBars: async () => {
      return { ok: true, value: barsOf(wave(80, 0.3, 1400)), provider: 'tencent', provenance: null, runs: [] }
    },
    quote: async () => ({ ok: false, runs: [] }),
    ...{ ...ALONE, deadlines: DEADLINES, clock: () => now, signal: new AbortController().signal },
    narrator: modelNarrator(fallbackModel(first, others)),
    onStage: () => undefined,
  })
  if (!result.ok) throw new Error(result.message)
  const teller = stepTeller(jobOf(SUBJECT.instrument, { ...SUBJECT.request, language: 'en' }), {
    onStage: async () => {},
    onSteps: async (told) => void steps.push(...told),
    signal: new AbortController().signal,
  })
  for (const run of result.diagnostics.llm_runs) await teller.model(run as ModelRun)
  const flow = historyFlow({ ...base(), diagnostics: result.diagnostics })
  return { report: result.report, flow, steps, runs: result.diagnostics.llm_runs }
}

test('a model that another one stood in for is a try of its own, and the one that answered is named as the author', async () => {
  const { report, flow, steps, runs } = await toldBy((pass) => [
    failing('one/a', ['authentication'], pass),
    failing('two/b', [], pass),
  ])
  expect(report.meta.model_used).toBe('two/b')
  expect(report.details?.raw_result).toMatchObject({ model_comment: { model: 'two/b' }, model_fault: null })
  const models = flow.nodes.filter(({ kind }) => kind === 'model')
  expect(models.map((node) => [node.label, node.status, node.message, node.started_at, node.ended_at])).toEqual([
    ['one/a', 'failed', 'bad_key', iso(0), iso(1_000)],
    ['two/b', 'success', null, iso(1_000), iso(2_000)],
  ])
  expect(flow.edges.filter(({ kind }) => kind === 'fallback').map(({ to }) => to)).toEqual([models[1]?.id])
  expect(flow.status).toBe('degraded')
  // The steps of the task tell the same times, although they are told when all tries are over.
  expect(steps.map(({ timestamp }) => timestamp)).toEqual([iso(1_000), iso(2_000)])
  expect(runs.map((run) => [run.model, run.duration_ms])).toEqual([
    ['one/a', 1_000],
    ['two/b', 1_000],
  ])
})

test('where every model fails each is named with its own reason, and the report gives that of the last', async () => {
  const { report, runs } = await toldBy((pass) => [
    failing('one/a', ['authentication'], pass),
    failing('two/b', ['out_of_credits'], pass),
  ])
  expect(runs.map((run) => [run.model, run.error_type])).toEqual([
    ['one/a', 'bad_key'],
    ['two/b', 'quota'],
  ])
  expect(report.details?.raw_result).toMatchObject({ generated_by: 'rules', model_fault: 'quota' })
})

test('the wait for a busy model is no part of its second try', async () => {
  let now = AT
  const waits = vi.spyOn(await import('../../../src/lib/wait-at-most.ts'), 'sleep').mockImplementation(async (ms) => {
    now += Number(ms)
  })
  onTestFinished(() => waits.mockRestore())
  const busy = { retryAfterMs: 5_000 }
  const model: LanguageModel = {
    ...{ id: 'test/model', contextWindow: null, seesImages: false },
    ask: async () => {
      now += 1_000
      if (now < AT + 2_000) throw new ModelError('rate_limit', 'busy', busy)
      return REPLY
    },
  }
  const question = { system: '', prompt: '', schema: {}, parse: () => ({ ok: true as const, answer: 1 }) }
  const narration = { narrator: modelNarrator(model), timeoutMs: 60_000, onText: () => {}, onRepair: async () => {} }
  const { runs } = await askModel(question, narration, { clock: () => now, signal: new AbortController().signal })
  expect(runs.map(({ created_at, duration_ms }) => [created_at, duration_ms])).toEqual([
    [iso(0), 1_000],
    [iso(6_000), 1_000],
  ])
})

test('a model that does not answer in time is named', async () => {
  const narrator = {
    ...modelNarrator(failing('test/mute', [], () => {})),
    complete: () => new Promise<never>(() => {}),
  }
  const limit = heldTimers(47_000)
  const asked = askModel(
    { system: '', prompt: '', schema: {}, parse: () => ({ ok: true as const, answer: 1 }) },
    { narrator, timeoutMs: 47_000, onText: () => {}, onRepair: async () => {} },
    { clock: () => AT, signal: new AbortController().signal },
  )
  limit.goOff()
  const { answered, runs } = await asked
  expect([answered, runs]).toMatchObject([null, [{ model: 'test/mute', error_type: 'timeout' }]])
})
