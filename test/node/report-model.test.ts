// The words of a report from a model server that speaks the common protocol, over a real connection on loopback.

import { expect, test } from 'vitest'
import type { NarratorFault } from '../../src/analysis/codes.ts'
import { type Narrator, NarratorError } from '../../src/analysis/narrator.ts'
import { heldTimers } from '../helpers/timers.ts'
import { type LoopbackModel, loopbackModel } from '../support/loopback-model.ts'
import { ALONE, analyze, DEADLINES, type Subject } from '../unit/analysis/alone.ts'
import { barsOf, wave } from '../unit/analysis/series.ts'

const ANSWER = {
  one_sentence: '趋势仍然向上。',
  analysis_summary: '均线多头排列。有人喊价8888元。',
  action: 'hold',
  technical_analysis: '动能平稳。',
  ma_analysis: null,
  volume_analysis: null,
  fundamental_analysis: null,
  news_summary: null,
  market_sentiment: null,
  sector_position: null,
  short_term_outlook: null,
  medium_term_outlook: null,
  earnings_outlook: null,
  positive_catalysts: ['均线向上'],
  risk_alerts: ['回调'],
  advice_without_position: '等待理想买点',
  advice_with_position: '继续持有',
}

const FAULT: Record<number, NarratorFault> = { 401: 'bad_key', 402: 'quota', 404: 'unknown_model', 429: 'quota' }

/** The narrator that a configured model would be. */
function chatNarrator({ url }: LoopbackModel, model: string): Narrator {
  return {
    async complete({ system, prompt, schema, signal }) {
      const response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: prompt },
          ],
          response_format: { type: 'json_schema', json_schema: { name: 'report', schema } },
        }),
        signal,
      })
      if (!response.ok) throw new NarratorError(FAULT[response.status] ?? 'network', { model })
      const reply = (await response.json()) as {
        choices: { message: { content: string }; finish_reason: string }[]
        usage: { total_tokens: number }
      }
      const [choice] = reply.choices
      return {
        output: choice?.message.content ?? null,
        model,
        provider: 'loopback',
        tokens: reply.usage.total_tokens,
        isCutOff: choice?.finish_reason === 'length',
      }
    },
  }
}

const INPUT: Subject = {
  instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
  names: { zh: '贵州茅台' },
  request: { reportType: 'detailed', language: 'zh', analysisPhase: 'auto', skills: ['bull_trend', 'no_such_thing'] },
  configuredLanguage: 'zh',
  queryId: 'e'.repeat(32),
}

async function analysed(narrator: Narrator, modelMs = 60_000) {
  const result = await analyze(INPUT, {
    dailyBars: async () => ({
      ok: true,
      value: barsOf(wave(80, 0.3, 1400)),
      provider: 'tencent',
      provenance: null,
      runs: [],
    }),
    quote: async () => ({ ok: false, runs: [] }),
    ...ALONE,
    narrator,
    onStage: () => undefined,
    clock: () => Date.parse('2026-03-20T08:00:00Z'),
    signal: new AbortController().signal,
    deadlines: { ...DEADLINES, modelMs },
  })
  if (!result.ok) throw new Error(result.message)
  return result
}

test('a model server is asked once with schema and strategies, repairs a broken answer, and a server that fails leaves a code-made report', async () => {
  const limit = heldTimers(47_000)
  const model = await loopbackModel((call) => {
    if (call === 1) return { content: JSON.stringify(ANSWER) }
    if (call === 2) return { content: '{"one_sentence": "half', finish: 'length' }
    if (call === 3) return { content: JSON.stringify(ANSWER) }
    if (call === 4) return { status: 401, body: '{"error":{"message":"Incorrect API key"}}' }
    limit.goOff()
    return { content: JSON.stringify(ANSWER), afterMs: 2_000 }
  })
  try {
    const narrator = chatNarrator(model, 'loopback-1')
    const first = await analysed(narrator)
    expect(first.report.meta.model_used).toBe('loopback-1')
    expect(first.report.summary.analysis_summary).not.toContain('均线多头排列。有人喊价')
    expect(JSON.stringify(first.report.summary)).not.toContain('8888')
    expect(first.report.details?.raw_result).toMatchObject({
      generated_by: 'rules',
      model_comment: { model: 'loopback-1', action: 'hold' },
      strategy_synthesis: { findings: [{ id: 'bull_trend' }], unknown: ['no_such_thing'] },
    })
    const [asked] = model.asked
    expect(asked?.authorization).toBe('Bearer key')
    expect(asked?.request.response_format?.json_schema?.schema).toMatchObject({ type: 'object' })
    expect(asked?.request.messages[1]?.content).toContain('多头趋势')

    const repaired = await analysed(narrator)
    expect(repaired.diagnostics.llm_runs.map(({ error_type }) => error_type)).toEqual(['cut_off', null])
    expect(repaired.report.details?.raw_result?.generated_by).toBe('rules')

    const refused = await analysed(narrator)
    expect(refused.report.details?.raw_result).toMatchObject({ generated_by: 'rules', model_fault: 'bad_key' })
    expect(refused.report.summary.analysis_summary).toContain('密钥无效')

    const late = await analysed(narrator, 47_000)
    expect(late.report.details?.raw_result).toMatchObject({ generated_by: 'rules', model_fault: 'timeout' })
    expect(model.asked).toHaveLength(5)
  } finally {
    await model.stop()
  }
})
