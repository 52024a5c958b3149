import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

const KEY = 'sk-trial-0123456789'

const trial = async (by: Awaited<ReturnType<typeof client>>, body: Record<string, unknown>) => {
  const answer = await by.ask('/api/settings/model-test', { method: 'POST', body })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('a model is tried with what is typed, without storing it, and with what is stored for the rest', async () => {
  const ann = await client()
  const model = await scriptedModel({ text: 'ready' }, { text: 'ready' })
  const typed = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: KEY }
  expect(await trial(ann, typed)).toEqual({
    status: 200,
    body: {
      ok: true,
      model: 'openai/scripted',
      reply: 'ready',
      latency_ms: expect.any(Number),
      failure: null,
      error: null,
    },
  })
  expect((await ann.ask('/api/settings')).status).toBe(404)

  await ann.ask('/api/settings', { method: 'POST', body: { ...typed, llm_model: 'openai/other' } })
  expect((await trial(ann, { llm_model: 'openai/scripted' })).body).toMatchObject({
    ok: true,
    model: 'openai/scripted',
  })
  const asked = await model.requests()
  expect(asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`])
})

test('what keeps a model from answering is told by its kind and in a sentence without the key', async () => {
  const ann = await client()
  const refusing = await scriptedModel({ status: 401, body: { error: { message: `bad key ${KEY}` } } })
  const refused = await trial(ann, { llm_model: 'openai/x', llm_base_url: refusing.baseUrl, llm_api_key: KEY })
  expect(refused.body).toMatchObject({ ok: false, failure: 'authentication', reply: null, latency_ms: null })
  expect(JSON.stringify(refused.body)).not.toContain(KEY)

  const without = [
    [{ llm_model: 'openai/gpt-5' }, 'needs-key'],
    [{ llm_model: 'nobody/nothing' }, 'needs-address'],
    [{}, 'no_model'],
    [{ llm_model: 'openai/x', llm_base_url: 'http://10.0.0.1/v1', llm_api_key: KEY }, 'address_refused'],
  ] as const
  for (const [body, failure] of without) {
    expect((await trial(ann, body)).body).toMatchObject({ ok: false, failure, error: expect.stringMatching(/\w+ \w+/) })
  }
  expect((await trial(ann, { llm_base_url: 'no address' })).status).toBe(422)
})

test('what is set up and what is missing is told: nothing at first, then the model that lacks a key, then one that can be asked', async () => {
  const ann = await client()
  const setup = () => ann.json('/api/setup')
  expect(await setup()).toEqual({
    settings_stored: false,
    model: { state: 'none', id: null, is_own: false },
    agent: 'ShellAgent',
    market_data_is_live: false,
    news_is_configured: false,
    runners_connected: 0,
  })
  const stages = [
    [{ llm_model: 'openai/gpt-5' }, 'needs-key'],
    [{ llm_model: 'nobody/nothing' }, 'needs-address'],
    [{ llm_model: 'openai/gpt-5', llm_api_key: KEY }, 'ready', 'CodeActAgent'],
    [{ llm_model: 'openai/gpt-5', agent: 'ShellAgent' }, 'ready', 'ShellAgent'],
  ] as const
  for (const [change, state, agent = 'CodeActAgent'] of stages) {
    await ann.ask('/api/settings', { method: 'POST', body: change })
    expect(await setup()).toMatchObject({
      settings_stored: true,
      model: { state, id: change.llm_model, is_own: true },
      agent,
    })
  }
})
