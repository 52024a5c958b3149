import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { client, ROOT_KEY, request } from '../helpers/app.ts'

type Document = { paths: Record<string, Record<string, { security?: unknown[] }>> }
const { paths } = await (await request('/openapi.json')).json<Document>()

type Call = { method: string; path: string; open: boolean }
const calls: Call[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { security }]) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/g, 'nobody'),
    open: security?.length === 0,
  })),
)
const SIGN_IN = /^\/api\/(session|v1\/auth\/(status|login))$/
const closed = calls.filter(({ open, path }) => !open && !SIGN_IN.test(path))

/** The 401 of each family, to the letter. */
function unauthorizedBody(path: string): unknown {
  if (path.startsWith('/api/v1/')) return { error: 'unauthorized', message: 'Unauthorized' }
  return path === '/api/settings' ? { error: 'Invalid token' } : { detail: 'Unauthorized' }
}

const LOCAL = { AUTH_MODE: 'local' }
const JSON_TYPE = { 'content-type': 'application/json' }

async function refusals(headers: Record<string, string>): Promise<void> {
  for (const { method, path } of closed) {
    const response = await request(path, { method, headers })
    const answer = { status: response.status, body: await response.json() }
    expect([method, path, answer]).toEqual([method, path, { status: 401, body: unauthorizedBody(path) }])
  }
}

const SOCKETS = ['/api/conversations/abc/ws', '/api/conversations/abc/terminal']
const RUNNER_SOCKET = /^\/api\/(runners\/socket|conversations\/[^/]+\/runner)$/

test('every documented call but the open ones answers 401 in its family envelope to whoever has no valid key', async () => {
  expect(closed.length).toBeGreaterThan(15)
  const revoked = await client()
  await request(`/api/keys/${revoked.keyId}`, { method: 'DELETE', headers: { 'x-session-api-key': ROOT_KEY } })
  const other = await client()
  const half = other.key.slice(0, -1)
  const worthless: Record<string, string>[] = [
    {},
    { 'x-session-api-key': `${half}${other.key.endsWith('A') ? 'B' : 'A'}` },
    { 'x-session-api-key': half },
    { 'x-session-api-key': `${ROOT_KEY}x` },
    { 'x-session-api-key': "' OR 1=1 --" },
    { 'x-session-api-key': revoked.key },
    { authorization: `Bearer ${revoked.key}` },
    { authorization: `Basic ${btoa(`user:${other.key}`)}` },
    { authorization: other.key },
    { 'x-session-api-key': 'bwc_e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    { cookie: `bellwether_session=${other.key}` },
    { cookie: 'bellwether_session=bws_e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
  ]
  for (const headers of worthless) await refusals(headers)
})

test('a valid key beside a worthless one does not help it, and a key in the query opens streams and sockets only', async () => {
  const { key } = await client()
  const wrongFirst = { 'x-session-api-key': 'wrong', authorization: `Bearer ${key}` }
  expect((await request('/api/options/agents', { headers: wrongFirst })).status).toBe(401)
  for (const { method, path } of closed.filter(({ path }) => !/\/(ws|terminal|tasks\/stream)$/.test(path))) {
    const response = await request(`${path}?session_api_key=${key}`, { method })
    expect([method, path, response.status]).toEqual([method, path, 401])
  }
  // What only looks like a socket is none, and a socket is opened by a GET.
  for (const [method, path] of [
    ['DELETE', '/api/secrets/ws'],
    ['GET', '/api/conversations/ws'],
    ['PUT', '/api/v1/analysis/schedules/ws'],
    ['GET', '/api/v1/history/ws'],
    ['GET', '/api/conversations/abc/security/ws'],
    ['GET', '/api/v1/analysis/status/tasks/stream'],
    ['POST', '/api/conversations/abc/ws'],
  ] as const) {
    const response = await request(`${path}?session_api_key=${key}`, { method })
    expect([method, path, response.status]).toEqual([method, path, 401])
  }
  expect((await request(`/api/conversations/abc/ws?session_api_key=${key}`)).status).toBe(426)
})

test('what is open is exactly the health of the service, its document and the sign-in', async () => {
  const answered: string[] = []
  for (const { method, path } of calls) {
    const { status } = await request(path, { method })
    if (status !== 401) answered.push(`${method} ${path} ${status}`)
  }
  expect(answered.sort()).toEqual([
    'DELETE /api/session 200',
    'GET /alive 200',
    'GET /api/health 200',
    'GET /api/v1/auth/status 200',
    'GET /api/v1/health 200',
    'GET /health 200',
    'POST /api/v1/auth/login 400',
    'POST /api/v1/auth/logout 204',
  ])
  expect((await request('/openapi.json')).status).toBe(200)
  expect(await (await request('/alive')).json()).toEqual({ status: 'ok' })
  expect(await (await request('/health')).json()).toBe('OK')
})

test('paths that nobody serves are closed without a key, 404 JSON with one, and never a page', async () => {
  const { ask } = await client()
  const unknown = ['/api', '/api/', '/api/nothing', '/api/options', '/api/options/agents/', '/api/v1/nothing', '/mcp/']
  for (const path of unknown) {
    const isAnalysis = path.startsWith('/api/v1/')
    const without = await request(path)
    expect([path, without.status, await without.json()]).toEqual([path, 401, unauthorizedBody(path)])
    const response = await ask(path)
    expect([path, response.status, await response.json()]).toEqual([
      path,
      404,
      isAnalysis ? { error: 'http_error', message: 'Not Found', detail: null } : { detail: 'Not Found' },
    ])
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  }
})

test('a wrong method on a path that is served is a 405 in the family envelope', async () => {
  const { ask } = await client()
  const wrong = [
    ['PUT', '/api/options/models', { detail: 'Method Not Allowed' }],
    ['POST', '/health', { detail: 'Method Not Allowed' }],
    ['DELETE', '/openapi.json', { detail: 'Method Not Allowed' }],
    ['PUT', '/api/conversations', { detail: 'Method Not Allowed' }],
    ['GET', '/mcp', { detail: 'Method Not Allowed' }],
    ['DELETE', '/mcp/mcp', { detail: 'Method Not Allowed' }],
    ['POST', '/api/conversations/abc/list-files', { detail: 'Method Not Allowed' }],
    ['POST', '/api/v1/health', { error: 'http_error', message: 'Method Not Allowed', detail: null }],
  ] as const
  for (const [method, path, body] of wrong) {
    const response = await ask(path, { method })
    expect([method, path, response.status, await response.json()]).toEqual([method, path, 405, body])
  }
})

test('a key opens the families of its scopes and answers 403 elsewhere', async () => {
  const chats = await client({ scopes: ['conversations'] })
  const stocks = await client({ scopes: ['analysis'] })
  for (const { method, path } of closed) {
    const family = path.startsWith('/api/v1/') ? 'analysis' : path.startsWith('/api/keys') ? 'admin' : 'conversations'
    if (path.startsWith('/api/options/') || ['/api/usage', '/api/setup'].includes(path)) continue
    if (method === 'GET' && path === '/api/budget') continue
    // Take both scopes, or that of an admin.
    if (path === '/api/owner' || path.startsWith('/api/export') || path === '/api/import') continue
    // Runners authenticate in their own way, and links and metrics by tokens that are no keys.
    if (RUNNER_SOCKET.test(path) || path.startsWith('/api/shared') || path === '/metrics') continue
    for (const [scope, { ask }] of [
      ['conversations', chats],
      ['analysis', stocks],
    ] as const) {
      if (scope === family) continue
      const response = await ask(path, { method })
      expect([scope, method, path, response.status]).toEqual([scope, method, path, 403])
      const message = `This key lacks the scope "${family}"`
      expect(await response.json()).toEqual(
        family === 'analysis' ? { error: 'forbidden', message } : { detail: message },
      )
    }
  }
  expect((await stocks.ask('/api/options/agents')).status).toBe(200)
})

test('every answer, errors included, is numbered, never cached and locked down', async () => {
  const { ask, key } = await client()
  const answers = [
    await ask('/api/options/agents'),
    await ask('/api/options/agents', { method: 'HEAD' }),
    await request('/health'),
    await request('/alive'),
    await request('/api/options/agents'),
    await ask('/api/nothing'),
    await ask('/api/v1/nothing'),
    await ask('/api/options/agents', { method: 'PUT' }),
    await ask('/api/conversations', { method: 'POST', body: { unknown: 1 } }),
    await ask('/api/keys'),
    await request('/api/options/agents', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
    }),
    await request('/api/conversations', {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-session-api-key': key },
      body: 'x'.repeat(9_000_000),
    }),
  ]
  const ids = new Set<string>()
  for (const { headers, status } of answers) {
    ids.add(headers.get('x-request-id') ?? '')
    expect([status, headers.get('x-content-type-options')]).toEqual([status, 'nosniff'])
    expect([status, headers.get('referrer-policy')]).toEqual([status, 'no-referrer'])
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('cache-control')).toBe('no-cache, no-store, must-revalidate, max-age=0')
    expect([headers.get('pragma'), headers.get('expires')]).toEqual(['no-cache', '0'])
  }
  // What anybody may have, and is the same until the next release, may be kept.
  const document = await request('/openapi.json')
  const again = await request('/openapi.json', { headers: { 'if-none-match': document.headers.get('etag') ?? '' } })
  expect([document, again].map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual([
    [200, 'no-cache'],
    [304, 'no-cache'],
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 401, 404, 404, 405, 422, 403, 403, 413])
  expect(ids.size).toBe(answers.length)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
})

test('a failure that nobody planned is an opaque 500 that carries the number of the request', async () => {
  const { key } = await client()
  const DB = {
    prepare: () => {
      throw new Error('the secret cause: table api_keys')
    },
  }
  for (const path of ['/api/conversations', '/api/v1/analysis/tasks']) {
    const broken = { DB } as unknown as Record<string, string>
    const response = await request(path, { headers: { 'x-session-api-key': key } }, broken)
    const id = response.headers.get('x-request-id')
    const text = await response.text()
    expect([path, response.status]).toEqual([path, 500])
    expect(text).toContain(String(id))
    expect(text).not.toContain('secret cause')
  }
})

const corsOf = ({ headers }: Response) => ({
  origin: headers.get('access-control-allow-origin'),
  credentials: headers.get('access-control-allow-credentials'),
})
const NOBODY = { origin: null, credentials: null }

test('in keys mode only configured origins are allowed, and none is by default', async () => {
  const { key } = await client()
  const headers = { 'x-session-api-key': key, origin: 'https://app.example.com' }
  const preflight = { ...headers, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'x-a' }
  const configured = { CORS_ORIGINS: 'https://app.example.com, https://two.example.com' }
  const allowed = { origin: 'https://app.example.com', credentials: 'true' }

  expect(corsOf(await request('/api/options/agents', { headers }))).toEqual(NOBODY)
  const local = { ...headers, origin: 'http://localhost:3000' }
  expect(corsOf(await request('/api/options/agents', { headers: local }, configured))).toEqual(NOBODY)
  const answer = await request('/api/options/agents', { headers }, configured)
  expect(corsOf(answer)).toEqual(allowed)
  expect(answer.headers.get('vary')).toContain('origin')
  // A refusal must be readable too, or the page cannot tell why it failed.
  expect(corsOf(await request('/api/options/agents', { headers: { origin: headers.origin } }, configured))).toEqual(
    allowed,
  )

  expect((await request('/api/conversations', { method: 'OPTIONS', headers: preflight })).status).toBe(403)
  const before = await request('/api/conversations', { method: 'OPTIONS', headers: preflight }, configured)
  expect([before.status, corsOf(before)]).toEqual([204, allowed])
  expect(before.headers.get('access-control-allow-methods')).toContain('PATCH')
  expect(before.headers.get('access-control-allow-headers')).toBe('x-a')
})

const here = 'http://127.0.0.1:8787'
const countOfKeys = async () => (await env.DB.prepare('SELECT count(*) AS n FROM api_keys').first<{ n: number }>())?.n

test('local mode serves its one owner on loopback, to its own pages and to programs without an origin', async () => {
  for (const base of [here, 'http://localhost:8787', 'http://[::1]:8787']) {
    const response = await request(`${base}/api/session`, {}, LOCAL)
    expect([base, response.status]).toEqual([base, 200])
    expect(await response.json()).toMatchObject({ owner: 'local', auth_mode: 'local' })
  }
  const configured = { ...LOCAL, CORS_ORIGINS: 'http://localhost:5173,https://app.example.com' }
  const own = [here, 'http://localhost:8787', 'http://[::1]:8787'].map((origin) => [origin, LOCAL] as const)
  const listed = ['http://localhost:5173', 'https://app.example.com'].map((origin) => [origin, configured] as const)
  for (const [origin, env] of [...own, ...listed]) {
    const response = await request(`${here}/api/options/agents`, { headers: { origin } }, env)
    expect([origin, response.status, corsOf(response)]).toEqual([origin, 200, { origin, credentials: 'true' }])
  }
})

test('in local mode a foreign page or a foreign host name is refused everywhere, and nothing is changed', async () => {
  const body = JSON.stringify({ owner: 'mallory', name: 'x', scopes: ['admin'] })
  const before = await countOfKeys()
  const foreign: [base: string, headers: Record<string, string>][] = [
    ...[
      'https://evil.example',
      'null',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
      'file://',
      // Pages of this machine that an agent may have written.
      'http://localhost:5173',
      'http://127.0.0.1:1',
      'https://localhost',
      'http://app.localhost:8787',
      'http://localhost:87870',
    ].map((origin): [string, Record<string, string>] => [here, { origin }]),
    [here, { host: 'evil.example' }],
    [here, { host: 'evil.example:8787' }],
    ['http://evil.example:8787', {}],
    ['http://192.168.1.5:8787', {}],
    ['http://console.localhost:8787', {}],
    [here, { host: 'console.localhost:8787' }],
    ['http://rebound.evil.example', { origin: 'http://rebound.evil.example' }],
  ]
  for (const [base, headers] of foreign) {
    const response = await request(
      `${base}/api/keys`,
      { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body },
      LOCAL,
    )
    expect([base, headers, response.status, corsOf(response)]).toEqual([base, headers, 403, NOBODY])
    for (const { method, path } of calls.filter(({ open, path }) => !open || path === '/api/v1/auth/logout')) {
      const { status } = await request(`${base}${path}`, { method, headers }, LOCAL)
      expect([method, path, base, headers, status]).toEqual([method, path, base, headers, 403])
    }
  }
  expect(await countOfKeys()).toBe(before)
  const named = await request(`${here}/api/options/agents`, { headers: { origin: 'http://app.localhost:8787' } }, LOCAL)
  expect(JSON.stringify(await named.json())).toContain('CORS_ORIGINS')
  const socket = { upgrade: 'websocket', origin: 'http://app.localhost:8787' }
  for (const path of [...SOCKETS, '/socket.io/?EIO=4&transport=websocket&conversation_id=abc']) {
    expect([path, (await request(`${here}${path}`, { headers: socket }, LOCAL)).status]).toEqual([path, 403])
  }
  const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  expect((await request(`${here}/api/keys`, { method: 'OPTIONS', headers: preflight }, LOCAL)).status).toBe(403)
})
