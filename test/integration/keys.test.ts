import { expect, test } from 'vitest'
import { client, ROOT_KEY, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'

const admin = { 'x-session-api-key': ROOT_KEY }

const issue = (body: unknown, headers: Record<string, string> = admin) =>
  request('/api/keys', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('a key is shown once, works in both headers, is listed without its secret and dies when revoked', async () => {
  const response = await issue({ owner: 'ann', name: 'laptop', scopes: ['conversations'] })
  expect(response.status).toBe(201)
  const made = await response.json<Record<string, unknown>>()
  expect(Object.keys(made).sort()).toEqual(['created_at', 'expires_at', 'id', 'key', 'name', 'owner', 'scopes'])
  const key = String(made.key)

  expect((await request('/api/options/agents', { headers: { 'x-session-api-key': key } })).status).toBe(200)
  expect((await request('/api/options/agents', { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  expect((await request(`/api/options/agents?session_api_key=${key}`)).status).toBe(401)

  const { keys } = await (await request('/api/keys?limit=1000', { headers: admin })).json<{
    keys: Record<string, unknown>[]
  }>()
  const listed = keys.find(({ id }) => id === made.id)
  expect(listed).toEqual({ ...made, key: undefined })
  expect(JSON.stringify(keys)).not.toContain(key)

  expect((await request(`/api/keys/${made.id}`, { method: 'DELETE', headers: admin })).status).toBe(200)
  expect((await request('/api/options/agents', { headers: { 'x-session-api-key': key } })).status).toBe(401)
  expect((await request(`/api/keys/${made.id}`, { method: 'DELETE', headers: admin })).status).toBe(404)
})

test('a key without the admin scope cannot touch keys, and the root key is nobody in the families', async () => {
  const ann = await client({ scopes: ['conversations'] })
  expect((await ann.ask('/api/keys')).status).toBe(403)
  const wish = { owner: ann.owner, name: 'more', scopes: ['admin'] }
  expect((await ann.ask('/api/keys', { method: 'POST', body: wish })).status).toBe(403)
  expect((await ann.ask(`/api/keys/${ann.keyId}`, { method: 'DELETE' })).status).toBe(403)
  expect((await ann.ask('/api/v1/analysis/tasks')).status).toBe(403)
  expect((await request('/api/conversations', { headers: admin })).status).toBe(403)
})

test('an expired key is refused', async () => {
  const pass = movableClock()
  const soon = new Date(Date.now() + 60_000).toISOString()
  const ann = await client({ expires_at: soon })
  expect((await ann.ask('/api/options/agents')).status).toBe(200)
  pass(60_001)
  expect((await ann.ask('/api/options/agents')).status).toBe(401)
})

test('every fault of a key request is named at once', async () => {
  const response = await issue({ owner: 'a b', scopes: ['root'], expires_at: '2001-01-01T00:00:00Z' })
  expect(response.status).toBe(422)
  const { detail } = await response.json<{ detail: { type: string; loc: unknown[] }[] }>()
  expect(detail.map(({ type, loc }) => [type, loc.join('.')])).toEqual([
    ['string_pattern_mismatch', 'body.owner'],
    ['missing', 'body.name'],
    ['enum', 'body.scopes.0'],
  ])
  const past = await issue({ owner: 'ann', name: 'x', scopes: ['admin'], expires_at: '2001-01-01T00:00:00Z' })
  expect((await past.json<{ detail: unknown[] }>()).detail).toEqual([
    expect.objectContaining({ type: 'value_error', loc: ['body', 'expires_at'], ctx: { error: {} } }),
  ])
})

test('keys are listed page by page, newest first, without gaps', async () => {
  const owner = 'paged'
  for (let i = 0; i < 5; i++) await client({ owner })
  const seen: string[] = []
  let page: string | null = null
  do {
    const query: string = page === null ? '' : `&page_id=${page}`
    const answer: { keys: { id: string }[]; next_page_id: string | null } = await (
      await request(`/api/keys?owner=${owner}&limit=2${query}`, { headers: admin })
    ).json()
    seen.push(...answer.keys.map(({ id }) => id))
    page = answer.next_page_id
  } while (page !== null)
  expect(new Set(seen).size).toBe(5)
  expect((await request('/api/keys?page_id=nonsense', { headers: admin })).status).toBe(400)
})
