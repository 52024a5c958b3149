import { expect, test } from 'vitest'
import { z } from 'zod'
import { languageModel } from '../../../src/llm/client.ts'
import { completeJson } from '../../../src/llm/complete-json.ts'
import { allowing } from '../../helpers/policies.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import type { ScriptedReply } from '../../support/scripted-model-orders.ts'

const Verdict = z.object({
  action: z.enum(['buy', 'hold', 'sell']),
  score: z.number().int().min(0).max(100),
  why: z.string(),
})
const GOOD = { action: 'hold', score: 55, why: 'Mixed {signals}.' }

async function asked(...replies: ScriptedReply[]) {
  const server = await scriptedModel(...replies)
  const choice = {
    id: 'openai/gpt-4o',
    label: 'The vendor',
    dialect: 'openai-chat',
    model: 'gpt-4o',
    apiKey: 'k',
  } as const
  const means = { addressPolicy: allowing('127.0.0.1') }
  const model = await languageModel({ ...choice, baseUrl: server.baseUrl, isTrustedAddress: true }, means)
  const answer = completeJson(model, { system: 'Judge.', prompt: 'ACME', schema: Verdict })
  return { answer, server }
}

test('a value is found however it is wrapped, and the schema goes along with the question', async () => {
  const json = JSON.stringify(GOOD)
  const wrapped = [
    json,
    `\`\`\`json\n${json}\n\`\`\``,
    `Here it is:\n${json}\nI hope that helps.`,
    `<think>{"no": [}</think>${json}`,
  ]
  for (const text of wrapped) {
    const { answer, server } = await asked({ text, usage: { prompt: 1000, completion: 100 } })
    expect(await answer).toMatchObject({ value: GOOD, usage: { promptTokens: 1000, completionTokens: 100 } })
    const [request] = await server.requests()
    expect(JSON.stringify(request?.body)).toContain('json_schema')
  }
})

test('an answer that does not fit is sent back once with what is wrong, and both answers are paid for', async () => {
  const { answer, server } = await asked(
    { text: '{"action": "wait", "score": 55, "why": ""}' },
    { text: JSON.stringify(GOOD) },
  )
  expect(await answer).toMatchObject({ value: GOOD, usage: { promptTokens: 200, completionTokens: 40 } })
  const second = (await server.requests())[1]?.body as { messages: { role: string; content: string }[] }
  expect(second.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  expect(second.messages[3]?.content).toContain('action')
  const hopeless = await asked({ text: 'I cannot.' }, { text: 'Still no.' })
  await expect(hopeless.answer).rejects.toMatchObject({
    kind: 'unusable_reply',
    isPassing: true,
    partialText: 'Still no.',
  })
})

test('a server that takes no schema is asked without it', async () => {
  const refusal = { error: { message: "'response_format' of type 'json_schema' is not supported" } }
  const { answer, server } = await asked({ status: 400, body: refusal }, { text: JSON.stringify(GOOD) })
  expect((await answer).value).toEqual(GOOD)
  const bodies = (await server.requests()).map(({ body }) => 'response_format' in (body as object))
  expect(bodies).toEqual([true, false])
})
