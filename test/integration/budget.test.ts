// What an owner may spend on models: set, counted, used up, and raised again.

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { owner as ownerObject } from '../../src/bindings.ts'
import { type AgentSetup, bash, inState, make, startAgent, untilMade, untilSaid } from '../helpers/agent.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

type Amount = { limit: number | null; own: number | null; ceiling: number | null; used: number; reserved: number }
type Span = { usd: Amount; tokens: Amount; calls: number; unpriced_calls: number; unsettled_calls: number }
type Budget = { is_counted: boolean; day: Span & { began_at: string; resets_at: string }; month: Span }

const budgetOf = (who: Client) => who.json<Budget>('/api/budget')
const set = (who: Client, body: Record<string, unknown>) => who.ask('/api/budget', { method: 'PUT', body })

const step = (command: string) => ({ calls: [bash(command)], usage: { prompt: 1000, completion: 100, cost: 0.5 } })

/** A conversation that has its title, so that no model is asked for one, and is told to go. */
async function startTitled(setup: Omit<AgentSetup, 'body'>) {
  const chat = await startAgent(setup)
  await chat.owner.ask(chat.path, { method: 'PATCH', body: { title: 'titled' } })
  await chat.post('message', { content: 'go' })
  return chat
}

test('a budget is set and taken away field by field, shown to every key of the owner, and is no save of the settings', async () => {
  const ann = await client()
  const before = await budgetOf(ann)
  const nothing = { limit: null, own: null, ceiling: null, used: 0, reserved: 0 }
  expect(before).toMatchObject({
    is_counted: false,
    day: { usd: nothing, tokens: nothing, calls: 0 },
    month: { calls: 0 },
  })
  expect([before.day.began_at, before.day.resets_at]).toEqual(Array(2).fill(expect.stringMatching(/T00:00:00\.0+Z$/)))
  const changed = await set(ann, { day_usd: 0.25, month_tokens: 5_000_000 })
  expect([changed.status, await changed.json()]).toMatchObject([
    200,
    {
      is_counted: true,
      day: { usd: { limit: 0.25, own: 0.25 }, tokens: nothing },
      month: { tokens: { own: 5_000_000 } },
    },
  ])
  expect((await set(ann, { day_usd: null, day_tokens: 10 })).status).toBe(200)
  const reader = await client({ owner: ann.owner, scopes: ['analysis'] })
  expect(await budgetOf(reader)).toMatchObject({
    day: { usd: nothing, tokens: { own: 10 } },
    month: { tokens: { own: 5_000_000 } },
  })
  expect((await set(reader, { day_tokens: null })).status).toBe(403)
  expect((await ann.ask('/api/settings')).status).toBe(404)
  expect(await budgetOf(await client())).toMatchObject({ is_counted: false })
  for (const wrong of [{ day_usd: -1 }, { day_usd: 'one' }, { month_tokens: 1.5 }, { month_usd: 1e300 }, 'nonsense'])
    expect([wrong, (await ann.ask('/api/budget', { method: 'PUT', body: wrong })).status]).toEqual([wrong, 422])
  const { records } = await ann.json<{ records: { action: string; fields: string[] }[] }>('/api/audit')
  expect(records.find(({ action }) => action === 'settings.changed')).toMatchObject({
    fields: ['budgetDayUsd', 'budgetDayTokens'],
  })
})

test('a budget that is used up stops every conversation of its owner and nobody else’s; a higher one lets them go on', async () => {
  const ann = await client()
  await set(ann, { day_usd: 1 })
  const used = () => expect.poll(async () => (await budgetOf(ann)).day.usd.used, { timeout: 30_000 })
  const first = await startTitled({
    owner: ann,
    replies: [step(untilMade('one')), step(untilMade('two')), { text: 'the end' }],
  })
  // The catalogue has no price of this model: what a call cost is known when its answer has been booked.
  await used().toBe(0.5)
  await make(first, 'one')
  await used().toBe(1)
  await make(first, 'two')
  await inState(first, 'error')
  const events = await first.events()
  expect(events.at(-1)?.extras?.reason).toMatch(/^RuntimeError: The budget of \$1 for the day is used up \(\$1\)\./)
  expect(events.at(-2)).toMatchObject({
    observation: 'error',
    content: expect.stringMatching(/It begins anew on \d{4}-\d\d-\d\d, 00:00 UTC; .* Send a message then to go on\.$/),
  })
  expect((await first.model.requests()).length).toBe(2)
  await expect.poll(async () => (await budgetOf(ann)).day.usd.used).toBe(1)
  expect(await budgetOf(ann)).toMatchObject({
    day: { usd: { used: 1, reserved: 0 }, tokens: { used: 2_200 }, calls: 2, unpriced_calls: 0, unsettled_calls: 0 },
    month: { usd: { used: 1, limit: null }, calls: 2 },
  })

  const second = await startTitled({ owner: ann, replies: [{ text: 'late' }] })
  await inState(second, 'error')
  expect((await second.model.requests()).length).toBe(0)
  const other = await startTitled({ replies: [{ text: 'of somebody else' }] })
  await untilSaid(other, 'of somebody else')

  await set(ann, { day_usd: 2 })
  await second.post('message', { content: 'go on' })
  await untilSaid(second, 'late')
  // What was set aside for it is given back a moment after its answer.
  await expect.poll(async () => (await budgetOf(ann)).day.usd.reserved, { timeout: 30_000 }).toBe(0)
  // The settings name the newest script for both.
  await second.model.set({ replies: [{ text: 'the end' }] })
  await first.post('message', { content: 'go on' })
  await untilSaid(first, 'the end')
  expect(await budgetOf(await client())).toMatchObject({ day: { calls: 0 } })
})

test('without a budget nothing is counted, and the owner’s object is not asked', async () => {
  const chat = await startTitled({ replies: [step('echo 1'), { text: 'done' }] })
  await untilSaid(chat, 'done')
  const tables = await runInDurableObject(ownerObject(env, chat.owner.owner), (_, { storage }) =>
    ['budget_calls', 'budget_periods'].map((name) => storage.sql.exec(`SELECT count(*) AS n FROM ${name}`).one().n),
  )
  expect(tables).toEqual([0, 0])
})

test('a call that a restart cut off counts as the most that it may have used, once, and the model is asked again', async () => {
  const ann = await client()
  await set(ann, { day_usd: 1_000 })
  const chat = await startTitled({
    owner: ann,
    settings: { llm_model: 'openai/gpt-4o' },
    replies: [
      { text: 'lost', chunkChars: 1, heldAfter: 3 },
      { text: 'the answer', usage: { prompt: 100, completion: 10 } },
    ],
  })
  await expect.poll(async () => (await chat.model.requests()).length).toBe(1)
  expect((await budgetOf(ann)).day.usd.reserved).toBeGreaterThan(0.1)
  await abortAllDurableObjects()
  await untilSaid(chat, 'the answer')
  await expect.poll(async () => (await budgetOf(ann)).day.calls).toBe(2)
  const { day } = await budgetOf(ann)
  expect([day.unsettled_calls, day.usd.reserved]).toEqual([1, 0])
  // 16,384 tokens of output at $10 for a million, and the prompt.
  expect(day.usd.used).toBeGreaterThan(0.1638)
})

test('a report and a trial are made without a model whose budget is used up, and say so', async () => {
  const ann = await client()
  const model = await scriptedModel({ text: 'never' })
  const stored = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: 'sk-scripted-0123456789' }
  await ann.ask('/api/settings', { method: 'POST', body: stored })
  await set(ann, { month_tokens: 0 })
  const body = { stock_code: 'AAPL', report_language: 'en' }
  const made = await ann.ask('/api/v1/analysis/analyze', { method: 'POST', body })
  expect(made.status).toBe(200)
  expect(await made.text()).toContain('the owner’s budget for models is used up')
  const trial = await ann.json('/api/settings/model-test', { method: 'POST', body: {} })
  expect(trial).toMatchObject({
    ok: false,
    failure: 'budget_spent',
    error: expect.stringContaining('0 tokens for the month'),
  })
  expect(await model.requests()).toEqual([])
})

test('what the operator allows is a ceiling for what the owner sets', async () => {
  const ann = await client()
  await set(ann, { day_tokens: 900, month_usd: 3 })
  const vars = { MAX_DAY_TOKENS_PER_OWNER: '500', MAX_MONTH_USD_PER_OWNER: '12.5' }
  const asked = await request('/api/budget', { headers: { 'x-session-api-key': ann.key } }, vars)
  expect(await asked.json()).toMatchObject({
    day: { tokens: { limit: 500, own: 900, ceiling: 500 }, usd: { limit: null } },
    month: { usd: { limit: 3, own: 3, ceiling: 12.5 } },
  })
})
