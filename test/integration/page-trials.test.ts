// The buttons of the analysis page that try a model or a channel, against servers that speak their protocols.

import { expect, inject, test } from 'vitest'
import { type Client, client } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

const KEY = 'sk-trial-0123456789'
const MASK = '******'
const PATH = '/api/v1/system/config'
const EN = { 'accept-language': 'en' }

async function tried(owner: Client, what: string, body: Record<string, unknown>) {
  const answer = await owner.ask(`${PATH}/${what}`, { method: 'POST', body, headers: EN })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const entryOf = (baseUrl: string, more: Record<string, unknown> = {}) => ({
  ...{ name: 'mine', protocol: 'openai', base_url: baseUrl, api_key: KEY, models: ['scripted'], enabled: true },
  ...{ timeout_seconds: 20, use_saved_secret: false, ...more },
})

test('a model is asked with what stands in the form, and what else it can is tried', async () => {
  const owner = await client()
  const model = await scriptedModel({ text: 'ready' }, { text: '{"ready": true}' }, { text: 'no call' })
  const answer = await tried(
    owner,
    'llm/test-channel',
    entryOf(model.baseUrl, { capability_checks: ['json', 'tools', 'vision'] }),
  )
  const capability = { message: expect.any(String), retryable: false }
  expect(answer).toEqual({
    status: 200,
    body: {
      ...{ success: true, message: 'The model answers', error: null, error_code: null, stage: null, retryable: false },
      ...{
        details: {},
        resolved_protocol: 'openai',
        resolved_model: 'openai/scripted',
        latency_ms: expect.any(Number),
      },
      capability_results: {
        json: {
          ...{ ...capability, status: 'passed', error_code: null, stage: 'capability_json', details: {} },
          latency_ms: expect.any(Number),
        },
        tools: {
          ...{ ...capability, status: 'failed', error_code: 'capability_unsupported', stage: 'capability_tools' },
          ...{ details: { reason: 'capability_unsupported' }, latency_ms: expect.any(Number) },
        },
        vision: {
          ...{ ...capability, status: 'skipped', error_code: 'skipped', stage: 'capability_vision', details: {} },
          latency_ms: null,
        },
      },
    },
  })
})

test('a failure has the page’s words and no key in it', async () => {
  const owner = await client()
  const refusing = await scriptedModel({ status: 401, body: { error: { message: `bad key ${KEY}` } } })
  const refused = await tried(owner, 'llm/test-channel', entryOf(refusing.baseUrl))
  expect(refused.body).toMatchObject({
    ...{ success: false, error_code: 'auth', stage: 'chat_completion', details: { reason: 'api_key_rejected' } },
    capability_results: {},
  })
  expect(JSON.stringify(refused)).not.toContain(KEY)
  for (const [language, error] of [
    ['zh', '服务商不接受此密钥'],
    ['ko', '제공자가 키를 받아들이지 않습니다'],
  ] as const) {
    const again = await scriptedModel({ status: 401, body: { error: { message: 'bad key' } } })
    const answer = await owner.ask(`${PATH}/llm/test-channel`, {
      ...{ method: 'POST', body: entryOf(again.baseUrl), headers: { 'accept-language': language } },
    })
    expect(await answer.json()).toMatchObject({ success: false, error })
  }
  const inside = await tried(owner, 'llm/test-channel', entryOf('http://10.0.0.1/v1'))
  expect(inside.body).toMatchObject({ success: false, error_code: 'invalid_config' })
})

test('the mask is the stored key, and only for the stored provider at the stored address', async () => {
  const owner = await client()
  const model = await scriptedModel({ text: 'ready' })
  const settings = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: KEY }
  await owner.ask('/api/settings', { method: 'POST', body: settings })
  expect((await tried(owner, 'llm/test-channel', entryOf(model.baseUrl, { api_key: MASK }))).body).toMatchObject({
    success: true,
  })
  expect((await model.requests())[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
  for (const elsewhere of [
    entryOf('https://elsewhere.example.com/v1', { api_key: MASK }),
    entryOf(model.baseUrl, { api_key: MASK, protocol: 'deepseek' }),
  ]) {
    for (const what of ['llm/test-channel', 'llm/discover-models']) {
      expect((await tried(owner, what, elsewhere)).body).toMatchObject({
        ...{ success: false, error_code: 'invalid_config', details: { reason: 'missing_api_key' } },
      })
    }
  }
  expect(await model.requests()).toHaveLength(1)
  const analyst = await client({ owner: owner.owner, scopes: ['analysis'] })
  const without = await tried(analyst, 'llm/test-channel', entryOf(model.baseUrl, { api_key: MASK }))
  expect(without.body).toMatchObject({ success: false, error_code: 'invalid_config' })
})

test('models are listed where the provider lists them', async () => {
  const owner = await client()
  const none = await tried(
    owner,
    'llm/discover-models',
    entryOf('https://models.example.com', { protocol: 'anthropic' }),
  )
  expect(none.body).toMatchObject({
    success: false,
    error_code: 'unsupported_protocol',
    stage: 'model_discovery',
    models: [],
  })
  const inside = await tried(owner, 'llm/discover-models', entryOf('http://169.254.169.254/latest'))
  expect(inside.body).toMatchObject({ success: false, models: [] })
})

test('a channel is tried with the form, and what is missing or not possible is said before anything is sent', async () => {
  const owner = await client()
  const send = (channel: string, values: Record<string, string>) =>
    tried(owner, 'notification/test-channel', {
      ...{ channel, mask_token: MASK, title: 'A test', content: 'It works', timeout_seconds: 20 },
      items: Object.entries(values).map(([key, value]) => ({ key, value })),
    })
  const told = { retryable: false, stage: 'config_validation', attempts: [] }
  expect((await send('telegram', { TELEGRAM_BOT_TOKEN: '1:a' })).body).toMatchObject({
    ...told,
    error_code: 'config_missing',
  })
  expect((await send('email', {})).body).toMatchObject({
    ...told,
    error_code: 'config_invalid',
    message: expect.stringMatching(/Resend/),
  })
  expect((await send('astrbot', {})).body).toMatchObject({ ...told, error_code: 'config_invalid' })
  expect((await send('ntfy', { NTFY_URL: 'https://ntfy.sh' })).body).toMatchObject({
    ...told,
    error_code: 'config_invalid',
  })
  // A token that is stored goes to its stored address alone.
  const stored = { url: 'https://gotify.example.com', token: 'stored-token' }
  await owner.ask('/api/v1/analysis/channels/mine', { method: 'PUT', body: { kind: 'gotify', settings: stored } })
  const moved = await send('gotify', { GOTIFY_URL: 'https://elsewhere.example.com', GOTIFY_TOKEN: MASK })
  expect(moved.body).toMatchObject({ ...told, success: false, error_code: 'config_invalid' })
})

test('a message of a channel’s trial arrives, and counts as every message does', async () => {
  const owner = await client()
  const lane = `${inject('notifyHost')}/trial-${crypto.randomUUID().slice(0, 8)}`
  const body = {
    ...{ channel: 'custom', mask_token: MASK, title: 'A test', content: 'It works', timeout_seconds: 20 },
    items: [
      { key: 'CUSTOM_WEBHOOK_URLS', value: `${lane}/webhook` },
      { key: 'STOCK_LIST', value: 'AAPL' },
    ],
  }
  const answer = await tried(owner, 'notification/test-channel', body)
  const attempt = {
    success: true,
    message: 'Sent',
    error_code: null,
    stage: null,
    retryable: false,
    latency_ms: expect.any(Number),
  }
  expect(answer.body).toEqual({
    ...attempt,
    attempts: [{ ...attempt, channel: 'custom', target: null, http_status: null }],
  })
  expect(await (await fetch(`${lane}/received`)).json()).toMatchObject([{ service: 'webhook', title: 'A test' }])
  expect(await owner.json('/api/v1/stocks/watchlist')).toMatchObject({ stock_codes: [] })
})

test('the one backend of the page is the owner’s model: without one it is not configured, a trial asks it, and commands are refused', async () => {
  const owner = await client()
  const backends = async (path = 'status') => owner.json(`${PATH}/generation-backends/${path}`, { headers: EN })
  const backend = {
    ...{ backend_id: 'litellm', backend_type: 'litellm', provider_id: null, is_primary: true, available: false },
    ...{ health_status: 'skipped', supports_json: true, supports_tools: true, supports_stream: true },
    ...{ max_concurrency: null, last_error_code: 'not_configured', last_error_message: expect.any(String) },
  }
  const whole = (one: object) => ({
    ...{ primary_backend_id: 'litellm', fallback_backend_id: null, primary: one, fallback: null, backends: [one] },
  })
  expect(await backends()).toEqual(whole(backend))
  const none = await tried(owner, 'generation-backends/smoke-test', { mode: 'text', items: [], mask_token: MASK })
  expect(none.body).toMatchObject({ success: false, mode: 'text', status: whole(backend) })
  const model = await scriptedModel({ text: 'ready' }, { status: 401, text: 'no' })
  const settings = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: KEY }
  expect((await owner.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const set = { ...backend, provider_id: 'openai/scripted', available: true, health_status: 'not_tested' }
  const known = { ...set, last_error_code: null, last_error_message: null }
  expect(await backends()).toEqual(whole(known))
  const items = [{ key: 'LITELLM_MODEL', value: 'openai/other' }]
  const preview = await tried(owner, 'generation-backends/status/preview', { items, mask_token: MASK })
  expect(preview.body).toEqual(whole({ ...known, provider_id: 'openai/other' }))
  const worked = await tried(owner, 'generation-backends/smoke-test', { mode: 'json', items: [], mask_token: MASK })
  expect(worked.body).toEqual({
    ...{ success: true, mode: 'json', message: 'The model answers' },
    status: whole({ ...known, health_status: 'passed' }),
  })
  for (const path of ['status/preview', 'smoke-test']) {
    const command = [{ key: 'GENERATION_BACKEND', value: 'local_cli' }]
    const refused = await tried(owner, `generation-backends/${path}`, { items: command, mask_token: MASK })
    expect([refused.status, refused.body.error]).toEqual([400, 'validation_failed'])
  }
  expect(JSON.stringify([await backends(), worked])).not.toContain(KEY)
})

test('each market says by its calendar whether it trades, and when it does next', async () => {
  const owner = await client()
  type Status = Record<string, unknown> & { market: string; is_market_open_now: boolean; next_session_open: string }
  const { generated_at, markets } = await owner.json<{ generated_at: string; markets: Status[] }>(
    '/api/v1/market/status',
  )
  expect(generated_at).toMatch(/^\d{4}-.*Z$/)
  expect(markets.map(({ market }) => market)).toEqual(['cn', 'hk', 'us', 'jp', 'kr', 'tw'])
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/)
  for (const one of markets) {
    expect(one).toEqual({
      ...{ ...one, phase: expect.any(String), market_local_time: time, next_session_open: time },
      ...{ session_date: expect.stringMatching(/^\d{4}-/), effective_daily_bar_date: expect.stringMatching(/^\d{4}-/) },
      ...{ is_trading_day: expect.any(Boolean), is_market_open_now: expect.any(Boolean), warnings: expect.any(Array) },
    })
    expect(Date.parse(one.next_session_open)).toBeGreaterThan(Date.parse(generated_at))
  }
})
