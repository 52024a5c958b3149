// An owner with something of every kind that an import takes.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { CallQueue } from '../../durable-objects/conversation/turn/call-queue.ts'
import { conversation, feedbackKey, talkId } from '../../src/bindings.ts'
import { OWNED_TABLES } from '../../src/db/erasures.ts'
import { IMPORTED_TABLES } from '../../src/db/imports.ts'
import { type Client, client } from './app.ts'
import { type Chat, startConversation } from './conversation.ts'
import { database, fill } from './owned.ts'

export const LARGE = new Uint8Array(1_600_000).map((_, i) => (i * 7) % 251)
export const SESSION = 'about-one'

/** What makes rows of `fill` such as the service stores. */
const RIGHT: Readonly<Record<string, string>> = {
  model_calls: "call_type = 'agent'",
  feedback: "id = replace(id, ' ', '-'), created_at = '2026-11-01T00:00:00.000000Z'",
  portfolio_rates: "date = '2026-11-01', rate = '1.5'",
  portfolio_accounts: "created_at = '2026-11-01T00:00:00Z', updated_at = created_at",
  portfolio_events: "date = '2026-11-01', quantity = '2', amount = '3.25', fee = '0', tax = NULL",
  analyses: "report = '{}', skills = '[]', market_phase_summary = 'null', data_checks = NULL",
  analysis_snapshots: "context_snapshot = '{}', diagnostics = NULL",
  decision_signals:
    "words = '{}', key = 'AAPL', trace_id = NULL, source_report_id = (SELECT min(id) FROM analyses a WHERE a.owner = decision_signals.owner)",
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
  saved_screens: "enabled = 0, screen = '{}', schedule = NULL, channels = NULL, members = '[]'",
  screen_runs:
    "counts = '{}', fresh = '[]', streamed = 1, screen_id = (SELECT min(id) FROM saved_screens s WHERE s.owner = screen_runs.owner)",
  alert_rules: `enabled = 0, alert_type = 'price_cross', parameters = '{"direction":"above","price":5}', status = '{}', notification = '{}'`,
  alert_triggers:
    "facts = '{}', streamed = 1, rule_id = (SELECT min(id) FROM alert_rules r WHERE r.owner = alert_triggers.owner)",
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

/** Each judgement is about a signal of its own. */
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
