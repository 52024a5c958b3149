import { expect, test } from 'vitest'
import type { ModelRun } from '../../../src/analysis/diagnostics.ts'
import { stepTeller } from '../../../src/analysis/flow/live.ts'
import type { FlowEvent } from '../../../src/analysis/flow/run-flow.ts'
import { taskSpans } from '../../../src/analysis/flow/spans.ts'
import type { Task } from '../../../src/analysis/task.ts'
import { jobOf, type Subject } from './alone.ts'

const SUBJECT: Subject = {
  instrument: { key: 'AAPL', market: 'us', exchange: 'US', kind: 'stock', code: 'AAPL' },
  ...{ names: { en: 'Apple' }, configuredLanguage: 'zh', queryId: 'e'.repeat(32) },
  request: { reportType: 'detailed', language: 'zh', analysisPhase: 'auto', skills: null },
}

const run = (more: Partial<ModelRun>): ModelRun => ({
  ...{ provider: null, model: 'google/gemini-2.5-pro', call_type: 'analysis', success: false, fallback_model: null },
  ...{ tokens: null, input_tokens: null, output_tokens: null, duration_ms: 1_500, error_type: null, problems: [] },
  ...{ created_at: '2026-03-20T08:00:00.000000Z', ...more },
})

test('a call of a model for a task is a span that names the model as the agent’s calls do, and the tokens that it used', async () => {
  const events: FlowEvent[] = []
  const job = jobOf(SUBJECT.instrument, { ...SUBJECT.request, language: 'zh' })
  const teller = stepTeller(job, { onSteps: async (steps) => void events.push(...steps) } as Parameters<
    typeof stepTeller
  >[1])
  await teller.model(null)
  await teller.model(run({ error_type: 'rate_limit' }))
  await teller.model(run({ success: true, provider: 'google', tokens: 49, input_tokens: 42, output_tokens: 7 }))
  // Nobody could be asked, so there is a word of the report's language in place of a model.
  await teller.model(run({ model: null, error_type: 'bad_key' }))
  const times = { createdAt: 1, startedAt: 2, completedAt: 3 }
  const task = { id: 'f'.repeat(32), request: { kind: 'analysis' }, status: 'completed', ...times } as Task
  const asked = taskSpans(task, events, 1).filter(({ name }) => name.startsWith('chat'))
  const names = { 'gen_ai.provider.name': 'gcp.gemini', 'gen_ai.request.model': 'gemini-2.5-pro' }
  expect(asked.map(({ name, error, from, until }) => [name, error, until - from])).toEqual([
    ['chat gemini-2.5-pro', 'failed', 1_500],
    ['chat gemini-2.5-pro', null, 1_500],
    ['chat', 'failed', 1_500],
  ])
  const [failed, answered, none] = asked.map(({ attributes }) => attributes)
  expect(failed).toMatchObject({ ...names, 'gen_ai.usage.input_tokens': null })
  expect(answered).toMatchObject({ ...names, 'gen_ai.usage.input_tokens': 42, 'gen_ai.usage.output_tokens': 7 })
  expect(Object.keys(none ?? {})).not.toContain('gen_ai.request.model')
})
