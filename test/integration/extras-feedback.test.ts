import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import { runAction } from '../../src/agent/actions.ts'
import { conversation, feedbackKey } from '../../src/bindings.ts'
import { type Client, request } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import type { StoredEvent } from '../helpers/sockets.ts'

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)
const submit = (chat: Chat, body: unknown, by: Client = chat.owner) =>
  by.ask(`${chat.path}/submit-feedback`, { method: 'POST', body })

type Answer = { statusCode: number; body: { message: string; feedback_id: string; password: string } }
type StoredFeedback = Record<string, unknown> & { trajectory: StoredEvent[] }

const rowsOf = async (chat: Chat) =>
  (await env.DB.prepare('SELECT * FROM feedback WHERE owner = ?').bind(chat.owner.owner).all()).results
const objectsOf = async (chat: Chat) =>
  (await env.FILES.list({ prefix: feedbackKey(chat.owner.owner, '').replace('.json', '') })).objects
const kept = async (chat: Chat, id: string): Promise<StoredFeedback> => {
  const stored = await env.FILES.get(feedbackKey(chat.owner.owner, id))
  return JSON.parse((await stored?.text()) ?? 'null') as StoredFeedback
}

test('feedback is kept with the visible events and a row, and answered in the shape that the client shows', async () => {
  const chat = await startConversation()
  await chat.settled()
  await runInDurableObject(stubOf(chat), (_, { storage }) => {
    new EventLog(storage.sql).append([runAction('agent', 'hidden', { hidden: true })])
  })
  await evictDurableObject(stubOf(chat))
  const sent = {
    polarity: 'negative',
    permissions: 'public',
    email: 'ann@example.com',
    version: '1.0',
    token: '',
    trajectory: [],
  }
  const response = await submit(chat, sent)
  expect(response.status).toBe(200)
  const { statusCode, body } = await response.json<Answer>()
  expect([statusCode, Object.keys(body).sort()]).toEqual([200, ['feedback_id', 'message', 'password']])
  // Nothing takes one, so none is handed out.
  expect(body.password).toBe('')
  const record = await kept(chat, body.feedback_id)
  expect(record).toMatchObject({
    feedback_id: body.feedback_id,
    conversation_id: chat.id,
    email: 'ann@example.com',
    version: '1.0',
    permissions: 'public',
    polarity: 'negative',
  })
  const visible = (await chat.events()).filter(({ args }) => !args?.hidden)
  expect(record.trajectory).toEqual(visible)
  expect(await rowsOf(chat)).toEqual([
    {
      id: body.feedback_id,
      owner: chat.owner.owner,
      conversation_id: chat.id,
      created_at: record.created_at,
      polarity: 'negative',
      permissions: 'public',
      password_hash: '',
    },
  ])
  await evictDurableObject(stubOf(chat))
  const second = await (await submit(chat, { polarity: 'positive', email: null })).json<Answer>()
  expect(second.body.feedback_id).not.toBe(body.feedback_id)
  expect(await kept(chat, second.body.feedback_id)).toMatchObject({ email: '', version: '', permissions: 'private' })
})

test('feedback without a judgement, or with one that is none, is a 422 that names it, and nothing is kept', async () => {
  const chat = await startConversation()
  const bad: [body: unknown, loc: string][] = [
    [{}, 'polarity'],
    [{ polarity: null }, 'polarity'],
    [{ polarity: 'maybe' }, 'polarity'],
    [{ polarity: 1 }, 'polarity'],
    [{ polarity: 'positive', permissions: 'secret' }, 'permissions'],
    [{ polarity: 'positive', email: 5 }, 'email'],
    [{ polarity: 'positive', email: 'x'.repeat(321) }, 'email'],
    [{ polarity: 'positive', version: ['1'] }, 'version'],
  ]
  for (const [body, loc] of bad) {
    const response = await submit(chat, body)
    const { detail } = await response.json<{ detail: { loc: unknown[] }[] }>()
    expect([body, response.status, detail.map((item) => item.loc)]).toEqual([body, 422, [['body', loc]]])
  }
  for (const body of [[], 'positive', null]) expect((await submit(chat, body)).status).toBe(422)
  expect([await rowsOf(chat), await objectsOf(chat)]).toEqual([[], []])
})

test('feedback on a long conversation is kept whole', async () => {
  const chat = await startConversation()
  await chat.settled()
  const before = (await chat.events()).length
  await runInDurableObject(stubOf(chat), (_, { storage }) => {
    const log = new EventLog(storage.sql)
    for (let i = 0; i < 20; i++) {
      log.append([{ source: 'agent', message: '', action: 'think', args: { thought: `${i} ${'贵'.repeat(300_000)}` } }])
    }
  })
  await evictDurableObject(stubOf(chat))
  const { body } = await (await submit(chat, { polarity: 'positive' })).json<Answer>()
  const [stored] = await objectsOf(chat)
  expect(stored?.size).toBeGreaterThan(18_000_000)
  const { trajectory } = await kept(chat, body.feedback_id)
  expect(trajectory.map(({ id }) => id)).toEqual(Array.from({ length: before + 20 }, (_, id) => id))
  expect(trajectory.at(-1)?.args?.thought).toBe(`19 ${'贵'.repeat(300_000)}`)
})

/** The environment with a part that fails. */
const without = (part: object) => part as unknown as Record<string, string>

const brokenBucket = new Proxy(env.FILES, {
  get: (bucket, name) =>
    name === 'put' ? () => Promise.reject(new Error('R2 is down')) : Reflect.get(bucket, name).bind(bucket),
})

const brokenDatabase = new Proxy(env.DB, {
  get: (db, name) => {
    if (name !== 'prepare') return Reflect.get(db, name).bind(db)
    return (query: string) => {
      if (query.includes('INSERT INTO feedback')) throw new Error('D1 is down')
      return db.prepare(query)
    }
  },
})

test('when it cannot be stored that is what the answer says, and nothing is left half done', async () => {
  const chat = await startConversation()
  for (const part of [{ FILES: brokenBucket }, { DB: brokenDatabase }]) {
    const init = {
      method: 'POST',
      headers: { 'x-session-api-key': chat.owner.key, 'content-type': 'application/json' },
      body: '{"polarity":"positive"}',
    }
    const response = await request(`${chat.path}/submit-feedback`, init, without(part))
    expect([response.status, await response.json()]).toEqual([500, { error: 'Failed to submit feedback' }])
  }
  expect([await rowsOf(chat), await objectsOf(chat)]).toEqual([[], []])
})

test('one conversation takes so much feedback and no more, and another of the same owner is not affected', async () => {
  const chat = await startConversation()
  const insert = env.DB.prepare("INSERT INTO feedback VALUES (?, ?, ?, '', 'positive', 'private', '')")
  await env.DB.batch(Array.from({ length: 49 }, (_, i) => insert.bind(`${chat.id}-${i}`, chat.owner.owner, chat.id)))
  expect((await submit(chat, { polarity: 'positive' })).status).toBe(200)
  const refused = await submit(chat, { polarity: 'positive' })
  expect([refused.status, await refused.json()]).toEqual([
    429,
    { message: 'There is enough feedback on this conversation' },
  ])
  const other = await startConversation({}, chat.owner)
  expect((await submit(other, { polarity: 'positive' })).status).toBe(200)
})

test('deleting a conversation takes all that is its own, and leaves the feedback on it, as the page on privacy says', async () => {
  const chat = await startConversation()
  const form = new FormData()
  form.append('files', new File([new Uint8Array(1_500_000)], 'large'))
  expect((await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })).status).toBe(200)
  const { body } = await (await submit(chat, { polarity: 'negative' })).json<Answer>()
  const record = await kept(chat, body.feedback_id)
  const own = async () => (await env.FILES.list({ prefix: `conversations/${chat.owner.owner}/` })).objects
  expect(await own()).toHaveLength(1)
  expect(await (await chat.owner.ask(chat.path, { method: 'DELETE' })).json()).toBe(true)
  expect(await own()).toEqual([])
  const index = env.DB.prepare('SELECT * FROM conversations WHERE owner = ?').bind(chat.owner.owner)
  expect((await index.all()).results).toEqual([])
  expect(await kept(chat, body.feedback_id)).toEqual(record)
  expect(await rowsOf(chat)).toMatchObject([{ id: body.feedback_id, conversation_id: chat.id }])
  expect((await submit(chat, { polarity: 'positive' })).status).toBe(404)
  // Nor does what uses the id again take it over.
  const again = await startConversation({ conversation_id: chat.id }, chat.owner)
  await again.owner.ask(again.path, { method: 'DELETE' })
  expect(await rowsOf(chat)).toHaveLength(1)
})
