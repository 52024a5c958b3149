import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { recordAudit } from '../../src/db/audit.ts'
import { type Client, client, ROOT_KEY, request } from '../helpers/app.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const CANARY = 'canary-91ab'

type Entry = { id: number; at: string; actor: string; action: string; subject: string | null; fields: string[] }
type Page = { records: Entry[]; next_page_id: string | null }

const pageOf = (by: Client, query = '') => by.json<Page>(`/api/audit${query}`)

test('what changes an account is recorded with who did it, newest first, and never with a value', async () => {
  const ann = await client()
  const post = (path: string, body?: unknown) =>
    ann.ask(path, { method: 'POST', ...(body === undefined ? {} : { body }) })
  await post('/api/settings', { llm_api_key: CANARY, language: 'en', unknown: CANARY })
  await post('/api/secrets', { name: 'TOKEN', value: CANARY, description: CANARY })
  await ann.ask('/api/secrets/TOKEN', { method: 'PUT', body: { name: 'RENAMED' } })
  await ann.ask('/api/secrets/RENAMED', { method: 'DELETE' })
  const headers = { 'x-session-api-key': ann.key, 'content-type': 'application/json' }
  const body = JSON.stringify({ provider_tokens: { github: { token: GOOD_TOKENS.github } } })
  const vars = { GITHUB_API_URL: `http://${inject('providerHost')}/github` }
  expect((await request('/api/add-git-providers', { method: 'POST', headers, body }, vars)).status).toBe(200)
  await post('/api/unset-provider-tokens')
  const { conversation_id: id } = await ann.json('/api/conversations', { method: 'POST', body: {} })
  await ann.ask(`/api/conversations/${id}`, { method: 'DELETE' })

  // What changes nothing leaves no trace.
  await post('/api/unset-provider-tokens')
  await post('/api/secrets', { name: 'bad name', value: CANARY })
  await ann.ask('/api/secrets/NEVER', { method: 'DELETE' })
  await ann.ask(`/api/conversations/${id}`, { method: 'DELETE' })

  const { records, next_page_id } = await pageOf(ann)
  const by = ann.keyId
  expect(records.map(({ id: _, at: __, ...rest }) => rest)).toEqual([
    { actor: by, action: 'conversation.deleted', subject: id, fields: [] },
    { actor: by, action: 'provider_tokens.unset', subject: null, fields: [] },
    { actor: by, action: 'provider_token.stored', subject: 'github', fields: [] },
    { actor: by, action: 'secret.deleted', subject: 'RENAMED', fields: [] },
    { actor: by, action: 'secret.changed', subject: 'RENAMED', fields: [] },
    { actor: by, action: 'secret.created', subject: 'TOKEN', fields: [] },
    { actor: by, action: 'settings.changed', subject: null, fields: ['language', 'llm_api_key'] },
    { actor: 'root', action: 'key.issued', subject: by, fields: [] },
  ])
  expect(next_page_id).toBe(null)
  expect(records.every(({ at }) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at))).toBe(true)
  expect(JSON.stringify(records)).not.toContain(CANARY)

  const other = await client({ owner: ann.owner })
  await request(`/api/keys/${by}`, { method: 'DELETE', headers: { 'x-session-api-key': ROOT_KEY } })
  expect((await pageOf(other)).records.slice(0, 2)).toMatchObject([
    { actor: 'root', action: 'key.revoked', subject: by },
    { actor: 'root', action: 'key.issued', subject: other.keyId },
  ])
  expect((await pageOf(await client())).records).toHaveLength(1)
})

test('the log is read page by page without gaps while it grows, and its limits are checked', async () => {
  const ann = await client()
  const write = (n: number) =>
    recordAudit(env.DB, { owner: ann.owner, actor: 'local', action: 'secret.created', subject: `S${n}` })
  for (let n = 0; n < 6; n++) await write(n)
  const first = await pageOf(ann, '?limit=3')
  await write(6)
  const second = await pageOf(ann, `?limit=3&page_id=${first.next_page_id}`)
  const third = await pageOf(ann, `?limit=3&page_id=${second.next_page_id}`)
  const subjects = [first, second, third].flatMap(({ records }) => records.map(({ subject }) => subject))
  expect(subjects).toEqual(['S5', 'S4', 'S3', 'S2', 'S1', 'S0', ann.keyId])
  expect(third.next_page_id).toBe(null)
  for (const query of ['?limit=0', '?limit=1001', '?limit=x']) {
    expect([query, (await ann.ask(`/api/audit${query}`)).status]).toEqual([query, 422])
  }
  const bad = await ann.ask('/api/audit?page_id=nonsense')
  expect([bad.status, await bad.json()]).toEqual([400, { detail: 'Invalid page_id' }])
})

test('an owner keeps the newest ten thousand records, and nobody else loses one', async () => {
  const [ann, bob] = [await client(), await client()]
  const fill = (owner: string, count: number) =>
    env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
       INSERT INTO audit_log (owner, at, actor, action, subject, fields)
       SELECT ?1, '', 'local', 'secret.created', 'S' || i, '[]' FROM n`,
    )
      .bind(owner, count)
      .run()
  await fill(bob.owner, 20)
  await fill(ann.owner, 10_300)
  const count = async (owner: string) =>
    env.DB.prepare('SELECT count(*) AS n FROM audit_log WHERE owner = ?').bind(owner).first<number>('n')
  expect(await count(ann.owner)).toBeLessThan(10_100)
  expect(await count(ann.owner)).toBeGreaterThanOrEqual(10_000)
  expect(await count(bob.owner)).toBe(21)
  expect((await pageOf(ann, '?limit=1')).records[0]?.subject).toBe('S10300')
})
