import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { SecretMasker } from '../../durable-objects/conversation/turn/secret-masker.ts'
import { conversation } from '../../src/bindings.ts'
import { agentConfig } from '../../src/db/agent-config.ts'
import { MAX_SECRETS } from '../../src/db/secrets.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

const CANARY = 'hush-canary-7c1e'

const add = (by: Client, body: unknown) => by.ask('/api/secrets', { method: 'POST', body })
const change = (by: Client, id: string, body: unknown) => by.ask(`/api/secrets/${id}`, { method: 'PUT', body })
const remove = (by: Client, id: string) => by.ask(`/api/secrets/${id}`, { method: 'DELETE' })
const listed = async (by: Client) => (await by.json<{ custom_secrets: unknown }>('/api/secrets')).custom_secrets
/** As a conversation of the owner gets them. */
const ownerSecrets = async (bound: Env, owner: string) => (await agentConfig(bound, owner)).secrets
const answerOf = async (response: Response) => [response.status, await response.json()]

test('secrets are created, listed without values in their order, changed and deleted', async () => {
  const ann = await client()
  expect(await listed(ann)).toEqual([])
  const created = [201, { message: 'Secret created successfully' }]
  expect(await answerOf(await add(ann, { name: 'B', value: `${CANARY}-b`, description: 'the second letter' }))).toEqual(
    created,
  )
  expect(await answerOf(await add(ann, { name: 'A', value: `${CANARY}-a`, description: null }))).toEqual(created)
  expect(await answerOf(await add(ann, { name: '_c1', value: `${CANARY}-c` }))).toEqual(created)
  expect(await answerOf(await add(ann, { name: 'A', value: 'other' }))).toEqual([
    400,
    { message: 'Secret A already exists' },
  ])
  expect(await listed(ann)).toEqual([
    { name: 'B', description: 'the second letter' },
    { name: 'A', description: '' },
    { name: '_c1', description: '' },
  ])

  const updated = [200, { message: 'Secret updated successfully' }]
  expect(await answerOf(await change(ann, 'B', { name: 'B', description: 'moved' }))).toEqual(updated)
  expect(await answerOf(await change(ann, 'A', { name: 'Z' }))).toEqual(updated)
  expect(await answerOf(await change(ann, 'Z', { name: 'B' }))).toEqual([400, { message: 'Secret B already exists' }])
  expect(await ownerSecrets(env, ann.owner)).toEqual({
    ok: true,
    secrets: [
      { name: '_c1', description: '', value: `${CANARY}-c` },
      { name: 'B', description: 'moved', value: `${CANARY}-b` },
      { name: 'Z', description: '', value: `${CANARY}-a` },
    ],
  })

  expect(await answerOf(await remove(ann, 'B'))).toEqual([200, { message: 'Secret deleted successfully' }])
  const { results } = await env.DB.prepare('SELECT * FROM secrets WHERE owner = ?').bind(ann.owner).all()
  expect([results.length, JSON.stringify(results).includes(CANARY)]).toEqual([2, false])
})

test("a stranger sees nothing of another's secrets, and touching them is touching what is not there", async () => {
  const ann = await client()
  const bob = await client()
  await add(ann, { name: 'TOKEN', value: CANARY })
  expect(await listed(bob)).toEqual([])
  for (const id of ['TOKEN', 'NEVER', 'a%2Fb', '%E4%BB%B7', '..%2F..', 'x'.repeat(2_000)]) {
    const missing = [404, { error: `Secret with ID ${decodeURIComponent(id)} not found` }]
    expect(await answerOf(await remove(bob, id))).toEqual(missing)
    expect(await answerOf(await change(bob, id, { name: 'TOKEN' }))).toEqual(missing)
  }
  expect((await add(bob, { name: 'TOKEN', value: 'mine' })).status).toBe(201)
  expect(await ownerSecrets(env, ann.owner)).toMatchObject({ secrets: [{ name: 'TOKEN', value: CANARY }] })
})

test('names that are no variable, or that the shell needs, and values that no variable can hold are refused unseen', async () => {
  const ann = await client()
  const cases: [body: Record<string, unknown>, type: string, field: string][] = [
    ...['A=B', 'A\nB', 'A\n', 'A\u0000', '1A', 'A B', 'é', 'A-B', '$A', '价'].map(
      (name): [Record<string, unknown>, string, string] => [{ name }, 'string_pattern_mismatch', 'name'],
    ),
    [{ name: '' }, 'string_too_short', 'name'],
    [{ name: 'A'.repeat(201) }, 'string_too_long', 'name'],
    [{ name: null }, 'string_type', 'name'],
    [{ name: 5 }, 'string_type', 'name'],
    [{ name: undefined }, 'missing', 'name'],
    ...['PATH', 'HOME', 'IFS', 'LD_PRELOAD', 'BASH_ENV'].map((name): [Record<string, unknown>, string, string] => [
      { name },
      'value_error',
      'name',
    ]),
    [{ value: '' }, 'string_too_short', 'value'],
    [{ value: undefined }, 'missing', 'value'],
    [{ value: null }, 'string_type', 'value'],
    [{ value: 12_345 }, 'string_type', 'value'],
    [{ value: [CANARY] }, 'string_type', 'value'],
    [{ value: `${CANARY}\u0000` }, 'value_error', 'value'],
    [{ value: `${CANARY}\ud800` }, 'value_error', 'value'],
    [{ value: CANARY.repeat(5_000) }, 'string_too_long', 'value'],
    [{ description: 5 }, 'string_type', 'description'],
    [{ description: 'd'.repeat(4_097) }, 'string_too_long', 'description'],
  ]
  for (const [part, type, field] of cases) {
    const response = await add(ann, { name: 'TOKEN', value: CANARY, ...part })
    const text = await response.text()
    const { detail } = JSON.parse(text) as { detail: { type: string; loc: string[] }[] }
    const items = detail.map((item) => [item.type, item.loc.join('.')])
    expect([part, response.status, items, text.includes(CANARY)]).toEqual([part, 422, [[type, `body.${field}`]], false])
  }
  expect(await listed(ann)).toEqual([])
  for (const body of [null, CANARY, [CANARY], [{ value: CANARY }]]) {
    const response = await add(ann, body)
    expect([response.status, (await response.text()).includes(CANARY)]).toEqual([422, false])
  }
})

test('a value of 64 kB and one of many lines are kept to the letter', async () => {
  const ann = await client()
  const values = [
    'x'.repeat(65_536),
    '😀'.repeat(65_536),
    '-----BEGIN KEY-----\r\nabc\n',
    ' \t\ufeff spaced ',
    '__proto__',
  ]
  for (const [i, value] of values.entries()) {
    expect([i, (await add(ann, { name: `V${i}`, value })).status]).toEqual([i, 201])
  }
  expect((await add(ann, { name: 'LONG', value: '😀'.repeat(65_537) })).status).toBe(422)
  await add(ann, { name: '__proto__', value: 'inert' })
  const opened = await ownerSecrets(env, ann.owner)
  expect(opened.ok && opened.secrets.map(({ value }) => value)).toEqual([...values, 'inert'])
})

test('a thousand secrets are served, and neither one more nor a name twice gets in, however many ask at once', async () => {
  const ann = await client()
  await add(ann, { name: 'FIRST', value: 'x' })
  const copies = Array.from({ length: MAX_SECRETS - 3 }, (_, i) => `S${i}`)
  await env.DB.prepare(
    `INSERT INTO secrets (owner, name, description, value, position)
     SELECT ?1, value, '', 'v1.00000000.AAAA', 2 + key FROM json_each(?2)`,
  )
    .bind(ann.owner, JSON.stringify(copies))
    .run()
  const twice = await Promise.all(['SAME', 'SAME', 'SAME'].map((name) => add(ann, { name, value: 'x' })))
  expect(twice.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  const last = await Promise.all(['L1', 'L2', 'L3', 'L4'].map((name) => add(ann, { name, value: 'x' })))
  expect(last.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  const refused = last.find(({ status }) => status === 400)
  expect(await refused?.json()).toEqual({ message: 'There are 1000 secrets, and no more can be stored' })
  const names = (await listed(ann)) as { name: string }[]
  expect([names.length, names[0], names[1]]).toEqual([
    MAX_SECRETS,
    { name: 'FIRST', description: '' },
    { name: 'S0', description: '' },
  ])
})

test('changes at the same time end in one of them, with the value whole', async () => {
  const ann = await client()
  await add(ann, { name: 'OLD', value: CANARY })
  const answers = await Promise.all(['N1', 'N2', 'N3'].map((name) => change(ann, 'OLD', { name })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
  const opened = await ownerSecrets(env, ann.owner)
  expect(opened).toMatchObject({ ok: true, secrets: [{ value: CANARY }] })
})

test('a tampered value is told by name, keeps the list readable, and cannot be renamed into another one', async () => {
  const ann = await client()
  await add(ann, { name: 'GOOD', value: CANARY })
  await add(ann, { name: 'BAD', value: 'other' })
  await env.DB.prepare(
    `UPDATE secrets SET value = (SELECT value FROM secrets WHERE owner = ?1 AND name = 'GOOD')
     WHERE owner = ?1 AND name = 'BAD'`,
  )
    .bind(ann.owner)
    .run()
  expect(await ownerSecrets(env, ann.owner)).toMatchObject({ ok: false, unreadable: ['BAD'] })
  expect(await listed(ann)).toHaveLength(2)
  const renamed = await change(ann, 'BAD', { name: 'BETTER' })
  const text = await renamed.text()
  expect([renamed.status, text.includes(CANARY)]).toEqual([500, false])
  expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/^The value of BAD cannot be opened/) })
  expect((await remove(ann, 'BAD')).status).toBe(200)
  expect(await ownerSecrets(env, ann.owner)).toMatchObject({ ok: true })
})

test('after a change of SECRETS_KEY secrets open with the previous one and are sealed anew when a conversation reads them', async () => {
  const ann = await client()
  await add(ann, { name: 'TOKEN', value: CANARY })
  const next = { ...env, SECRETS_KEY: btoa('another key of thirty-two bytes!') }
  const rotated = { ...next, SECRETS_KEY_PREVIOUS: String(Reflect.get(env, 'SECRETS_KEY')) }
  expect(await ownerSecrets(next, ann.owner)).toMatchObject({ ok: false, unreadable: ['TOKEN'] })
  expect(await ownerSecrets(rotated, ann.owner)).toMatchObject({ ok: true, secrets: [{ value: CANARY }] })
  expect(await ownerSecrets(next, ann.owner)).toMatchObject({ ok: true, secrets: [{ value: CANARY }] })
})

test('when the store fails, each call answers the 500 that is promised', async () => {
  const ann = await client()
  const prepare = (sql: string) => {
    if (/secrets/.test(sql)) throw new Error(`disk full, ${CANARY}`)
    return env.DB.prepare(sql)
  }
  const broken = { DB: { prepare, batch: env.DB.batch.bind(env.DB) } } as unknown as Record<string, string>
  const headers = { 'x-session-api-key': ann.key, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'A', value: 'b' })
  const calls = [
    ['/api/secrets', { headers }, 'Failed to get secret names'],
    ['/api/secrets', { method: 'POST', headers, body }, 'Something went wrong storing secrets'],
    ['/api/secrets/A', { method: 'PUT', headers, body }, 'Something went wrong storing secrets'],
    ['/api/secrets/A', { method: 'DELETE', headers }, 'Something went wrong storing secrets'],
  ] as const
  for (const [path, init, error] of calls) {
    const response = await request(path, init, broken)
    expect([path, response.status, await response.json()]).toEqual([path, 500, { error }])
  }
})

test('no title tells a secret, whoever gives it: a message, a change, a fork', async () => {
  const ann = await client()
  await add(ann, { name: 'KEY', value: CANARY })
  type Row = { conversation_id: string; title: string }
  const titles = async () => {
    const { results } = await ann.json<{ results: Row[] }>('/api/conversations')
    return Object.fromEntries(results.map(({ conversation_id, title }) => [conversation_id, title]))
  }
  // The title is cut in the middle of the value.
  const first = await startConversation(
    { conversation_id: 'first', initial_user_msg: `echo 12345678901 ${CANARY}` },
    ann,
  )
  const later = await startConversation({ conversation_id: 'later' }, ann)
  await later.post('message', { content: `echo ${CANARY}` })
  expect(await titles()).toMatchObject({ first: 'echo 12345678901 <secret_hidde...', later: 'echo <secret_hidden>' })
  await evictDurableObject(conversation(env, ann.owner, 'later'))
  await ann.ask(later.path, { method: 'PATCH', body: { title: `The key ${CANARY}` } })
  expect(await titles()).toMatchObject({ later: 'The key <secret_hidden>' })
  const body = { event_id: 1, conversation_id: 'copy', title: `A copy with ${CANARY}` }
  await ann.ask(`${first.path}/fork`, { method: 'POST', body })
  expect(await titles()).toMatchObject({ copy: 'A copy with <secret_hidden>' })
  for (const id of ['first', 'later', 'copy']) {
    const meta = await runInDurableObject(conversation(env, ann.owner, id), (_, { storage }) =>
      JSON.stringify(storage.sql.exec('SELECT value FROM meta').toArray()),
    )
    expect(meta).not.toContain(CANARY.slice(0, 12))
  }
})

test('secrets that are more than a row holds together are kept for a conversation, and known in it', async () => {
  const ann = await client()
  const names = Array.from({ length: 28 }, (_, i) => `LARGE_${i}`)
  const secretOf = (name: string) => `${name}-${CANARY}-`.padEnd(64_000, name)
  await Promise.all(names.map((name) => add(ann, { name, value: secretOf(name) })))
  const chat = await startConversation({}, ann)
  await runInDurableObject(conversation(env, ann.owner, chat.id), async (_, { storage }) => {
    const rows = storage.sql.exec("SELECT name FROM meta WHERE name LIKE 'vault%'").toArray()
    expect(rows.length).toBeGreaterThan(3)
    // As with a database that is away: the copy alone is there.
    const away = { ...env, DB: { batch: () => Promise.reject(new Error('away')) } as unknown as D1Database }
    const masker = new SecretMasker(away, storage.sql, { owner: ann.owner, id: chat.id })
    await masker.open()
    expect(Object.keys(masker.variables).sort()).toEqual(names.toSorted())
    expect(masker.maskText(`it is ${secretOf('LARGE_7')}.`)).toBe('it is <secret_hidden>.')
  })
})
