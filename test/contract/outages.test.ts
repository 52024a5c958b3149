// What the document promises holds as well when the installation is not as it should be: with another SECRETS_KEY than
// what is stored was sealed under, with none, and with a database that lacks its tables.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { storeTokens } from '../../src/db/provider-tokens.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { undeclared } from '../helpers/declared.ts'

type Media = { example?: unknown }
type Operation = {
  parameters?: { name: string; in: string; required?: boolean; example?: unknown }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, unknown>
}
type Document = { paths: Record<string, Record<string, Operation>> }

const { paths } = await (await request('/openapi.json')).json<Document>()
const calls = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
)

// The queue is everybody's: what these two would put into it would run on in other tests.
const QUEUING = new Set(['POST /api/v1/analysis/analyze', 'POST /api/v1/analysis/market-review'])

/** Every documented call once, with its examples, of a Worker with other bindings; what is not declared fails the test. */
async function walk(
  by: Client,
  id: string,
  bindings: Record<string, unknown>,
): Promise<Map<string, { status: number; text: string }>> {
  const answers = new Map<string, { status: number; text: string }>()
  // The helper takes texts; a binding passes through it just as well.
  const vars = { KEY_CACHE_SECONDS: '3600', ...bindings } as Record<string, string>
  // What takes the conversation and its owner's things away comes last.
  const isLast = ({ method, path }: (typeof calls)[number]) => Number(method === 'DELETE' || path.includes('/unset-'))
  const ordered = [...calls].sort((a, b) => isLast(a) - isLast(b))
  for (const { method, path, parameters = [], requestBody } of ordered) {
    if (QUEUING.has(`${method} ${path}`) || path === '/api/session' || path.endsWith('/stream') || path.endsWith('/ws'))
      continue
    const query = new URLSearchParams(
      parameters.flatMap(({ name, in: place, required, example }) =>
        place === 'query' && required === true ? [[name, String(example ?? 'a')]] : [],
      ),
    )
    const url = path.replace('{conversation_id}', id).replace(/\{\w+\}/g, 'nobody')
    const example = method === 'GET' ? undefined : requestBody?.content['application/json']?.example
    const init = {
      method,
      headers: {
        'x-session-api-key': by.key,
        ...(example === undefined ? {} : { 'content-type': 'application/json' }),
      },
    }
    const body = example === undefined ? {} : { body: JSON.stringify(example) }
    const response = await request(`${url}?${query}`, { ...init, ...body }, vars)
    expect(await undeclared(new Request(`http://x${url}`, { method }), response)).toEqual([])
    answers.set(`${method} ${path}`, { status: response.status, text: await response.text() })
  }
  return answers
}

/** What goes wrong in the walk although nothing is wrong with the installation. */
const OTHERWISE = /No such file|Not a git repository|could not be checked|No source answered|No picture is made/

const everyScope = () => client({ scopes: ['conversations', 'analysis'] })
const OTHER_KEY = { SECRETS_KEY: btoa('another key of thirty-two bytes!') }

/** The same client, asking a Worker with other variables. */
function under(vars: Record<string, string>, { key }: Client) {
  const ask = (path: string, { method = 'GET', body }: { method?: string; body?: unknown } = {}) => {
    const headers = { 'x-session-api-key': key, host: 'localhost', 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return request(`http://localhost${path}`, init, vars)
  }
  return { ask, json: async (path: string): Promise<unknown> => (await ask(path)).json() }
}

const serverErrors = (answers: Awaited<ReturnType<typeof walk>>) =>
  [...answers].filter(([, { status }]) => status >= 500).map(([call, { status }]) => `${status} ${call}`)

async function withSealedThings(): Promise<Client> {
  const ann = await everyScope()
  const changes = [{ provider: 'github', token: 'ghp_1', host: null, userId: null }]
  await storeTokens(env, { owner: ann.owner, actor: 'test', changes })
  const settings = { llm_model: 'openai/gpt-5', llm_api_key: 'sk-1', agent: 'ShellAgent' }
  expect((await ann.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  expect((await ann.ask('/api/secrets', { method: 'POST', body: { name: 'TOKEN', value: 'v' } })).status).toBe(201)
  const channel = {
    kind: 'telegram',
    settings: { bot_token: '123:abcdefghijklmnopqrstuvwxyz0123456789', chat_id: '1' },
  }
  const put = await ann.ask('/api/v1/analysis/channels/phone', { method: 'PUT', body: channel })
  expect([put.status, await put.text()]).toEqual([200, expect.any(String)])
  const made = {
    conversation_id: 'sealed',
    mcp_config: { shttp_servers: [{ url: 'https://t.example.com', api_key: 'k' }] },
  }
  expect((await ann.ask('/api/conversations', { method: 'POST', body: made })).status).toBe(200)
  return ann
}

test('with another SECRETS_KEY every call answers as declared, names the variable, and lets the owner save anew', async () => {
  const ann = under(OTHER_KEY, await withSealedThings())
  const repository = { method: 'POST', body: { repository: 'octocat/hello-world' } }
  for (const [path, init, status] of [
    ['/api/settings', {}, 500],
    ['/api/user/info', {}, 503],
    ['/api/user/repository/a%2Fb/microagents', {}, 503],
    ['/api/conversations', repository, 503],
  ] as const) {
    const response = await ann.ask(path, init)
    expect([path, response.status, await response.text()]).toEqual([
      path,
      status,
      expect.stringContaining('SECRETS_KEY'),
    ])
  }
  // Nothing of it stands in the owner's way: each is stored anew in the ordinary way, and can be read again.
  const secret = { name: 'TOKEN', value: 'w', description: 'again' }
  expect((await ann.ask('/api/secrets', { method: 'POST', body: secret })).status).toBe(201)
  expect((await ann.ask('/api/secrets', { method: 'POST', body: secret })).status).toBe(400)
  expect(await ann.json('/api/secrets')).toEqual({ custom_secrets: [{ name: 'TOKEN', description: 'again' }] })
  const renamed = { method: 'PUT', body: { name: 'OTHER' } }
  expect((await ann.ask('/api/secrets/TOKEN', renamed)).status).toBe(200)
  expect((await ann.ask('/api/settings', { method: 'POST', body: { llm_api_key: 'sk-2' } })).status).toBe(200)
  expect(await ann.json('/api/settings')).toMatchObject({ llm_model: 'openai/gpt-5', llm_api_key_set: true })
  expect((await ann.ask('/api/unset-provider-tokens', { method: 'POST' })).status).toBe(200)
  expect((await ann.ask('/api/user/info')).status).toBe(401)
})

test('with another SECRETS_KEY no documented call gives a 5xx but where it has to open what is sealed', async () => {
  const ann = await withSealedThings()
  const answers = await walk(ann, 'sealed', OTHER_KEY)
  for (const [call, { status, text }] of answers) {
    if (status < 500 || OTHERWISE.test(text)) continue
    expect([call, text]).toEqual([call, expect.stringContaining('SECRETS_KEY')])
  }
  expect(serverErrors(answers)).toContain('503 GET /api/user/repositories')
})

test('without its tables every call that needs the database says which command makes them', async () => {
  const ann = await everyScope()
  await ann.ask('/api/conversations', { method: 'POST', body: { conversation_id: 'there' } })
  const known = { headers: { 'x-session-api-key': ann.key } }
  expect((await request('/api/options/agents', known, { KEY_CACHE_SECONDS: '3600' })).status).toBe(200)
  const words = 'D1_ERROR: no such table: anything: SQLITE_ERROR'
  const fail = () => Promise.reject(new Error(words))
  const statement: object = { bind: () => statement, first: fail, all: fail, run: fail, raw: fail }
  const answers = await walk(ann, 'there', { DB: { prepare: () => statement, batch: fail } })
  const broken = [...answers].filter(([, { status }]) => status >= 500)
  expect(broken.length).toBeGreaterThan(20)
  const mute = broken.filter(
    ([, { text }]) => !OTHERWISE.test(text) && !/d1 migrations apply|Failed to submit feedback/.test(text),
  )
  expect(mute).toEqual([])
})

test('without a SECRETS_KEY what would be sealed is refused with a sentence that names it', async () => {
  const ann = under({ SECRETS_KEY: '', AUTH_MODE: 'local' }, await everyScope())
  const channel = {
    kind: 'telegram',
    settings: { bot_token: '123:abcdefghijklmnopqrstuvwxyz0123456789', chat_id: '1' },
  }
  const given = { mcp_config: { shttp_servers: [{ url: 'https://t.example.com', api_key: 'k' }] } }
  for (const [method, path, body, status] of [
    ['POST', '/api/secrets', { name: 'A', value: 'v' }, 500],
    ['POST', '/api/settings', { llm_api_key: 'sk-1' }, 500],
    ['PUT', '/api/v1/analysis/channels/phone', channel, 503],
    ['POST', '/api/conversations', given, 503],
  ] as const) {
    const response = await ann.ask(path, { method, body })
    expect([path, response.status, await response.text()]).toEqual([
      path,
      status,
      expect.stringContaining('SECRETS_KEY'),
    ])
  }
})
