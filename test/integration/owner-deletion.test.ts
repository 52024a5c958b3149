import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { SPANS_TABLE } from '../../durable-objects/common-tables.ts'
import { ConversationBooks } from '../../durable-objects/owner/conversation-books.ts'
import { Erasure } from '../../durable-objects/owner/erasure.ts'
import { conversation, conversationPrefix, feedbackKey, owner as ownerOf, taskQueue } from '../../src/bindings.ts'
import { beginErasure, isLeaving, OWNED_TABLES } from '../../src/db/erasures.ts'
import { IMPORTED_TABLES, ROWS_OF_CONVERSATIONS } from '../../src/db/imports.ts'
import { onCron } from '../../src/schedule/cron.ts'
import { type Client, client, ROOT_KEY, request } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { columnsOf, database, fill, mortal, rowsNaming, type Sql, sqlOf, tablesOf } from '../helpers/owned.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

/** Rows of nobody: what is the same for every owner, or of the service itself. `erasures` is the order, and goes with it. */
const OF_NOBODY = new Set([
  ...['stock_names', 'stock_name_state', 'market_answers', 'provider_circuits', 'provider_turns', 'news_items'],
  ...['upkeep_jobs', 'evidence_runs', 'evidence_rows', 'alert_sweeps', 'market_lights', 'reference_rates'],
  ...['stock_figures', 'screening_fills', 'd1_migrations', 'metric_rows', 'metric_totals', 'connected_runners'],
])
/** What the last step deletes, and what nothing can delete. */
const OTHERWISE = new Set(['erasures', 'api_keys', 'ended_sessions', 'advice_ledger'])

const inQueue = (work: (sql: Sql) => Promise<unknown>) =>
  runInDurableObject(taskQueue(env), (_, { storage }) => work(sqlOf(storage)))
const inOwner = (owner: string, work: (sql: Sql) => Promise<unknown>) =>
  runInDurableObject(ownerOf(env, owner), (_, { storage }) => work(sqlOf(storage)))

/** Everything anywhere that names the owner or is theirs. */
async function everythingOf({ owner }: Client, chats: readonly Chat[]) {
  const keys = (await env.FILES.list()).objects.map(({ key }) => key).filter((key) => key.includes(`/${owner}/`))
  return {
    database: await rowsNaming(database, owner),
    queue: await inQueue((sql) => rowsNaming(sql, owner)),
    books: await inOwner(owner, (sql) => rowsNaming(sql, owner)),
    files: keys,
    conversations: await Promise.all(
      chats.map(({ id }) =>
        runInDurableObject(conversation(env, owner, id), (_, { storage }) => tablesOf(sqlOf(storage))),
      ),
    ),
  }
}

/** An owner with rows in every table of every store, conversations with files, and files of feedback. */
async function fullOwner(): Promise<{ by: Client; chats: Chat[] }> {
  const by = await client({ owner: `full-${crypto.randomUUID()}` })
  const chats = [
    await startConversation({ initial_user_msg: 'echo kept > a.txt' }, by),
    await startConversation({}, by),
  ]
  for (const chat of chats) await chat.settled()
  const form = new FormData()
  form.append('files', new File([new Uint8Array(1_500_000)], 'large.bin'))
  expect((await by.ask(`${chats[0]?.path}/upload-files`, { method: 'POST', body: form })).status).toBe(200)
  // The list of conversations follows a little later.
  const listed = "SELECT id FROM conversations WHERE owner = ? AND agent_state = 'awaiting_user_input'"
  await expect.poll(async () => (await database(listed, by.owner)).length).toBe(2)
  await env.FILES.put(feedbackKey(by.owner, 'one'), '{}')
  await env.FILES.put(`${conversationPrefix(by.owner, 'left-behind')}x/files/y`, 'of a conversation that is gone')
  for (const { name } of OWNED_TABLES.toReversed()) await fill(database, by.owner, name)
  for (const table of ['advice_ledger', 'ended_sessions']) await fill(database, by.owner, table)
  await inQueue(async (sql) => {
    const tables = await tablesOf(sql)
    for (const table of tables.filter((name) => !['alarms', 'task_counts', 'ended_keys'].includes(name))) {
      await fill(sql, by.owner, table)
    }
    await sql(
      "UPDATE outbox SET key = (SELECT id FROM tasks WHERE owner = ? LIMIT 1) WHERE kind LIKE ? || '%'",
      by.owner,
      by.owner,
    ).catch(() => [])
    await sql('INSERT INTO ended_keys (key, at) VALUES (?, ?)', by.keyId, Date.now())
    await sql('UPDATE direct_runs SET until = 1 WHERE owner = ?', by.owner)
  })
  await inOwner(by.owner, async (sql) => {
    const tables = await tablesOf(sql)
    for (const table of tables.filter((name) => !['alarms', 'totals', 'leaving', 'taken_over'].includes(name))) {
      await fill(sql, by.owner, table)
    }
  })
  return { by, chats }
}

const order = (by: Client) => ({ owner: by.owner, confirm: 'delete everything' })

/** Lets the time run out that the deletion leaves for what was on its way, until it is over. */
async function untilGone(owner: string): Promise<void> {
  await expect
    .poll(async () => {
      await database('UPDATE erasures SET quiet_at = 0 WHERE owner = ? AND quiet_at IS NOT NULL', owner)
      if (!(await isLeaving(env.DB, owner))) return true
      await ownerOf(env, owner).erase(owner)
      await runDurableObjectAlarm(ownerOf(env, owner))
      return !(await isLeaving(env.DB, owner))
    })
    .toBe(true)
}

test('every table of the database is of nobody, or the deletion of an owner knows it and keeps late rows out', async () => {
  const known = new Set([...OWNED_TABLES.map(({ name }) => name), ...OTHERWISE, ...OF_NOBODY])
  const tables = await tablesOf(database)
  expect(tables.filter((name) => !known.has(name))).toEqual([])
  expect(OWNED_TABLES.filter(({ name }) => !tables.includes(name))).toEqual([])
  const triggers = (await database("SELECT name FROM sqlite_master WHERE type = 'trigger'")).map(({ name }) => name)
  const gated = [...OWNED_TABLES.map(({ name }) => name), 'advice_ledger']
  expect(gated.filter((name) => !triggers.includes(`${name}_of_leavers`))).toEqual([])
  for (const { name, key } of OWNED_TABLES) {
    const columns = await columnsOf(database, name)
    const primary = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
    expect([name, key]).toEqual([name, primary.length === 0 ? 'rowid' : primary.map((one) => one.name).join(', ')])
  }
})

/** Tables of owners whose rows an import does not take, and why; docs/backup.md tells of them. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  alert_states: 'what an alert remembers of its targets',
  audit_log: 'proves what happened here',
  channel_tests: 'says nothing later',
  deliveries: 'messages that were sent',
  delivery_parts: 'messages that were sent',
  notification_channels: 'nothing without what is secret in it',
  provider_tokens: 'nothing without what is secret in it',
  screening_owners: 'says nothing later',
  secrets: 'nothing without what is secret in it',
  shares: 'nothing without what is secret in it',
  untold_notices: 'says nothing later',
}

test('the rows of each table of owners are taken by an import, or it is said here why not', () => {
  const taken = new Set([...IMPORTED_TABLES.map(({ name }) => name), ...ROWS_OF_CONVERSATIONS])
  const left = OWNED_TABLES.map(({ name }) => name).filter((name) => !taken.has(name))
  expect(left.sort()).toEqual(Object.keys(NOT_IMPORTED).sort())
})

test('spans of a deleted owner’s tasks that wait for the collector go with the tasks, those of others wait on', async () => {
  const [gone, stays] = [`traced-${crypto.randomUUID()}`, `traced-${crypto.randomUUID()}`]
  await runInDurableObject(taskQueue(env), async (queue, { storage }) => {
    const sql = sqlOf(storage)
    storage.sql.exec(SPANS_TABLE)
    for (const owner of [gone, stays]) {
      await fill(sql, owner, 'tasks')
      // As the ids of tasks are.
      await sql('UPDATE tasks SET id = lower(hex(randomblob(16))) WHERE owner = ?', owner)
      await sql(
        "INSERT INTO spans (id, body, attempts) SELECT id || '0123456789abcdef', '{}', 0 FROM tasks WHERE owner = ?",
        owner,
      )
    }
    const { rows } = queue.eraseOwner(gone, [])
    const left = await sql('SELECT t.owner FROM spans s LEFT JOIN tasks t ON t.id = substr(s.id, 1, 32)')
    expect([rows, left.map(({ owner }) => owner)]).toEqual([expect.any(Number), Array(3).fill(stays)])
    queue.eraseOwner(stays, [])
    expect(await sql('SELECT * FROM spans')).toEqual([])
    storage.sql.exec('DROP TABLE spans')
  })
})

test('nothing is left of a deleted owner in any table, object or file, and nothing of another is touched', async () => {
  const [gone, stays] = [await fullOwner(), await fullOwner()]
  const before = await everythingOf(stays.by, stays.chats)
  const full = await everythingOf(gone.by, gone.chats)
  expect(Object.keys(full.database).toSorted()).toEqual(
    [...OWNED_TABLES.map(({ name }) => name), 'advice_ledger', 'api_keys', 'ended_sessions'].toSorted(),
  )
  expect(full.files.length).toBe(3)
  const stream = await gone.by.ask('/api/v1/analysis/tasks/stream')
  const socket = await gone.chats[0]?.connect()

  const asked = await gone.by.ask('/api/owner', { method: 'DELETE', body: order(gone.by) })
  expect([asked.status, await asked.json()]).toMatchObject([202, { owner: gone.by.owner, ledger_rows: 3 }])
  await untilGone(gone.by.owner)

  const left = await everythingOf(gone.by, gone.chats)
  // What nothing can delete is named; everything else is zero, the objects' own tables included.
  expect(Object.entries(left.database).map(([table, rows]) => [table, rows.length])).toEqual([['advice_ledger', 3]])
  expect({ ...left, database: {} }).toEqual({ database: {}, queue: {}, books: {}, files: [], conversations: [[], []] })
  expect(await inOwner(gone.by.owner, tablesOf)).toEqual([])
  expect((await gone.by.ask('/api/owner')).status).toBe(401)
  await stream.body?.cancel()
  await socket?.until((s) => s.frames.some(({ type }) => type === 'closed'))

  expect(await everythingOf(stays.by, stays.chats)).toEqual(before)
  expect((await stays.by.ask('/api/owner', { method: 'DELETE', body: order(stays.by) })).status).toBe(202)
  await untilGone(stays.by.owner)
})

test('broken off anywhere, the deletion goes on until nothing is left', async () => {
  const { by, chats } = await fullOwner()
  const { owner } = by
  await beginErasure(env.DB, { owner, actor: 'root', askedBy: 'root' })
  const attempts = await runInDurableObject(ownerOf(env, owner), async (_, { storage }) => {
    for (let lives = 1; ; lives += 13) {
      const erasure = new Erasure({ env: () => mortal(lives), sql: storage.sql, books: new ConversationBooks(storage) })
      erasure.begin(owner)
      if ((await erasure.work()) === 'end') return lives
      await database('UPDATE erasures SET quiet_at = 0 WHERE owner = ? AND quiet_at IS NOT NULL', owner)
    }
  })
  expect(attempts).toBeGreaterThan(40)
  // The object is empty and the database still has the order: the upkeep finds it.
  await runInDurableObject(ownerOf(env, owner), (_, { storage }) => storage.deleteAll())
  await evictDurableObject(ownerOf(env, owner))
  await database('DELETE FROM upkeep_jobs')
  await onCron(env, Date.now())
  await untilGone(owner)
  const left = await everythingOf(by, chats)
  expect(Object.keys(left.database).toSorted()).toEqual(['advice_ledger', 'audit_log'])
  // The operator's own log tells who it was.
  expect(left.database.audit_log).toMatchObject([{ owner: 'root', action: 'owner.deleted', subject: owner }])
  expect({ ...left, database: {} }).toEqual({ database: {}, queue: {}, books: {}, files: [], conversations: [[], []] })
})

test('what runs is stopped, and what was on its way stores nothing any more', async () => {
  const by = await client({ owner: `busy-${crypto.randomUUID()}` })
  const model = await scriptedModel({ text: 'the answer', chunkChars: 1, heldAfter: 2 })
  const settings = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: 'k' }
  expect((await by.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const chat = await startConversation({ initial_user_msg: 'hello' }, by)
  await expect.poll(async () => (await model.requests()).length).toBeGreaterThan(0)
  const analyses = { stock_codes: ['600519', 'AAPL', '00700'], async_mode: true }
  expect((await by.ask('/api/v1/analysis/analyze', { method: 'POST', body: analyses })).status).toBe(202)

  expect((await by.ask('/api/owner', { method: 'DELETE', body: order(by) })).status).toBe(202)
  // Whatever else is asked is refused until it is over.
  for (const path of ['/api/conversations', '/api/v1/analysis/tasks', '/api/settings']) {
    const refused = await by.ask(path)
    expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 503, '5'])
  }
  expect((await by.ask('/api/keys')).status).toBe(503)
  const again = await request('/api/keys', {
    method: 'POST',
    headers: { 'x-session-api-key': ROOT_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ owner: by.owner, name: 'late', scopes: ['analysis'] }),
  })
  expect(again.status).toBe(503)
  // A second order is the first one.
  const first = await by.json<{ deletion: { begun_at: string } }>('/api/owner')
  const second = await by.json<{ deletion: { begun_at: string } }>('/api/owner', { method: 'DELETE', body: order(by) })
  expect(second.deletion.begun_at).toBe(first.deletion.begun_at)
  for (const { name } of OWNED_TABLES.toReversed()) await fill(database, by.owner, name)
  const late = await rowsNaming(database, by.owner)
  await model.release()
  await untilGone(by.owner)
  await model.release()
  const ledger = Object.keys(late).filter((table) => table === 'advice_ledger')
  const left = await everythingOf(by, [chat])
  expect(Object.keys(left.database)).toEqual(ledger)
  expect({ ...left, database: {} }).toEqual({ database: {}, queue: {}, books: {}, files: [], conversations: [[]] })
})

test('only both scopes or an admin may delete an owner, and only with the words for it', async () => {
  const by = await client({ scopes: ['conversations'] })
  const refuse = async (whose: Client, body: unknown, expected: number) => {
    const { status } = await whose.ask('/api/owner', { method: 'DELETE', body })
    expect([body, status]).toEqual([body, expected])
  }
  await refuse(by, order(by), 403)
  const other = await client()
  await refuse(other, order(by), 403)
  await refuse(other, { owner: other.owner }, 422)
  await refuse(other, { owner: other.owner, confirm: 'yes' }, 422)
  await refuse(other, { ...order(other), more: 1 }, 422)
  expect((await other.ask(`/api/owner?owner=${by.owner}`)).status).toBe(403)
  expect(await other.json('/api/owner')).toEqual({ owner: other.owner, deletion: null, ledger_rows: 0 })
  const admin = await client({ scopes: ['admin'] })
  await refuse(admin, order(by), 202)
  expect(await admin.json(`/api/owner?owner=${by.owner}`)).toMatchObject({ deletion: { problem: null } })
  await untilGone(by.owner)
  expect((await by.ask('/api/conversations')).status).toBe(401)
  const { records } = await (await client({ owner: admin.owner })).json<{ records: unknown[] }>('/api/audit')
  expect(records).toContainEqual(
    expect.objectContaining({ actor: admin.keyId, action: 'owner.deleted', subject: by.owner }),
  )
})

test('in local mode the owner goes on with an empty service', async () => {
  const LOCAL = { AUTH_MODE: 'local' }
  const ask = (path: string, init: RequestInit = {}) => request(`http://127.0.0.1:8787${path}`, init, LOCAL)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Core', stock_codes: ['600519'] })
  const watchlists = async () =>
    (await (await ask('/api/v1/analysis/watchlists')).json<{ watchlists: unknown[] }>()).watchlists
  await ask('/api/v1/analysis/watchlists', { method: 'POST', headers, body })
  expect((await watchlists()).length).toBe(1)
  const confirmed = JSON.stringify({ owner: 'local', confirm: 'delete everything' })
  expect((await ask('/api/owner', { method: 'DELETE', headers, body: confirmed })).status).toBe(202)
  expect((await ask('/api/v1/analysis/watchlists')).status).toBe(503)
  await untilGone('local')
  expect(await watchlists()).toEqual([])
  expect((await ask('/api/v1/analysis/watchlists', { method: 'POST', headers, body })).status).toBe(201)
  expect((await ask('/api/conversations', { method: 'POST', headers, body: '{}' })).status).toBe(200)
  expect(await (await ask('/api/owner')).json()).toMatchObject({ owner: 'local', deletion: null })
})
