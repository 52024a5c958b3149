// An owner with data of every kind that an import supports.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, inject } from 'vitest'
import { CallQueue } from '../../durable-objects/conversation/turn/call-queue.ts'
import type { Imports } from '../../durable-objects/owner/import/imports.ts'
import { conversation, feedbackKey, talkId } from '../../src/bindings.ts'
import { OWNED_TABLES } from '../../src/db/erasures.ts'
import { IMPORTED_TABLES } from '../../src/db/imports.ts'
import { type Client, client, request } from './app.ts'
import { exported } from './archive.ts'
import { type Chat, startConversation } from './conversation.ts'
import { database, fill } from './owned.ts'

export const LARGE = new Uint8Array(1_600_000).map((_, i) => (i * 7) % 251)
export const SESSION = 'about-one'

const WORDS = JSON.stringify({
  ...{ reason: 'it rises', catalystSummary: null, watchConditions: null, riskSummary: null, invalidation: null },
})

/** Corrects rows of `fill` so that they are valid rows of the service. */
const RIGHT: Readonly<Record<string, string>> = {
  model_calls: "call_type = 'agent'",
  feedback: "id = replace(id, ' ', '-'), created_at = '2026-11-01T00:00:00.000000Z'",
  portfolio_rates: "currency = 'USD', quote = 'CNY', date = '2026-11-1' || substr(date, -1), rate = '1.5'",
  portfolio_accounts: "market = 'us', base_currency = 'USD'",
  portfolio_events: `kind = 'trade', side = 'buy', symbol = 'AAPL', market = 'us', currency = 'USD', date = '2026-11-01', quantity = '2',
    amount = '3.25', fee = '0', tax = '0'`,
  analyses: "report = '{}', skills = '[]', market_phase_summary = 'null', data_checks = NULL",
  analysis_snapshots: "context_snapshot = '{}', diagnostics = NULL",
  decision_signals: `words = '${WORDS}', key = 'AAPL', market = 'us', source_type = 'manual', decision_profile = NULL, market_phase = NULL,
    made_on = '2026-11-01', anchor = '2026-11-01', action = 'buy', horizon = NULL, plan_quality = 'complete', status = 'active', expires_at = NULL,
    trace_id = NULL, source_report_id = (SELECT min(id) FROM analyses a WHERE a.owner = decision_signals.owner)`,
  signal_feedback: "feedback_value = 'useful'",
  watchlists: "note = 'mine', is_default = 0",
  watchlist_stocks: "key = 'AAPL'",
  schedules: `enabled = 0, plan = '${JSON.stringify({
    name: 'evening',
    what: { kind: 'analysis', stock_codes: ['AAPL'] },
    when: { times: ['18:00'], zone: 'UTC', days: ['mon'] },
  })}'`,
  schedule_runs:
    "task_ids = '[]', left_out = '[]', schedule_id = (SELECT min(id) FROM schedules s WHERE s.owner = schedule_runs.owner)",
  page_screenings: "result = '{}'",
  saved_screens: "language = 'en', enabled = 0, screen = '{}', schedule = NULL, channels = NULL, members = '[]'",
  screen_runs:
    "language = 'en', counts = '{}', fresh = '[]', streamed = 1, screen_id = (SELECT min(id) FROM saved_screens s WHERE s.owner = screen_runs.owner)",
  alert_rules: `target_scope = 'single_symbol', target = 'AAPL', severity = 'info', language = 'en', expires_at = NULL, last_triggered_at = NULL,
    cooldown_until = NULL, enabled = 0, alert_type = 'price_cross', parameters = '{"direction":"above","price":5}', status = '{}', notification = '{}'`,
  alert_triggers:
    "severity = 'info', facts = '{}', streamed = 1, rule_id = (SELECT min(id) FROM alert_rules r WHERE r.owner = alert_triggers.owner)",
}

async function seeded(owner: string): Promise<void> {
  for (const { name } of IMPORTED_TABLES) {
    if (name === 'settings') continue
    await fill(database, owner, name)
    if (name === 'signal_feedback') await aboutSignals(owner)
    const { whose } = OWNED_TABLES.find((table) => table.name === name) ?? { whose: '' }
    const columns = (await database(`SELECT name FROM pragma_table_info('${name}')`)).map((row) => String(row.name))
    const times = ['created_at', 'updated_at', 'triggered_at', 'ran_at'].filter((column) => columns.includes(column))
    const isText = name !== 'page_screenings'
    const right = [
      ...(RIGHT[name] === undefined ? [] : [RIGHT[name]]),
      ...(isText ? times.map((column) => `${column} = '2026-11-01T00:00:00.000000Z'`) : []),
    ]
    if (right.length > 0) await database(`UPDATE ${name} SET ${right.join(', ')} WHERE ${whose}`, owner)
  }
}

/** Each feedback row belongs to a different signal. */
async function aboutSignals(owner: string): Promise<void> {
  const signals = await database('SELECT id FROM decision_signals WHERE owner = ? ORDER BY id', owner)
  const judged = await database('SELECT signal_id AS id FROM signal_feedback WHERE owner = ? ORDER BY signal_id', owner)
  const query = 'UPDATE signal_feedback SET signal_id = ? WHERE owner = ? AND signal_id = ?'
  for (const [at, { id }] of judged.entries()) await database(query, signals[at]?.id ?? 0, owner, id ?? 0)
}

export async function someone(): Promise<{ by: Client; chat: Chat }> {
  const by = await client({ owner: `mover-${crypto.randomUUID()}` })
  const chat = await startConversation({ initial_user_msg: 'mkdir d; echo small > d/a.txt; ln -s a.txt d/link' }, by)
  await chat.settled()
  const form = new FormData()
  form.append('files', new File([LARGE], 'large.bin'))
  expect((await by.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })).status).toBe(200)
  await runInDurableObject(conversation(env, by.owner, chat.id), (_, { storage }) => {
    const calls = new CallQueue(storage.sql)
    calls.add({ text: 'I look', calls: [{ id: 'call_1', name: 'run', arguments: '{}' }], responseId: 'r' }, 1)
    calls.settle(1, { observationId: 2 })
  })
  const talk = { owner: by.owner, createdAt: '2026-11-01T00:00:00.000000Z', trigger: null, instructions: '' }
  const id = await talkId(by.owner, SESSION)
  const stub = conversation(env, by.owner, id)
  await stub.create({
    ...{ ...talk, id, repository: null, firstMessage: null, agent: 'ReadOnlyAgent', talk: { session: SESSION } },
  })
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("INSERT INTO talk_turns VALUES (0, 0, 'd', '[\"AAPL\"]', 0, 0, NULL, 'no answer')")
  })
  const settings = { llm_model: 'openai/x', llm_api_key: 'sk-canary', confirmation_mode: true }
  expect((await by.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const secret = { name: 'NPM_TOKEN', value: 'canary', description: 'of the registry' }
  expect((await by.ask('/api/secrets', { method: 'POST', body: secret })).status).toBe(201)
  await seeded(by.owner)
  const [one] = await database('SELECT id FROM feedback WHERE owner = ? LIMIT 1', by.owner)
  await env.FILES.put(feedbackKey(by.owner, String(one?.id)), '{"polarity":"positive"}')
  return { by, chat }
}

const [EVENTS, BYTES, THIRDS] = inject('isProof') ? [10_000, 10_000_000, 334] : [600, 1_500_000, 5]
/** The sizes of `someoneLarge`: number of events, bytes of each of three files, and number of reports. */
export const SIZES = { events: EVENTS + 1, bytes: BYTES, reports: 3 * THIRDS }

/** An owner with a long conversation, large files and many reports, as input for an import. */
export async function someoneLarge(): Promise<{ by: Client; chat: Chat }> {
  const by = await client({ owner: `large-${crypto.randomUUID()}` })
  const chat = await startConversation({}, by)
  await chat.settled()
  await runInDurableObject(conversation(env, by.owner, chat.id), (_, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE n (i) AS (SELECT (SELECT max(id) + 1 FROM events) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO events SELECT i, '2027-01-01T00:00:00.000000Z', 'agent', 'action:message', 0,
         json_object('id', i, 'timestamp', '2027-01-01T00:00:00.000000Z', 'source', 'agent', 'action', 'message',
           'args', json_object('content', hex(randomblob(500)))) FROM n`,
      EVENTS,
    )
  })
  // The object's in-memory copy of its log is outdated now.
  await evictDurableObject(conversation(env, by.owner, chat.id))
  for (let i = 0; i < 3; i += 1) {
    const form = new FormData()
    form.append('files', new File([crypto.getRandomValues(new Uint8Array(65_536)), new Uint8Array(BYTES)], `${i}.bin`))
    expect((await by.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })).status).toBe(200)
  }
  for (let i = 0; i < THIRDS; i += 1) await fill(database, by.owner, 'analyses')
  await database(
    `UPDATE analyses SET report = '{}', skills = NULL, market_phase_summary = NULL, data_checks = NULL,
       created_at = '2026-11-01T00:00:00Z' WHERE owner = ?`,
    by.owner,
  )
  return { by, chat }
}

export type Standing = {
  import_id: string
  phase: string
  problem: string | null
  received: number
  conversations: number
  rows: Record<string, number>
  left_out: Record<string, number>
  renamed: { from: string; to: string }[]
  secrets: { kind: string; name: string }[]
}

export const PART = 4 * 1024 * 1024

export async function archiveOf(by: Client): Promise<Uint8Array> {
  expect((await by.ask('/api/export', { method: 'POST' })).status).toBe(202)
  return (await exported(by)).archive
}

/** Uploads the whole archive, part by part. */
export async function uploadArchive(by: Client, archive: Uint8Array): Promise<Standing> {
  const begun = await by.ask('/api/import', { method: 'POST', body: { bytes: archive.length } })
  expect(begun.status).toBe(202)
  let standing = (await begun.json()) as Standing
  for (let at = 0; at < archive.length; at += PART) {
    const response = await put(by, { id: standing.import_id, offset: at, bytes: archive.subarray(at, at + PART) })
    expect(response.status).toBe(200)
    standing = (await response.json()) as Standing
    expect(standing.received).toBe(Math.min(at + PART, archive.length))
  }
  return standing
}

export const put = (by: Client, { id, offset, bytes }: { id: string; offset: number; bytes: Uint8Array }) =>
  request(`/api/import?import_id=${id}&offset=${offset}`, {
    method: 'PUT',
    headers: { 'x-session-api-key': by.key, 'content-type': 'application/octet-stream' },
    body: Uint8Array.from(bytes),
  })

/** The final state of the import. */
export async function importEnd(by: Client): Promise<Standing> {
  await expect
    .poll(async () => (await by.json<Standing>('/api/import')).phase, { timeout: 120_000 })
    .toMatch(/done|refused|failed/)
  return by.json<Standing>('/api/import')
}

/** Stores the archive as one part and reports it to the object. */
export async function handedIn(imports: Imports, owner: string, archive: Uint8Array): Promise<void> {
  expect(await imports.begin(owner, archive.length)).toBe('begun')
  const id = imports.standing?.id ?? ''
  const found = imports.partKey(id, 0)
  const key = typeof found === 'object' && 'key' in found ? found.key : ''
  await env.FILES.put(key, archive)
  await imports.notePart(id, { key, bytes: archive.length, offset: 0 })
}
