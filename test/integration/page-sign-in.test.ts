// The sign-in, the setup and the scheduler as the unmodified analysis page reads them.

import { expect, test } from 'vitest'
import { client, request } from '../helpers/app.ts'

const ORIGIN = 'http://bellwether.test'
const LOCAL = { AUTH_MODE: 'local' }

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-language': 'en', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const login = (password: unknown) => post('/api/v1/auth/login', { password }, { origin: ORIGIN })
const statusOf = async (headers: Record<string, string> = {}) =>
  (await request('/api/v1/auth/status', { headers })).json()

const SIGNED_OUT = {
  authEnabled: true,
  loggedIn: false,
  passwordSet: true,
  passwordChangeable: false,
  setupState: 'enabled',
}

test('without a sign-in the page is told that it needs one, and never to choose a password', async () => {
  expect(await statusOf()).toEqual(SIGNED_OUT)
  expect(await statusOf({ cookie: 'bellwether_session=bws_none' })).toEqual(SIGNED_OUT)
})

test('a key signs the page in by a cookie that the console knows, and signing out ends this sign-in alone', async () => {
  const ann = await client()
  const answers = [await login(ann.key), await login(` ${ann.key} `)]
  const [first = '', second = ''] = answers.map((answer) => answer.headers.get('set-cookie')?.split(';')[0] ?? '')
  expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([{ ok: true }, { ok: true }])
  expect(answers[0]?.headers.get('set-cookie')).toMatch(/HttpOnly/)
  expect(await statusOf({ cookie: first })).toEqual({ ...SIGNED_OUT, loggedIn: true })
  const session = await request('/api/session', { headers: { cookie: first } })
  expect(await session.json()).toMatchObject({ owner: ann.owner })

  const out = await post('/api/v1/auth/logout', '', { cookie: first, origin: ORIGIN })
  expect([out.status, await out.text(), out.headers.get('set-cookie')]).toEqual([204, '', expect.stringMatching(/=;/)])
  expect(await statusOf({ cookie: first })).toEqual(SIGNED_OUT)
  expect(await statusOf({ cookie: second })).toEqual({ ...SIGNED_OUT, loggedIn: true })
})

test('what is no key, or one that may not analyse, opens nothing; each refusal has its word', async () => {
  const { key } = await client()
  const wrong = [await login(`${key}x`), await login('bwk_unknown_key'), await login('no key at all')]
  const bodies = await Promise.all(wrong.map((answer) => answer.json()))
  expect(wrong.map(({ status }) => status)).toEqual([401, 401, 401])
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  expect(bodies[0]).toMatchObject({ error: 'invalid_password', message: 'This is no valid access key' })
  for (const body of [{ password: '' }, { password: ' ' }, { password: null }, { secret: key }]) {
    const answer = await post('/api/v1/auth/login', body, { origin: ORIGIN })
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'password_required' })])
  }
  const other = await client({ scopes: ['conversations'] })
  const refused = await login(other.key)
  expect([refused.status, refused.headers.get('set-cookie')]).toEqual([403, null])
  const foreign = await post('/api/v1/auth/login', { password: key }, { origin: 'https://elsewhere.test' })
  expect([foreign.status, foreign.headers.get('set-cookie')]).toEqual([403, null])
})

test('a cookie changes nothing from another origin', async () => {
  const { key } = await client()
  const cookie = (await login(key)).headers.get('set-cookie')?.split(';')[0] ?? ''
  const add = (origin: string) =>
    post('/api/v1/stocks/watchlist/add', { stock_code: '600519' }, { cookie, origin }).then(({ status }) => status)
  expect([await add('https://elsewhere.test'), await add(ORIGIN)]).toEqual([403, 200])
})

test('keys are managed elsewhere, and the refusal says where', async () => {
  const { ask } = await client()
  const headers = { 'accept-language': 'en' }
  for (const path of ['/api/v1/auth/settings', '/api/v1/auth/change-password']) {
    const answer = await ask(path, { method: 'POST', body: { authEnabled: false }, headers })
    const body = { error: 'managed_by_operator', message: expect.stringMatching(/API keys/) }
    expect([answer.status, await answer.json()]).toEqual([403, expect.objectContaining(body)])
  }
})

test('local mode needs no sign-in and says so', async () => {
  const at = (path: string, init: RequestInit = {}) => request(`http://localhost:8787${path}`, init, LOCAL)
  expect(await (await at('/api/v1/auth/status')).json()).toEqual({
    ...{ authEnabled: false, loggedIn: false, passwordSet: false, passwordChangeable: false },
    setupState: 'no_password',
  })
  const signIn = await at('/api/v1/auth/login', { method: 'POST', body: '{"password":"x"}' })
  expect([signIn.status, await signIn.json()]).toEqual([400, expect.objectContaining({ error: 'auth_disabled' })])
  const foreign = { headers: { origin: 'http://x.localhost:8787' } }
  expect((await at('/api/v1/auth/status', foreign)).status).toBe(403)
  expect((await at('/api/v1/auth/login', { method: 'POST', ...foreign })).status).toBe(403)
  const managed = await at('/api/v1/auth/settings', { method: 'POST', headers: { 'accept-language': 'en' } })
  expect(await managed.json()).toMatchObject({
    error: 'managed_by_operator',
    message: expect.stringMatching(/AUTH_MODE/),
  })
})

test('the setup asks for a stock and nothing else, and says what a model and channels would add', async () => {
  const { ask, json } = await client()
  const read = () =>
    json<{ checks: { key: string; status: string; message: string; next_step: string | null }[] }>(
      '/api/v1/system/config/setup/status',
      { headers: { 'accept-language': 'en' } },
    )
  const before = await read()
  expect(before).toMatchObject({
    ...{ is_complete: false, ready_for_smoke: false, next_step_key: 'stock_list' },
    required_missing_keys: ['stock_list'],
  })
  const statuses = ({ checks }: Awaited<ReturnType<typeof read>>) => checks.map(({ key, status }) => [key, status])
  expect(statuses(before)).toEqual([
    ['llm_primary', 'optional'],
    ['llm_agent', 'optional'],
    ['stock_list', 'needs_action'],
    ['notification', 'optional'],
    ['storage', 'configured'],
  ])
  for (const { message, next_step } of before.checks) {
    expect(`${message} ${next_step}`).not.toMatch(/reasoning|tool call|timeout|proxy|50[23]|undefined/i)
  }
  await ask('/api/v1/stocks/watchlist/add', { method: 'POST', body: { stock_code: '600519' } })
  await ask('/api/settings', { method: 'POST', body: { llm_model: 'openai/gpt-5', llm_api_key: 'sk-a' } })
  const settings = { url: 'https://ntfy.sh', topic: 'bellwether-test' }
  await ask('/api/v1/analysis/channels/phone', { method: 'PUT', body: { kind: 'ntfy', settings } })
  const after = await read()
  expect(after).toMatchObject({ is_complete: true, ready_for_smoke: true, next_step_key: null })
  expect(statuses(after).map(([, status]) => status)).toEqual([
    ...['configured', 'inherited', 'configured', 'configured', 'configured'],
  ])
  await ask('/api/settings', { method: 'POST', body: { llm_api_key: '' } })
  expect(await read()).toMatchObject({ is_complete: false, required_missing_keys: ['llm_primary'] })
  const chinese = await json('/api/v1/system/config/setup/status', { headers: { 'accept-language': 'zh-CN' } })
  expect(JSON.stringify(chinese)).toContain('主模型')
})

test('the scheduler is all schedules as one, and runs the watchlist now, once a minute', async () => {
  const { ask, json } = await client()
  const status = () => json('/api/v1/system/scheduler/status')
  const run = () => ask('/api/v1/system/scheduler/run-now', { method: 'POST' })
  expect(await status()).toEqual({
    ...{ enabled: false, running: false, schedule_times: [], next_run_at: null, last_run_at: null },
    ...{ last_success_at: null, last_error: null, last_skipped_at: null, last_skip_reason: null },
  })
  expect((await run()).status).toBe(400)
  await ask('/api/v1/stocks/watchlist/add', { method: 'POST', body: { stock_code: '600519' } })
  const what = { kind: 'analysis', stock_codes: ['600519'] }
  for (const times of [['18:00'], ['09:00', '18:00']]) {
    const when = { times, zone: 'Asia/Shanghai' }
    await ask('/api/v1/analysis/schedules', { method: 'POST', body: { name: 'evening', what, when } })
  }
  expect(await status()).toMatchObject({
    ...{ enabled: true, running: false, schedule_times: ['09:00', '18:00'] },
    next_run_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/),
  })
  const answers = await Promise.all([run(), run()])
  expect(await Promise.all(answers.map(async (one) => [one.status, await one.json()]))).toEqual([
    [200, { accepted: true, running: true }],
    [200, { accepted: true, running: true }],
  ])
  const { total } = await json<{ total: number }>('/api/v1/analysis/tasks')
  expect(total).toBe(1)
})

test('screening is off: the page is told so, and each of its calls is refused by name', async () => {
  const { ask, json } = await client()
  expect(await json('/api/v1/alphasift/status')).toMatchObject({ enabled: false, available: false })
  for (const path of ['strategies', 'screen/tasks/1', 'hotspots?top=12', 'hotspots/AI']) {
    const answer = await ask(`/api/v1/alphasift/${path}`)
    expect([path, answer.status, await answer.json()]).toMatchObject([path, 403, { error: 'alphasift_disabled' }])
  }
  const task = await ask('/api/v1/alphasift/screen/tasks', { method: 'POST', body: { market: 'cn' } })
  const install = await ask('/api/v1/alphasift/install', { method: 'POST' })
  expect([await task.json(), await install.json()]).toMatchObject([
    { error: 'alphasift_disabled' },
    { error: 'alphasift_install_access_denied' },
  ])
})
