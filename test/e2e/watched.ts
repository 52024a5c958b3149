// What somebody who watches the service is told of an agent's turn through a crash, and of an analysis.

import { expect } from 'vitest'
import type { Service } from '../../scripts/start/service.ts'
import { type Collector, type OtlpSpan, valuesOf } from '../support/otlp-shape.ts'
import type { ScriptedModel } from '../support/scripted-model.ts'

const TOKEN = 'for-who-scrapes-0123456789abcdef'

/** Everything that somebody said, wrote, stored or keeps secret: none of it may be told. */
const PLANTED = {
  message: 'planted-message',
  command: 'planted-command',
  answer: 'planted-answer',
  lost: 'planted-lost',
  key: 'sk-planted-model-key',
  secret: 'planted-secret-value',
  collector: 'planted-collector-key',
}

export const watchedBy = (collector: Collector) => ({
  MARKET_DATA: 'sample',
  LOG_LEVEL: 'debug',
  METRICS_TOKEN: TOKEN,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${PLANTED.collector}`,
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
})

type Watched = { service: Service; model: ScriptedModel; collector: Collector }

/** A turn whose second question to the model is cut off by `crash`, and an analysis. */
export async function toldOfWork({ service, model, collector }: Watched, crash: () => Promise<void>): Promise<void> {
  const ask = async (path: string, body?: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const reply = await fetch(`${service.url}${path}`, body === undefined ? {} : init)
    return (await reply.json()) as Record<string, unknown>
  }
  model.setScript('watched', {
    replies: [
      {
        calls: [{ id: 'call_1', name: 'execute_bash', arguments: { command: `echo ${PLANTED.command} > f` } }],
        usage: { prompt: 11, completion: 5 },
      },
      { text: `${PLANTED.lost} `.repeat(9), chunkChars: 9, heldAfter: 3 },
      { text: PLANTED.answer, usage: { prompt: 20, completion: 7 } },
    ],
  })
  await ask('/api/secrets', { name: 'DEPLOY_KEY', value: PLANTED.secret })
  await ask('/api/settings', {
    llm_model: 'openai/scripted',
    llm_base_url: `${model.url}/watched/v1`,
    llm_api_key: PLANTED.key,
  })
  const { conversation_id: id } = await ask('/api/conversations', { initial_user_msg: PLANTED.message })
  const asked = () => model.requests('watched').filter(({ body }) => !JSON.stringify(body).includes('You name')).length
  await expect.poll(asked).toBe(2)
  await crash()
  const said = async () => JSON.stringify(await ask(`/api/conversations/${id}/events?limit=100`))
  await expect.poll(said).toContain(PLANTED.answer)
  const { task_id: task } = await ask('/api/v1/analysis/analyze', { stock_code: '600519', async_mode: true })
  const roots = () => distinct(collector.spans).filter(({ parentSpanId }) => parentSpanId === undefined)
  await expect.poll(() => roots().length).toBe(2)
  expect(collector.faults).toEqual([])
  checkTurn(distinct(collector.spans), String(id))
  checkTask(distinct(collector.spans), String(task))
  expect(collector.headers.every((headers) => headers['x-collector-key'] === PLANTED.collector)).toBe(true)
  const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  const counted = await metrics.text()
  // What an isolate counted that was killed is lost; what came after it is there.
  expect(counted).toMatch(/^bellwether_agent_turns_total\{outcome="awaiting_user_input"\} 1$/m)
  expect(counted).toMatch(/^bellwether_model_tokens_total\{provider="openai",direction="output"\} \d+$/m)
  expect(counted).toMatch(/^bellwether_tasks_total\{kind="analysis",outcome="completed"\} 1$/m)
  const told = [...collector.bodies, service.log, counted]
  for (const [what, text] of Object.entries(PLANTED)) {
    expect([what, told.some((one) => one.includes(text))]).toEqual([what, false])
  }
  const lines = service.log.split('\n').filter((line) => line.startsWith('{"'))
  expect(lines.filter((line) => !/^\{"time":"\d{4}-\d\d-\d\dT[\d:.]+Z","level":"/.test(line))).toEqual([])
}

/** What a kill between the collector's answer and the note of it has sent a second time is the same span, letter for letter. */
const distinct = (spans: readonly OtlpSpan[]): OtlpSpan[] =>
  [...new Set(spans.map((span) => JSON.stringify(span)))].map((text) => JSON.parse(text) as OtlpSpan)

function checkTurn(spans: readonly OtlpSpan[], conversation: string): void {
  const own = spans.filter((span) => valuesOf(span)['gen_ai.conversation.id'] === conversation)
  const told = own.map(({ name, kind, traceId, parentSpanId }) => [name, kind, traceId, parentSpanId])
  const root = own.find(({ parentSpanId }) => parentSpanId === undefined)
  const below = [root?.traceId, root?.spanId]
  expect(told).toEqual([
    ['chat scripted', 3, ...below],
    ['execute_tool execute_bash', 1, ...below],
    ['chat scripted', 3, ...below],
    ['invoke_agent CodeActAgent', 1, root?.traceId, undefined],
  ])
  expect(new Set(own.map(({ spanId }) => spanId)).size).toBe(4)
  const [first, tool, second, turn] = own.map(valuesOf)
  const model = { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'scripted' }
  expect(first).toMatchObject({
    ...{ ...model, 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': ['tool_calls'] },
    ...{ 'gen_ai.usage.input_tokens': 11, 'gen_ai.usage.output_tokens': 5 },
  })
  expect(tool).toMatchObject({ 'gen_ai.tool.name': 'execute_bash', 'gen_ai.tool.call.id': 'call_1' })
  expect(second).toMatchObject({ 'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.usage.output_tokens': 7 })
  expect(turn).toMatchObject({
    ...{ ...model, 'gen_ai.agent.name': 'CodeActAgent', 'bellwether.turn.steps': 3 },
    ...{ 'bellwether.turn.end': 'awaiting_user_input', 'gen_ai.usage.input_tokens': 31 },
  })
  expect(own.filter((span) => 'error.type' in valuesOf(span))).toEqual([])
}

function checkTask(spans: readonly OtlpSpan[], task: string): void {
  const own = spans.filter(({ traceId }) => traceId === task)
  const root = own.find(({ parentSpanId }) => parentSpanId === undefined)
  expect([root?.name, valuesOf(root ?? { attributes: [] })['bellwether.task.end']]).toEqual([
    'invoke_workflow analysis',
    'completed',
  ])
  const gathered = own.filter(({ name }) => name.startsWith('gather '))
  expect(gathered.length).toBeGreaterThan(0)
  expect(own.filter((span) => span !== root && span.parentSpanId !== root?.spanId)).toEqual([])
  expect(JSON.stringify(own)).not.toContain('600519')
}
