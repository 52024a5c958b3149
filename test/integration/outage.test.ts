// The index of conversations is away for a while, as conversations are made, renamed, closed and deleted. Nothing of that
// waits for it; when it is back it tells the truth, and of what was deleted nothing is left.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'

/** `late`: what is sent is written, and its sender hears that it was not. `silent`: there is no answer. */
type Weather = 'up' | 'down' | 'late' | 'silent'

type Faulty = { set(weather: Weather): void; refused(): number }

const REAL = Symbol('the statement behind it')

/** Puts a database in the way of the Worker and its objects that fails as it is told, until the test is over. */
function faultyDatabase(): Faulty {
  const { DB } = env
  let [weather, refused]: [Weather, number] = ['up', 0]
  const send = async (work: () => Promise<unknown>): Promise<unknown> => {
    if (weather === 'silent') return new Promise(() => {})
    const answer = weather === 'down' ? null : await work()
    if (weather === 'up') return answer
    refused += 1
    throw new Error('D1_ERROR: Network connection lost.')
  }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(real, {
      get: (_, name) => {
        if (name === REAL) return real
        if (name === 'bind') return (...values: unknown[]) => statement(real.bind(...values))
        const method = Reflect.get(real, name) as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => send(() => method.apply(real, args))
      },
    })
  const faulty = {
    prepare: (query: string) => statement(DB.prepare(query)),
    batch: (statements: D1PreparedStatement[]) =>
      send(() => DB.batch(statements.map((each) => Reflect.get(each, REAL) as D1PreparedStatement))),
  }
  Object.assign(env, { DB: faulty })
  onTestFinished(() => void Object.assign(env, { DB }))
  return {
    set: (next) => {
      weather = next
    },
    refused: () => refused,
  }
}

/** Asks with a key that the Worker goes on knowing when it cannot look it up. */
async function ask(by: Client, path: string, { method = 'GET', body }: { method?: string; body?: unknown } = {}) {
  const headers = { 'x-session-api-key': by.key, 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await request(`/api/conversations${path}`, init, { KEY_CACHE_SECONDS: '3600' })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> }
}

type Listed = { conversation_id: string; title: string; status: string }

async function listed(by: Client): Promise<Record<string, string>> {
  const { results } = (await ask(by, '')).body as { results: Listed[] }
  return Object.fromEntries(results.map((each) => [each.conversation_id, `${each.title} ${each.status}`]))
}

/** Longer than the longest back-off. */
const LATER_MS = 400_000

/** Lets time pass, loses what the objects have in memory, and has them do what is due. */
async function later(by: Client, ids: readonly string[], pass: (ms: number) => void): Promise<void> {
  pass(LATER_MS)
  for (const id of ids) {
    const stub = conversation(env, by.owner, id)
    await evictDurableObject(stub)
    await runDurableObjectAlarm(stub)
  }
}

const tablesOf = (by: Client, id: string) =>
  runInDurableObject(conversation(env, by.owner, id), (_, { storage }) =>
    storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
  )

const DURING = ['before', 'doomed', 'made', 'brief', 'again']

for (const weather of ['down', 'late'] as const) {
  test(`with the database ${weather}, conversations are made, renamed, stopped and deleted, and the list catches up`, async () => {
    const pass = movableClock()
    const db = faultyDatabase()
    const ann = await client()
    const make = (id: string) => ask(ann, '', { method: 'POST', body: { conversation_id: id } })
    const rename = (id: string, title: string) => ask(ann, `/${id}`, { method: 'PATCH', body: { title } })
    const remove = (id: string) => ask(ann, `/${id}`, { method: 'DELETE' })
    for (const id of ['before', 'doomed']) expect((await make(id)).status).toBe(200)
    expect(Object.keys(await listed(ann)).sort()).toEqual(['before', 'doomed'])

    db.set(weather)
    expect((await rename('before', 'Renamed in the dark')).body).toBe(true)
    expect((await remove('doomed')).body).toBe(true)
    expect(await make('made')).toMatchObject({ status: 200, body: { conversation_status: 'RUNNING' } })
    expect((await rename('made', 'Made in the dark')).body).toBe(true)
    expect((await ask(ann, '/made/stop', { method: 'POST' })).body).toMatchObject({ conversation_status: 'STOPPED' })
    await make('brief')
    expect((await remove('brief')).body).toBe(true)
    // Of two of one id, one after the other, only the second stays.
    await make('again')
    await rename('again', 'The first')
    await remove('again')
    await make('again')
    await rename('again', 'The second')
    expect(db.refused()).toBeGreaterThan(5)

    // Everything goes on as if nothing were wrong, but for what only the index can tell.
    const event = { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } }
    expect((await ask(ann, '/again/events', { method: 'POST', body: event })).status).toBe(200)
    expect(JSON.stringify((await ask(ann, '/again/events?limit=100')).body)).toContain('user_confirmed')
    expect((await ask(ann, '/doomed')).body).toBeNull()
    expect((await ask(ann, '/brief/events')).status).toBe(404)
    const list = await ask(ann, '')
    expect([list.status, list.body]).toEqual([
      503,
      { detail: expect.stringContaining('The database cannot be reached') },
    ])
    // Tries in vain, and is evicted again and again.
    for (let i = 0; i < 3; i++) await later(ann, DURING, pass)

    db.set('up')
    // What backs off for minutes is there for its author at once.
    await rename('before', 'Renamed in the light')
    expect(await listed(ann)).toMatchObject({ before: 'Renamed in the light RUNNING' })
    await later(ann, DURING, pass)
    expect(await listed(ann)).toEqual({
      before: 'Renamed in the light RUNNING',
      made: 'Made in the dark STOPPED',
      again: 'The second RUNNING',
    })
    for (const id of ['doomed', 'brief']) expect(await tablesOf(ann, id), id).toEqual([])
    const events = (await ask(ann, '/again/events?limit=100')).body.events as { id: number }[]
    expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i))
  })
}

test('a database that never answers holds a change up for no longer than the wait, and the change has happened', async () => {
  const db = faultyDatabase()
  const ann = await client()
  await ask(ann, '', { method: 'POST', body: { conversation_id: 'held' } })
  db.set('silent')
  expect((await ask(ann, '/held', { method: 'PATCH', body: { title: 'Unheard' } })).body).toBe(true)
  expect((await ask(ann, '/held')).body).toMatchObject({ title: 'Unheard' })
})

test('a database without its tables is a 503 that names the command which makes them', async () => {
  const someone = await client()
  const { DB } = env
  const bare = {
    prepare: () => {
      throw new Error('D1_ERROR: no such table: settings: SQLITE_ERROR')
    },
  }
  Object.assign(env, { DB: bare })
  onTestFinished(() => void Object.assign(env, { DB }))
  for (const path of ['/api/settings', '/api/v1/history', '/api/conversations']) {
    const headers = { 'x-session-api-key': someone.key }
    const answer = await request(path, { headers }, { KEY_CACHE_SECONDS: '3600' })
    expect([path, answer.status, await answer.text()]).toEqual([
      path,
      503,
      expect.stringContaining('d1 migrations apply'),
    ])
  }
})
