// What Prometheus reads, who may, and what a line of the log and an answer call a request.

import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tellRunners } from '../../src/db/metrics.ts'
import { setLogLevel } from '../../src/lib/log.ts'
import { setCounting } from '../../src/lib/metrics.ts'
import { client, ROOT_KEY, request } from '../helpers/app.ts'

const TOKEN = 'a-token-for-who-scrapes-0123456789'
const VARS = { METRICS_TOKEN: TOKEN }

const scrape = (token: string | null, vars: Record<string, string> = VARS) =>
  request('/metrics', token === null ? {} : { headers: { authorization: `Bearer ${token}` } }, vars)

/** The samples of an answer. */
async function samples(): Promise<Map<string, number>> {
  const answer = await scrape(TOKEN)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line))]))
}

test('metrics are shown to who has the operator’s token and to nobody else, whatever other key they have', async () => {
  onTestFinished(() => setCounting(false))
  expect((await scrape(TOKEN, {})).status).toBe(401)
  expect((await scrape(null)).status).toBe(401)
  expect((await scrape(`${TOKEN}x`)).status).toBe(401)
  expect((await scrape(ROOT_KEY)).status).toBe(403)
  const { key } = await client({ scopes: ['admin'] })
  expect((await scrape(key)).status).toBe(403)
  expect((await scrape(TOKEN)).status).toBe(200)
})

test('requests are counted by class, method and status, and what is open now is told beside', async () => {
  onTestFinished(() => setCounting(false))
  const { key } = await client()
  const before = await samples()
  const ask = (path: string, method = 'GET') => request(path, { method, headers: { 'x-session-api-key': key } }, VARS)
  await ask('/api/options/models')
  await ask('/api/options/models')
  await ask('/api/nothing')
  await request('/api/options/models', {}, VARS)
  await ask('/api/nothing', 'PROPFIND')
  const after = await samples()
  const grown = (labels: string) => {
    const series = `bellwether_http_requests_total{${labels}}`
    return (after.get(series) ?? 0) - (before.get(series) ?? 0)
  }
  expect(grown('class="reads",method="GET",status="200"')).toBe(2)
  expect(grown('class="reads",method="GET",status="404"')).toBe(1)
  expect(grown('class="reads",method="GET",status="401"')).toBe(1)
  expect(grown('class="writes",method="other",status="404"')).toBe(1)
  const took = (part: string) => {
    const series = `bellwether_http_request_duration_seconds_${part}`
    return (after.get(series) ?? 0) - (before.get(series) ?? 0)
  }
  expect([took('count{class="reads"}'), took('bucket{class="reads",le="+Inf"}')]).toEqual([4, 4])
  expect(took('sum{class="reads"}')).toBeGreaterThanOrEqual(0)
  for (const gauge of [
    'tasks_waiting',
    'tasks_running',
    'task_oldest_wait_seconds',
    'sockets_open',
    'runners_connected',
  ])
    expect([gauge, after.get(`bellwether_${gauge}`)]).toEqual([gauge, expect.any(Number)])
})

test('open sockets and connected runners are summed up from what their objects told', async () => {
  onTestFinished(() => setCounting(false))
  const before = await samples()
  const owner = `metrics-${crypto.randomUUID()}`
  await tellRunners(env.DB, owner, 1)
  await tellRunners(env.DB, owner, 3)
  await tellRunners(env.DB, `${owner}-other`, 4)
  await tellRunners(env.DB, `${owner}-other`, 0)
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO conversations (owner, id, revision, created_at, title, status, num_connections, pr_number)
       VALUES (?, 'c', 1, '2026-01-01T00:00:00Z', '', 'RUNNING', 2, '[]')`,
    ).bind(owner),
  ])
  const after = await samples()
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  expect(grown('bellwether_runners_connected')).toBe(3)
  expect(grown('bellwether_sockets_open')).toBe(2)
  await env.DB.batch([
    env.DB.prepare('DELETE FROM connected_runners WHERE owner_object = ?').bind(owner),
    env.DB.prepare('DELETE FROM conversations WHERE owner = ?').bind(owner),
  ])
})

test('a request keeps the name that its client gave it, in the answer and in the log, unless that could do harm', async () => {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  onTestFinished(() => {
    spy.mockRestore()
    setLogLevel('silent')
  })
  const named = async (id: string) => {
    const answer = await request('/api/keys', { headers: { 'x-request-id': id } }, { LOG_LEVEL: 'debug' })
    return answer.headers.get('x-request-id')
  }
  expect(await named('proxy-7:abc.d_e')).toBe('proxy-7:abc.d_e')
  const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
  for (const harmful of ['', 'a b', 'a"b', '<b>', 'x'.repeat(129)]) expect(await named(harmful)).toMatch(uuid)
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(told).toContainEqual(
    expect.objectContaining({ event: 'http.answered', requestId: 'proxy-7:abc.d_e', status: 401, path: '/api/keys' }),
  )
  expect(told.every(({ time, requestId }) => typeof time === 'string' && typeof requestId === 'string')).toBe(true)
})
