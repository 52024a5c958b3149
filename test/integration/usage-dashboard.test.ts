// What the owner's calls of language models used: of every kind, failed and repeated ones included.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { deleteOldModelCalls } from '../../src/db/model-calls.ts'
import { inState, startAgent } from '../helpers/agent.ts'
import { type Client, client } from '../helpers/app.ts'
import { talker } from '../helpers/chat.ts'

const DASHBOARD = '/api/v1/usage/dashboard'
const DAY = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)

type Sums = { calls: number; prompt_tokens: number; completion_tokens: number; total_tokens: number }
type Dashboard = {
  period: string
  from_date: string
  to_date: string
  total_calls: number
  total_prompt_tokens: number
  total_completion_tokens: number
  total_tokens: number
  by_call_type: (Sums & { call_type: string })[]
  by_model: (Sums & { model: string; max_total_tokens: number })[]
  recent_calls: (Omit<Sums, 'calls'> & {
    id: number
    called_at: string
    call_type: string
    model: string
    stock_code: string | null
  })[]
}

const dashboard = (who: Client, query = '') => who.json<Dashboard>(`${DASHBOARD}${query}`)

const told = { prompt: 100, completion: 20 }
const EMPTY = {
  ...{ total_calls: 0, total_prompt_tokens: 0, total_completion_tokens: 0, total_tokens: 0 },
  ...{ by_call_type: [], by_model: [], recent_calls: [] },
}

test('calls of talks, conversations and analyses are there with their kind, stock and tokens; nobody else sees them', async () => {
  const ann = await talker([
    { text: 'of the talk', usage: told },
    { text: 'of the conversation', usage: { prompt: 1_000, completion: 5 } },
    { text: '{"nonsense": true}', usage: { prompt: 7, completion: 3 } },
  ])
  expect(await dashboard(ann)).toEqual({ period: 'month', from_date: DAY, to_date: DAY, ...EMPTY })
  await ann.chat('How is it?', { context: { stock_code: '600519' } })
  await expect.poll(async () => (await dashboard(ann)).total_calls).toBe(1)
  const body = { initial_user_msg: 'go' }
  await ann.json('/api/conversations', { method: 'POST', body })
  // Its answer, and its title.
  await expect.poll(async () => (await dashboard(ann)).total_calls).toBe(3)
  await ann.json('/api/v1/analysis/analyze', { method: 'POST', body: { stock_code: '600519' } })
  const { recent_calls: recent, ...sums } = await dashboard(ann, '?period=today')
  expect(
    recent.map(({ call_type, stock_code, model, total_tokens }) => [call_type, stock_code, model, total_tokens]),
  ).toEqual(
    expect.arrayContaining([
      ['analysis', '600519', 'openai/scripted', 10],
      ['agent', null, 'openai/scripted', 1_005],
      ['agent', '600519', 'openai/scripted', 120],
    ]),
  )
  for (const call of recent) {
    const times = { id: expect.any(Number), called_at: expect.stringMatching(/^\d{4}-.*Z$/) }
    expect(call).toEqual({
      ...call,
      ...times,
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
    })
  }
  expect(sums).toMatchObject({ period: 'today', from_date: sums.to_date })
  expect(sums.total_tokens).toBe(sums.total_prompt_tokens + sums.total_completion_tokens)
  const agent = recent.filter(({ call_type }) => call_type === 'agent')
  const sum = (of: 'prompt_tokens' | 'completion_tokens' | 'total_tokens') =>
    agent.reduce((all, call) => all + call[of], 0)
  expect(sums.by_call_type[0]).toEqual({
    ...{ call_type: 'agent', calls: 3, prompt_tokens: sum('prompt_tokens') },
    ...{ completion_tokens: sum('completion_tokens'), total_tokens: sum('total_tokens') },
  })
  expect(sum('total_tokens')).toBeGreaterThanOrEqual(1_125)
  expect(sums.by_model).toContainEqual(expect.objectContaining({ model: 'openai/scripted', max_total_tokens: 1_005 }))
  const bob = await client()
  expect(await dashboard(bob, '?period=all')).toMatchObject(EMPTY)
})

test('a call that failed and was repeated counts twice, and one whose use nobody told is estimated and marked', async () => {
  const failure = { status: 500, body: { error: { message: 'broken', type: 'server_error' } } }
  const chat = await startAgent({
    replies: [failure, { text: 'the answer', usage: { prompt: 0, completion: 0 } }],
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_input')
  await expect.poll(async () => (await dashboard(chat.owner)).total_calls).toBeGreaterThanOrEqual(2)
  const { by_model: models, recent_calls: recent } = await dashboard(chat.owner)
  const estimated = models.find(({ model }) => model === 'openai/scripted (est.)')
  expect(estimated?.prompt_tokens).toBeGreaterThan(100)
  expect(recent.every(({ model }) => /^openai\/scripted( \(est\.\))?$/.test(model))).toBe(true)
})

test('periods are days of Beijing, an unknown one is the month, and calls go after 90 days', async () => {
  const ann = await client()
  const save = (key: string, at: number) =>
    env.DB.prepare(
      `INSERT INTO model_calls (owner, key, called_at, call_type, model, prompt_tokens, completion_tokens, estimated)
       VALUES (?, ?, ?, 'analysis', 'a/b', 1, 1, 0)`,
    )
      .bind(ann.owner, key, at)
      .run()
  const day = (daysAgo: number) => Date.now() - daysAgo * 86_400_000
  for (const daysAgo of [0, 40, 91]) await save(`k${daysAgo}`, day(daysAgo))
  expect((await dashboard(ann, '?period=today')).total_calls).toBe(1)
  expect(await dashboard(ann, '?period=nonsense')).toMatchObject({ period: 'month', total_calls: 1 })
  expect(await dashboard(ann, '?period=all&limit=2')).toMatchObject({ total_calls: 3, recent_calls: [{}, {}] })
  expect((await ann.ask(`${DASHBOARD}?limit=201`)).status).toBe(422)
  expect(await deleteOldModelCalls(env.DB, day(90))).toBeGreaterThan(0)
  const all = await dashboard(ann, '?period=all')
  expect(all.total_calls).toBe(2)
  expect(all.from_date).toBe(new Date(day(40) + 8 * 3_600_000).toISOString().slice(0, 10))
})
