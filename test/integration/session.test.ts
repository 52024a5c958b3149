// The console's sign-in: a key in exchange for a cookie.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { client, ROOT_KEY, request } from '../helpers/app.ts'

const SOCKETS = ['/api/conversations/abc/ws', '/api/conversations/abc/terminal']
const JSON_TYPE = { 'content-type': 'application/json' }

const signIn = (key: unknown, headers: Record<string, string> = {}) =>
  request('/api/session', { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify({ key }) })

test('the sign-in gives a cookie that scripts cannot read, and its holder changes things only from the same origin', async () => {
  const ann = await client()
  const response = await signIn(ann.key, { origin: 'http://bellwether.test' })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ owner: ann.owner, auth_mode: 'keys' })
  const cookie = response.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^bellwether_session=bws_[\w-]+\.[\w-]+; /)
  expect(cookie.toLowerCase()).toContain('httponly')
  expect(cookie).toContain('SameSite=Strict')
  expect(cookie).toContain('Path=/')
  expect(cookie).not.toContain(ann.key)
  const secure = await request('https://bellwether.test/api/session', {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ key: ann.key }),
  })
  const host = secure.headers.get('set-cookie') ?? ''
  expect(host).toMatch(/^__Host-bellwether_session=bws_/)
  for (const word of ['Secure', 'Path=/', 'HttpOnly', 'SameSite=Strict']) expect(host).toContain(word)
  expect(host).not.toContain('Domain')
  const [pair = ''] = host.split(';')
  const overTls = async (sent: string) =>
    (await request('https://bellwether.test/api/options/agents', { headers: { cookie: sent } })).status
  expect(await overTls(pair)).toBe(200)
  // Any host of the same domain can set a cookie of the plain name.
  expect(await overTls(pair.replace('__Host-', ''))).toBe(401)

  const holder = { cookie: cookie.split(';')[0] ?? '' }
  expect(await (await request('/api/session', { headers: holder })).json()).toMatchObject({ owner: ann.owner })
  expect((await request('/api/options/agents', { headers: holder })).status).toBe(200)
  const create = (headers: Record<string, string>) =>
    request('/api/conversations', { method: 'POST', headers: { ...JSON_TYPE, ...holder, ...headers }, body: '{"x":1}' })
  for (const origin of ['https://evil.example', 'null', 'http://bellwether.test:81', 'https://bellwether.test']) {
    expect([origin, (await create({ origin })).status]).toEqual([origin, 403])
  }
  expect((await create({})).status).toBe(403)
  // A socket sends events, so opening one is a change.
  const socket = { ...holder, upgrade: 'websocket', origin: 'https://evil.example' }
  for (const path of SOCKETS) expect((await request(path, { headers: socket })).status).toBe(403)
  // The same call from the page itself gets as far as its own body, which is wrong.
  expect((await create({ origin: 'http://bellwether.test' })).status).toBe(422)

  await request(`/api/keys/${ann.keyId}`, { method: 'DELETE', headers: { 'x-session-api-key': ROOT_KEY } })
  expect((await request('/api/session', { headers: holder })).status).toBe(401)
})

test('the sign-in answers 401 to every body without a valid key and 403 to another origin, and never sets a cookie then', async () => {
  const { key } = await client()
  for (const body of [
    '',
    '{',
    '{}',
    '[]',
    'null',
    '{"key":null}',
    '{"key":1}',
    '{"key":""}',
    '{"key":"bw_x"}',
    '\u0000',
  ]) {
    const response = await request('/api/session', { method: 'POST', headers: JSON_TYPE, body })
    expect([body, response.status, await response.json()]).toEqual([body, 401, { detail: 'Unauthorized' }])
    expect(response.headers.get('set-cookie')).toBe(null)
  }
  expect((await signIn(ROOT_KEY)).status).toBe(401)
  const foreign = await signIn(key, { origin: 'https://evil.example' })
  expect([foreign.status, foreign.headers.get('set-cookie')]).toEqual([403, null])
  const out = await request('/api/session', { method: 'DELETE', headers: { origin: 'http://bellwether.test' } })
  expect([out.status, out.headers.get('set-cookie')?.startsWith('bellwether_session=;')]).toEqual([200, true])
})

test('signing out ends the sign-in for every copy of its cookie, and leaves other sign-ins by the same key alone', async () => {
  const ann = await client()
  const cookieOf = async () => (await signIn(ann.key)).headers.get('set-cookie')?.split(';')[0] ?? ''
  const [here, there] = [await cookieOf(), await cookieOf()]
  expect(here).not.toBe(there)
  // As it is in production: an isolate asks the database once in a while, not with every request.
  const cached = { KEY_CACHE_SECONDS: '3600' }
  const stateOf = async (cookie: string) => (await request('/api/session', { headers: { cookie } }, cached)).status
  expect([await stateOf(here), await stateOf(there)]).toEqual([200, 200])
  const signOut = (cookie: string) => request('/api/session', { method: 'DELETE', headers: { cookie } }, cached)
  expect((await signOut(here)).status).toBe(200)
  expect([await stateOf(here), await stateOf(there)]).toEqual([401, 200])
  const socket = { cookie: here, upgrade: 'websocket', origin: 'http://bellwether.test' }
  expect((await request('/api/conversations/abc/ws', { headers: socket }, cached)).status).toBe(401)
  // Once more, or with a cookie that somebody made up, it ends nothing else.
  for (const cookie of [here, `${there.slice(0, -2)}xx`]) expect((await signOut(cookie)).status).toBe(200)
  expect(await stateOf(there)).toBe(200)
  const { results } = await env.DB.prepare('SELECT session_id FROM ended_sessions WHERE key_id = ?')
    .bind(ann.keyId)
    .all()
  expect(results.length).toBe(1)
})
