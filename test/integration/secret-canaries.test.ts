// Whatever an owner gives for safe keeping must not come out by any answer, line of the log or row of the database.

import { env } from 'cloudflare:workers'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { setLogLevel } from '../../src/lib/log.ts'
import { inState, startAgent } from '../helpers/agent.ts'
import { client, request } from '../helpers/app.ts'

const CANARY = 'canary-d6f0a4'

const KEYS = ['llm_api_key', 'search_api_key', 'sandbox_api_key'] as const
const TABLES = ['settings', 'secrets', 'provider_tokens', 'audit_log'] as const

/** Bodies that are right, and every way to be wrong around a secret. */
const SETTINGS = [
  Object.fromEntries(KEYS.map((key) => [key, CANARY])),
  ...KEYS.flatMap((key) => [{ [key]: [CANARY] }, { [key]: { [CANARY]: CANARY } }, { [key]: `${CANARY}\u0001` }]),
  { language: 5, llm_api_key: CANARY },
  { mcp_config: { stdio_servers: [{ name: 'x y', command: 'npx', env: { TOKEN: CANARY }, args: [CANARY] }] } },
  { mcp_config: { sse_servers: [{ url: `ftp://user:${CANARY}@a`, api_key: CANARY }] } },
]
const SECRETS = [
  { name: 'A', value: CANARY },
  { name: 'A', value: CANARY },
  { name: '', value: CANARY },
  { value: CANARY },
  { name: 'B', value: [CANARY] },
  { name: 'B', description: 5, value: CANARY },
]
const TOKENS = [
  { provider_tokens: { github: { token: CANARY } } },
  { provider_tokens: { github: CANARY, gitlab: { token: [CANARY] } } },
  { provider_tokens: CANARY },
  { provider_tokens: { gitlab: { token: CANARY, host: 'a b' } } },
]

test('no answer, log line or row holds a secret, whatever is right or wrong around it', async () => {
  const ann = await client()
  const lines: string[] = []
  const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  const out: string[] = []
  const send = async (method: string, path: string, text: string | null = null, type = 'application/json') => {
    const headers = { 'x-session-api-key': ann.key, 'content-type': type }
    const vars = {
      LOG_LEVEL: 'debug',
      GITHUB_API_URL: `http://${inject('providerHost')}/down`,
      FETCH_TIMEOUT_SECONDS: '30',
    }
    const response = await request(path, { method, headers, ...(text === null ? {} : { body: text }) }, vars)
    out.push(`${method} ${path} ${JSON.stringify([...response.headers])} ${await response.text()}`)
    return response.status
  }
  const calls = [
    ['/api/settings', SETTINGS],
    ['/api/secrets', SECRETS],
    ['/api/add-git-providers', TOKENS],
  ] as const
  const seen = new Set<number>()
  for (const [path, bodies] of calls) {
    for (const body of bodies) {
      const text = JSON.stringify(body)
      seen.add(await send('POST', path, text))
      for (const broken of [`[${text}]`, `${text}x`, JSON.stringify(text)]) seen.add(await send('POST', path, broken))
      seen.add(await send('POST', path, text, 'text/plain'))
    }
  }
  await env.DB.prepare("UPDATE settings SET value = value || 'A' WHERE owner = ? AND field = 'llmApiKey'")
    .bind(ann.owner)
    .run()
  for (const path of ['/api/settings', '/api/secrets', '/api/audit']) seen.add(await send('GET', path))
  spy.mockRestore()
  setLogLevel('silent')

  expect([...seen].sort()).toEqual([200, 201, 400, 422, 500, 502])
  expect(lines.some((line) => line.includes('seal.unreadable'))).toBe(true)
  expect([...out, ...lines].filter((text) => text.includes(CANARY))).toEqual([])
  for (const table of TABLES) {
    const { results } = await env.DB.prepare(`SELECT * FROM ${table} WHERE owner = ?`).bind(ann.owner).all()
    expect([table, JSON.stringify(results).includes(CANARY)]).toEqual([table, false])
  }
})

test('no line of the log shows a key that a model server repeats, in whichever way a question of an agent or an analysis fails', async () => {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  onTestFinished(() => {
    spy.mockRestore()
    setLogLevel('silent')
  })
  setLogLevel('debug')
  // Of no known form: only who holds it can know it.
  const key = `${CANARY}-Wq7-own-form`
  const said = `Incorrect API key provided: ${key}. Asked for https://ann:${key}@models.example/v1?api_key=${key}`
  const chat = await startAgent({
    replies: [
      { status: 500, body: { error: { message: said } } },
      { status: 401, body: { error: { message: said } } },
    ],
    settings: { llm_api_key: key },
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'error')
  const vars = { LOG_LEVEL: 'debug' }
  const headers = { 'x-session-api-key': chat.owner.key, 'content-type': 'application/json' }
  const body = JSON.stringify({ stock_code: '600519' })
  const analysis = await request('/api/v1/analysis/analyze', { method: 'POST', headers, body }, vars)
  expect(analysis.status).toBe(200)
  const told = lines.map((line) => JSON.parse(line) as { time: string; event: string })
  expect(told.map(({ event }) => event)).toContain('analysis.model_failed')
  expect(told.filter(({ time }) => Number.isNaN(Date.parse(time)))).toEqual([])
  expect(lines.filter((line) => line.includes(CANARY))).toEqual([])
})
