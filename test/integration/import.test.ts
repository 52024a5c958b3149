import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ConversationBooks } from '../../durable-objects/owner/conversation-books.ts'
import { Imports } from '../../durable-objects/owner/import/imports.ts'
import { MIGRATIONS } from '../../durable-objects/owner/schema.ts'
import { migrate } from '../../durable-objects/sql.ts'
import { conversation, owner as ownerOf, talkId } from '../../src/bindings.ts'
import { deleteOwnedRows, OWNED_TABLES } from '../../src/db/erasures.ts'
import { IMPORTED_TABLES } from '../../src/db/imports.ts'
import { joinBytes } from '../../src/lib/bytes.ts'
import { type Client, client } from '../helpers/app.ts'
import { archiveWith, type Entries, entriesOf, part, sha256, text } from '../helpers/archive.ts'
import { startConversation } from '../helpers/conversation.ts'
import {
  archiveOf,
  handedIn,
  importEnd,
  LARGE,
  PART,
  put,
  SESSION,
  SIZES,
  type Standing,
  someone,
  someoneLarge,
  uploadArchive,
} from '../helpers/importable.ts'
import { database, fill, mortal, type Row } from '../helpers/owned.ts'

/** Everything that two archives must have alike, with the id of the owner's talk put right. */
function content(entries: Entries, { owner, talk }: { owner: string; talk: string }): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [path, bytes] of entries) {
    if (/^(export|manifest|secrets)|^database\//.test(path)) continue
    const told = path.replace(talk, 'the-talk')
    found[told] = /files\//.test(path) ? sha256(bytes) : text(bytes).replaceAll(talk, 'the-talk')
    if (!path.endsWith('/conversation.json')) continue
    // Whether it is open, and what a title was to be made of, is of the former place.
    const { loop: _loop, namedAfter: _named, ...record } = JSON.parse(String(found[told]))
    found[told] = record
  }
  for (const { name } of IMPORTED_TABLES)
    found[name] = part(entries, `database/${name}`)
      .filter((row) => name !== 'settings' || row.value !== null)
      .map((row) => ({ ...row, ...('owner' in row ? { owner: row.owner === owner } : {}) }))
  return found
}

test('what was exported is there again under another owner: rows, conversations, talks, files, and an agent that goes on', async () => {
  const { by, chat } = await someone()
  const archive = await archiveOf(by)
  // As on another service: the ids are free.
  for (const table of OWNED_TABLES) await deleteOwnedRows(env.DB, by.owner, table)
  const other = await client({ owner: `taker-${crypto.randomUUID()}` })
  expect((await other.ask('/api/import')).status).toBe(404)
  await uploadArchive(other, archive)
  const done = await importEnd(other)
  expect(done).toMatchObject({ phase: 'done', problem: null, conversations: 2, renamed: [], archive_owner: by.owner })
  expect(done.secrets).toEqual(expect.arrayContaining([{ kind: 'secret', name: 'NPM_TOKEN' }]))
  expect(done.rows).toMatchObject({ analyses: 3, analysis_snapshots: 3, watchlist_stocks: 3, alert_rules: 3 })
  expect((await env.FILES.list({ prefix: `imports/${other.owner}/` })).objects).toEqual([])
  expect(JSON.stringify(await database('SELECT * FROM settings WHERE owner = ?', other.owner))).not.toContain('canary')

  const before = content(entriesOf(archive), { owner: by.owner, talk: await talkId(by.owner, SESSION) })
  const again = await archiveOf(other)
  const after = content(entriesOf(again), { owner: other.owner, talk: await talkId(other.owner, SESSION) })
  expect(Object.keys(after).toSorted()).toEqual(Object.keys(before).toSorted())
  for (const [name, value] of Object.entries(before)) expect([name, after[name]]).toEqual([name, value])

  // It is listed, closed; started, it goes on where it was.
  const path = `/api/conversations/${chat.id}`
  expect(await other.json(path)).toMatchObject({ status: 'STOPPED', conversation_id: chat.id })
  expect((await other.ask(`${path}/start`, { method: 'POST', body: {} })).status).toBe(200)
  const message = { action: 'message', args: { content: 'cat d/link; wc -c < large.bin' } }
  expect((await other.ask(`${path}/events`, { method: 'POST', body: message })).status).toBe(200)
  const events = async () => (await other.json<{ events: Row[] }>(`${path}/events?limit=100`)).events
  const shown = JSON.stringify(`small\n${LARGE.length}`).slice(1, -1)
  await expect.poll(async () => JSON.stringify(await events()), { timeout: 60_000 }).toContain(shown)
  expect((await events()).map(({ id }) => id)).toEqual([...(await events()).keys()])
  expect(await conversation(env, other.owner, await talkId(other.owner, SESSION)).talkEnd()).not.toBe(null)

  // The same archive does not come twice.
  await uploadArchive(other, archive)
  expect(await importEnd(other)).toMatchObject({ phase: 'refused', problem: 'this archive was imported already' })
})

test('taken ids become others, what names them follows, and what the owner has stays', async () => {
  const { by, chat } = await someone()
  await database('UPDATE schedules SET enabled = 1 WHERE owner = ?', by.owner)
  const group = '(SELECT min(id) FROM watchlists w WHERE w.owner = ?1)'
  const plan = `json_set(plan, '$.what', json_object('kind', 'watchlist', 'watchlist_id', ${group}))`
  await database(`UPDATE schedules SET plan = ${plan} WHERE owner = ?1`, by.owner)
  await database(`UPDATE alert_rules SET target_scope = 'watchlist', target = ${group} WHERE owner = ?1`, by.owner)
  const archive = await archiveOf(by)
  const other = await client({ owner: `taker-${crypto.randomUUID()}` })
  const own = await startConversation({ conversation_id: chat.id, initial_user_msg: 'echo mine' }, other)
  expect(own.id).toBe(chat.id)
  await own.settled()
  const [list] = await database('SELECT name FROM watchlists WHERE owner = ? LIMIT 1', by.owner)
  await database(
    "INSERT INTO watchlists (id, owner, name, is_default, place, created_at) VALUES (?, ?, ?, 1, 1, '2026-11-01T00:00:00Z')",
    crypto.randomUUID(),
    other.owner,
    list?.name ?? '',
  )
  await fill(database, other.owner, 'portfolio_accounts')
  await uploadArchive(other, archive)
  const done = await importEnd(other)
  expect(done).toMatchObject({
    phase: 'done',
    problem: null,
    conversations: 2,
    left_out: { portfolio_accounts: 3, portfolio_events: 3 },
  })
  const to = done.renamed.find(({ from }) => from === chat.id)?.to ?? ''
  expect(done.renamed).toEqual([{ from: chat.id, to }])
  expect(JSON.stringify(await own.events())).toContain('echo mine')
  const moved = await other.json<{ events: Row[] }>(`/api/conversations/${to}/events?limit=100`)
  expect(moved.events).toEqual((await chat.events()).slice(0, moved.events.length))

  for (const owner of [by.owner, other.owner]) {
    const joined = (query: string) => database(query, owner)
    expect(
      await joined('SELECT s.key FROM watchlist_stocks s JOIN watchlists w ON w.id = s.watchlist_id WHERE w.owner = ?'),
    ).toHaveLength(3)
    expect(
      await joined('SELECT 1 FROM analysis_snapshots s JOIN analyses a ON a.id = s.analysis_id WHERE a.owner = ?'),
    ).toHaveLength(3)
    expect(
      await joined(
        'SELECT 1 FROM signal_feedback f JOIN decision_signals s ON s.id = f.signal_id AND s.owner = f.owner WHERE f.owner = ?',
      ),
    ).toHaveLength(3)
    // A group is named inside of plans and targets, too.
    const own = 'IN (SELECT id FROM watchlists w WHERE w.owner = ?1)'
    expect(await joined(`SELECT 1 FROM alert_rules WHERE owner = ?1 AND target ${own}`)).toHaveLength(3)
    expect(
      await joined(`SELECT 1 FROM schedules WHERE owner = ?1 AND json_extract(plan, '$.what.watchlist_id') ${own}`),
    ).toHaveLength(3)
  }
  expect(await database('SELECT enabled FROM schedules WHERE owner = ? GROUP BY enabled', other.owner)).toEqual([
    { enabled: 0 },
  ])
  expect(
    await database('SELECT count(*) AS n FROM watchlists WHERE owner = ? AND is_default = 1', other.owner),
  ).toEqual([{ n: 1 }])
})

type Change = (entries: Map<string, string>) => void
const HOSTILE: readonly [name: string, problem: RegExp, change: Change][] = [
  ['a path that leads out', /no archive of this service has an entry/, (all) => all.set('../../etc/passwd', 'x')],
  ['a path of a root', /no archive of this service has an entry/, (all) => all.set('/etc/passwd', 'x')],
  [
    'a table that is of nobody',
    /there is no table api_keys of owners/,
    (all) => all.set('database/api_keys/0000000000.jsonl', '{}\n'),
  ],
  [
    'a version to come',
    /is of version 2; this release reads version 1/,
    (all) => replace(all, 'export.json', '"version":1', '"version":2'),
  ],
  [
    'another format',
    /is not what belongs there: format/,
    (all) => replace(all, 'export.json', 'bellwether-export', 'other'),
  ],
  [
    'rows of somebody else',
    /a row of another owner/,
    (all) => replace(all, /^database\/watchlists/, '"owner":"', '"owner":"x'),
  ],
  [
    'a column that is none',
    /has no column "name; DROP/,
    (all) => replace(all, /^database\/watchlists/, '"name":', '"name; DROP TABLE settings":'),
  ],
  [
    'a text in place of a number',
    /place is not a whole number/,
    (all) => replace(all, /^database\/watchlists/, '"place":', '"place":"x","unused":'),
  ],
  [
    'a missing column',
    /created_at is missing/,
    (all) => replace(all, /^database\/watchlists\//, /,"created_at":"[^"]*"/, ''),
  ],
  [
    'a plan that is none',
    /plan is not what is stored there/,
    (all) => replace(all, /^database\/schedules/, '18:00', '99:00'),
  ],
  [
    'rows that are not taken and are none',
    /database\/secrets.* is not what belongs there/,
    (all) => replace(all, /^database\/secrets/, /"description":"[^"]*"/, '"description":[]'),
  ],
  [
    'a booking of a kind that is none',
    /kind has not the form/,
    (all) => replace(all, /^database\/portfolio_events/, '"kind":"trade"', '"kind":"gift"'),
  ],
  [
    'a trade without a quantity',
    /quantity is missing/,
    (all) => replace(all, /^database\/portfolio_events/, '"quantity":"2"', '"quantity":null'),
  ],
  [
    'advice that is none',
    /action has not the form/,
    (all) => replace(all, /^database\/decision_signals/, '"action":"buy"', '"action":"pray"'),
  ],
  [
    'a reason that is no sentence',
    /words is not what is stored there/,
    (all) => replace(all, /^database\/decision_signals/, /\\"reason\\":\\"it rises\\"/, '\\"reason\\":5'),
  ],
  [
    'a call of a model at no time',
    /called_at has not the form/,
    (all) => replace(all, /^database\/model_calls/, /"called_at":\d+/, '"called_at":9007199254740991'),
  ],
  [
    'a report of the 99th',
    /created_at has not the form/,
    (all) => replace(all, /^database\/analyses/, '2026-11-01T', '2026-99-99T'),
  ],
  [
    'a secret as a setting',
    /is a secret, which no archive has/,
    (all) => replace(all, /^database\/settings/, '"field":"llmModel"', '"field":"llmApiKey"'),
  ],
  [
    'a number beyond numbers',
    /the numbers do not grow|is not a whole number/,
    (all) => replace(all, /^database\/alert_rules/, /"id":\d+/, '"id":1e300'),
  ],
  [
    'an event that is missing',
    /event \d+ does not follow/,
    (all) => replace(all, /\/events\//, /^\{"id":0/, '{"id":1'),
  ],
  [
    'an event that is an action and an observation',
    /events\/.* is not what belongs there/,
    (all) => replace(all, /\/events\//, /"action":"(\w+)"/, '"action":"$1","observation":"run"'),
  ],
  ['files in a circle', /are no tree/, (all) => replace(all, /\/nodes\//, /("inode":2,"parent":)1/, '$12')],
  [
    'a name with a slash',
    /nodes\/.* is not what belongs there/,
    (all) => replace(all, /\/nodes\//, '"name":"a.txt"', '"name":"../a.txt"'),
  ],
  [
    'a name that is half a character, which is stored as another one',
    /nodes\/.* is not what belongs there/,
    (all) => replace(all, /\/nodes\//, '"name":"a.txt"', '"name":"\\ud800"'),
  ],
  [
    'contents of no file',
    /contents that are of no file/,
    (all) => all.set([...all.keys()].find((path) => path.includes('/files/'))?.replace(/\d+$/, '999') ?? '', 'x'),
  ],
  ['no JSON', /is not what belongs there/, (all) => replace(all, /^database\/watchlists\//, '{', '')],
]

function replace(all: Map<string, string>, path: string | RegExp, from: string | RegExp, to: string): void {
  const found = [...all.keys()].find((one) => (typeof path === 'string' ? one === path : path.test(one))) ?? ''
  const before = all.get(found) ?? ''
  const after = before.replace(from, to)
  expect([String(path), after === before]).toEqual([String(path), false])
  all.set(found, after)
}

async function tracesOf(owner: string): Promise<unknown> {
  const rows: Row = {}
  for (const { name, whose } of OWNED_TABLES) {
    if (name === 'audit_log') continue
    rows[name] = Number((await database(`SELECT count(*) AS n FROM ${name} WHERE ${whose}`, owner))[0]?.n)
  }
  const files = await env.FILES.list({ prefix: `conversations/${owner}/` })
  return { rows, files: files.objects.length }
}

test('an archive that is not right is refused with the reason, and nothing has changed', async () => {
  const { by } = await someone()
  const entries = entriesOf(await archiveOf(by))
  const other = await client({ owner: `taker-${crypto.randomUUID()}` })
  const before = await tracesOf(other.owner)
  for (const [name, problem, change] of HOSTILE) {
    const all = new Map([...entries].map(([path, bytes]) => [path, Buffer.from(bytes).toString('latin1')]))
    change(all)
    const bytes = new Map([...all].map(([path, one]) => [path, new Uint8Array(Buffer.from(one, 'latin1'))]))
    await uploadArchive(other, archiveWith(bytes))
    expect([name, await importEnd(other)]).toEqual([
      name,
      expect.objectContaining({ phase: 'refused', problem: expect.stringMatching(problem) }),
    ])
  }
  const whole = archiveWith(entries)
  const turned = whole.slice()
  turned[600] = (turned[600] ?? 0) ^ 1
  const places = [
    ['a byte that was turned', turned, /is not what the manifest says|export.json|another archive/],
    ['an end that is missing', whole.subarray(0, whole.length - 2048), /cut off|does not end/],
    ['more behind the end', joinBytes([whole, new Uint8Array(512).fill(1)]), /does not end where it says/],
    ['no manifest', archiveWith(entries, { manifest: false }), /has no manifest/],
    ['no archive', new Uint8Array(4096).fill(65), /no octal number|no header/],
  ] as const
  for (const [name, bytes, problem] of places) {
    await uploadArchive(other, bytes)
    expect([name, await importEnd(other)]).toEqual([
      name,
      expect.objectContaining({ phase: 'refused', problem: expect.stringMatching(problem) }),
    ])
  }
  expect(await tracesOf(other.owner)).toEqual(before)
})

test('parts come in order, of their length, from their owner; an import is withdrawn before it is carried out', async () => {
  const [by, other] = [await client(), await client()]
  const bytes = new Uint8Array(PART + 1024)
  const begun = await (await by.ask('/api/import', { method: 'POST', body: { bytes: bytes.length } })).json<Standing>()
  const id = begun.import_id
  const status = async (who: Client, offset: number, part: Uint8Array) =>
    (await put(who, { id, offset, bytes: part })).status
  expect(await status(by, PART, bytes.subarray(PART))).toBe(409)
  expect(await status(by, 0, bytes.subarray(0, 100))).toBe(400)
  expect(await status(by, 0, bytes)).toBe(413)
  expect(await status(other, 0, bytes.subarray(0, PART))).toBe(404)
  expect(await status(by, 0, bytes.subarray(0, PART))).toBe(200)
  expect(await status(by, 0, bytes.subarray(0, PART))).toBe(409)
  expect((await by.json<Standing>('/api/import')).received).toBe(PART)
  const half = await client({ owner: by.owner, scopes: ['analysis'] })
  expect((await half.ask('/api/import')).status).toBe(403)
  expect((await by.ask('/api/import', { method: 'POST', body: { bytes: 2 ** 50 } })).status).toBe(413)
  expect(await by.json('/api/import', { method: 'DELETE' })).toBe(true)
  for (const method of ['GET', 'DELETE']) expect((await by.ask('/api/import', { method })).status).toBe(404)
  expect((await env.FILES.list({ prefix: `imports/${by.owner}/` })).objects).toEqual([])
})

test('an import that is broken off anywhere goes on, and nothing is there twice', async () => {
  const { by, chat } = await someone()
  const archive = await archiveOf(by)
  const other = await client({ owner: `taker-${crypto.randomUUID()}` })
  const attempts = await runInDurableObject(ownerOf(env, other.owner), async (_, { storage }) => {
    migrate(storage, MIGRATIONS)
    const allowed = () => ({ conversations: 100, bytes: 1_000_000_000 })
    const at = (lives: number) => {
      const dying = mortal(lives)
      return new Imports({ env: () => dying, storage, books: new ConversationBooks(storage), allowed })
    }
    await handedIn(at(1_000), other.owner, archive)
    for (let lives = 1, tries = 0; tries < 2_000; lives = 1 + (tries % 12), tries += 1) {
      const one = at(lives)
      await one.work()
      if (one.standing?.phase === 'done') return tries
      storage.sql.exec('UPDATE import_job SET failures = 0')
    }
    throw new Error(`it does not come to an end: ${JSON.stringify(at(1).standing)}`)
  })
  expect(attempts).toBeGreaterThan(8)
  const again = entriesOf(await archiveOf(other))
  const before = entriesOf(archive)
  for (const { name } of IMPORTED_TABLES) {
    const wanted = part(before, `database/${name}`).filter((row) => name !== 'settings' || row.value !== null)
    expect([name, part(again, `database/${name}`).length]).toEqual([name, wanted.length])
  }
  expect(part(again, `conversations/${chat.id}/events`)).toEqual(part(before, `conversations/${chat.id}/events`))
})

test('a long conversation with large files, and many reports are imported', async () => {
  const [{ by, chat }, other] = [await someoneLarge(), await client()]
  const archive = await archiveOf(by)
  await uploadArchive(other, archive)
  expect(await importEnd(other)).toMatchObject({
    phase: 'done',
    conversations: 1,
    events: SIZES.events,
    rows: { analyses: SIZES.reports },
  })
  const [before, after] = [entriesOf(archive), entriesOf(await archiveOf(other))]
  const of = (entries: Entries) => [...entries].filter(([path]) => path.startsWith(`conversations/${chat.id}/files/`))
  expect(of(after).map(([path, bytes]) => [path, sha256(bytes)])).toEqual(
    of(before).map(([path, bytes]) => [path, sha256(bytes)]),
  )
  expect(part(after, `conversations/${chat.id}/events`)).toEqual(part(before, `conversations/${chat.id}/events`))
})
