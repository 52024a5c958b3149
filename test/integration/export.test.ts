import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ConversationBooks } from '../../durable-objects/owner/conversation-books.ts'
import { Exports } from '../../durable-objects/owner/export/exports.ts'
import { MIGRATIONS } from '../../durable-objects/owner/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import { conversation, feedbackKey, owner as ownerOf } from '../../src/bindings.ts'
import { EXPORTED_TABLES } from '../../src/db/exports.ts'
import { joinBytes } from '../../src/lib/bytes.ts'
import { type Client, client } from '../helpers/app.ts'
import { bytesOf, type Entries, exported, lines, part, sha256, text } from '../helpers/archive.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { LARGE, SIZES, someoneLarge } from '../helpers/importable.ts'
import { database, fill, mortal } from '../helpers/owned.ts'

const CANARY = `canary-${crypto.randomUUID()}`

/** An owner with something of every kind, and secrets that must not be found again. */
async function someone(): Promise<{ by: Client; chat: Chat }> {
  const by = await client({ owner: `mover-${crypto.randomUUID()}` })
  const chat = await startConversation({ initial_user_msg: 'mkdir d; echo small > d/a.txt; ln -s a.txt d/link' }, by)
  await chat.settled()
  const form = new FormData()
  form.append('files', new File([LARGE], 'large.bin'))
  expect((await by.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })).status).toBe(200)
  const settings = { llm_model: 'openai/x', llm_base_url: `https://u:${CANARY}@models.example/v1`, llm_api_key: CANARY }
  expect((await by.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const secret = { name: 'NPM_TOKEN', value: CANARY, description: 'of the registry' }
  expect((await by.ask('/api/secrets', { method: 'POST', body: secret })).status).toBe(201)
  await env.FILES.put(feedbackKey(by.owner, 'one'), '{"polarity":"positive"}')
  for (const { name } of EXPORTED_TABLES) await fill(database, by.owner, name)
  await expect.poll(() => untold(by, chat), { timeout: 30_000 }).toBe(0)
  return { by, chat }
}

/** What the conversation has not told the database yet: its row in the list comes a moment after its events. */
function untold(by: Client, chat: Chat): Promise<number> {
  return runInDurableObject(conversation(env, by.owner, chat.id), (_, { storage }) =>
    Number(storage.sql.exec('SELECT count(*) AS n FROM outbox').one().n),
  )
}

/** That the archive has what the stores have. */
async function isWhole({ by, chat }: { by: Client; chat: Chat }, entries: Entries): Promise<void> {
  for (const { name, whose, key } of EXPORTED_TABLES) {
    const stored = await database(`SELECT * FROM ${name} WHERE ${whose} ORDER BY ${key}`, by.owner)
    const rows = part(entries, `database/${name}`)
    // Columns that are left out are no part of the comparison, and are looked for below.
    const columns = Object.keys(rows[0] ?? {})
    const shown = stored.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
    if (name !== 'settings') expect([name, rows]).toEqual([name, shown])
    expect([name, rows.length]).toEqual([name, stored.length])
  }
  const folder = `conversations/${chat.id}`
  expect(part(entries, `${folder}/events`)).toEqual(await chat.events())
  const nodes = part(entries, `${folder}/nodes`)
  const named = (name: string) => nodes.find((node) => node.name === name)
  expect(text(entries.get(`${folder}/files/${named('a.txt')?.inode}`))).toBe('small\n')
  expect(named('link')).toMatchObject({ kind: 'symlink', target: 'a.txt', parent: named('d')?.inode })
  expect(sha256(entries.get(`${folder}/files/${named('large.bin')?.inode}`) ?? LARGE.subarray(1))).toBe(sha256(LARGE))
  expect(lines(entries.get(`${folder}/conversation.json`))).toMatchObject([{ id: chat.id, has_tool_servers: false }])
  expect(text(entries.get('feedback/one.json'))).toBe('{"polarity":"positive"}')
}

test('an export has everything of the owner but secrets, whose names it tells, and every entry its checksum', async () => {
  const mover = await someone()
  const { by } = mover
  expect((await by.ask('/api/export')).status).toBe(404)
  const begun = await by.ask('/api/export', { method: 'POST' })
  expect([begun.status, await begun.json()]).toMatchObject([202, { expires_at: null }])
  const { entries, archive, standing } = await exported(by)
  await isWhole(mover, entries)
  const everything = text(archive)
  expect(everything).not.toContain(CANARY)
  const { results } = await env.DB.prepare(
    `SELECT value AS v FROM secrets WHERE owner = ?1 UNION ALL SELECT sealed FROM notification_channels WHERE owner = ?1
     UNION ALL SELECT token FROM provider_tokens WHERE owner = ?1 UNION ALL SELECT token_hash FROM shares WHERE owner = ?1
     UNION ALL SELECT value FROM settings WHERE owner = ?1 AND field = 'llmApiKey'`,
  )
    .bind(by.owner)
    .all<{ v: string }>()
  expect(results.length).toBeGreaterThan(10)
  expect(results.filter(({ v }) => everything.includes(v))).toEqual([])
  expect(lines(entries.get('secrets.jsonl'))).toEqual(
    expect.arrayContaining([
      { kind: 'secret', name: 'NPM_TOKEN' },
      { kind: 'setting', name: 'llmApiKey' },
      { kind: 'setting', name: 'llmBaseUrl' },
      { kind: 'key', name: 'test' },
    ]),
  )

  // In ranges that meet no border of a piece, from the end, and with a condition.
  const parts: Uint8Array[] = []
  for (let at = 0; at < archive.length; at += 700_001) {
    const range = await by.ask('/api/export', { headers: { range: `bytes=${at}-${at + 700_000}` } })
    const last = Math.min(at + 700_000, archive.length - 1)
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes ${at}-${last}/${archive.length}`])
    parts.push(await bytesOf(range))
  }
  expect(sha256(joinBytes(parts))).toBe(sha256(archive))
  const tail = { range: 'bytes=-1024', 'if-range': `"${standing.export_id}"` }
  expect((await bytesOf(await by.ask('/api/export', { headers: tail }))).every((byte) => byte === 0)).toBe(true)
  const other = await by.ask('/api/export', { headers: { range: 'bytes=5-', 'if-range': '"another"' } })
  expect([other.status, (await bytesOf(other)).length]).toEqual([200, archive.length])
  expect((await by.ask('/api/export', { headers: { range: `bytes=${archive.length}-` } })).status).toBe(416)

  const stranger = await client()
  for (const way of ['GET', 'DELETE']) expect((await stranger.ask('/api/export', { method: way })).status).toBe(404)
  const half = await client({ owner: by.owner, scopes: ['analysis'] })
  expect((await half.ask('/api/export')).status).toBe(403)
  expect(await by.json('/api/export', { method: 'DELETE' })).toBe(true)
  expect((await by.ask('/api/export/state')).status).toBe(404)
  expect((await env.FILES.list({ prefix: `exports/${by.owner}/` })).objects).toEqual([])
})

test('an export that is broken off anywhere goes on, and is the same', async () => {
  const mover = await someone()
  const { by } = mover
  const attempts = await runInDurableObject(ownerOf(env, by.owner), async (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const at = (lives: number) =>
      new Exports({ env: () => mortal(lives), storage, books: new ConversationBooks(storage) })
    await at(1_000).begin(by.owner)
    for (let lives = 2; ; lives += 19) {
      const exports = at(lives)
      await exports.work()
      if (exports.standing?.state === 'ready') return lives
      storage.sql.exec("UPDATE export_job SET failures = 0, state = 'preparing'")
    }
  })
  expect(attempts).toBeGreaterThan(20)
  const { entries } = await exported(by)
  await isWhole(mover, entries)
})

test('an export lets others come first after each of its steps', async () => {
  const { by } = await someone()
  onTestFinished(() => void vi.restoreAllMocks())
  const [pauses, units] = await runInDurableObject(ownerOf(env, by.owner), async (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const exports = new Exports({ env: () => env, storage, books: new ConversationBooks(storage) })
    await exports.begin(by.owner)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    while (exports.standing?.state === 'preparing') await exports.work()
    return [timers.mock.calls.filter(([, delayMs]) => delayMs === 0).length, exports.standing?.units ?? 0]
  })
  expect(units).toBeGreaterThan(10)
  expect(pauses).toBeGreaterThanOrEqual(units)
})

test('what is deleted while it is exported is left out, and a new export takes the place of the old one', async () => {
  const by = await client()
  const [first, second] = [await startConversation({}, by), await startConversation({}, by)]
  for (const chat of [first, second]) await chat.settled()
  await by.ask('/api/export', { method: 'POST' })
  const before = await exported(by)
  expect(await by.json(first.path, { method: 'DELETE' })).toBe(true)
  await by.ask('/api/export', { method: 'POST' })
  const after = await exported(by)
  expect(after.standing.export_id).not.toBe(before.standing.export_id)
  expect([...after.entries.keys()].filter((path) => path.startsWith(`conversations/${first.id}`))).toEqual([])
  expect(after.entries.has(`conversations/${second.id}/conversation.json`)).toBe(true)
  const keys = (await env.FILES.list({ prefix: `exports/${by.owner}/` })).objects.map(({ key }) => key)
  expect(keys.filter((key) => !key.includes(after.standing.export_id))).toEqual([])
  expect(await conversation(env, by.owner, first.id).exportBasis()).toBe(null)
})

test('a long conversation with large files, and many reports are exported', async () => {
  const { by, chat } = await someoneLarge()
  await by.ask('/api/export', { method: 'POST' })
  const { entries, archive } = await exported(by)
  expect(part(entries, `conversations/${chat.id}/events`).length).toBe(SIZES.events)
  expect(part(entries, 'database/analyses').length).toBe(SIZES.reports)
  expect(archive.length).toBeGreaterThan(3 * SIZES.bytes + 1_000 * SIZES.events)
})
