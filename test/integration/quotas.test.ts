// What one owner may have, and what one is told who has it all.

import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Owner } from '../../durable-objects/owner/owner.ts'
import { conversation, owner as ownerObject } from '../../src/bindings.ts'
import { saveConversation } from '../../src/db/conversations.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'
import { startConversation } from '../helpers/conversation.ts'
import { heldTimers } from '../helpers/timers.ts'

type Limit = { limit: string; used: number; allowed: number; unit: string; resets_at: string | null }

async function usageOf(who: Client): Promise<Record<string, Limit>> {
  const { limits } = await who.json<{ limits: Limit[] }>('/api/usage')
  return Object.fromEntries(limits.map((limit) => [limit.limit, limit]))
}

const usedOf = async (who: Client, limit: string) => (await usageOf(who))[limit]?.used

/** Has the owner's object go by other variables. */
async function limitTo(who: Client, vars: Record<string, string>): Promise<void> {
  await runInDurableObject(ownerObject(env, who.owner), (instance) => {
    Reflect.set(instance, 'env', { ...env, ...vars })
  })
}

const make = (who: Client, body: Record<string, unknown> = {}) =>
  who.ask('/api/conversations', { method: 'POST', body })

test('every limit is told with what is used and what may be, to any key, and nobody sees another owner’s', async () => {
  const ann = await client({ scopes: ['analysis'] })
  const usage = await usageOf(ann)
  expect(Object.keys(usage)).toEqual([
    'conversations',
    'stored_bytes',
    'sockets',
    'streams',
    'streams_per_key',
    'open_analyses',
    'analyses_per_day',
    'feedback',
    'large_body_bytes',
  ])
  for (const { used, allowed } of Object.values(usage)) expect([used, allowed > 0]).toEqual([0, true])
  expect(usage.analyses_per_day?.resets_at).toMatch(/T00:00:00\.000000Z$/)
  const queued = { method: 'POST', body: { stock_code: 'AAPL', async_mode: true } }
  expect((await ann.ask('/api/v1/analysis/analyze', queued)).status).toBe(202)
  expect((await ann.ask('/api/v1/analysis/analyze', { ...queued, body: { stock_code: 'MSFT' } })).status).toBe(200)
  expect(await usedOf(ann, 'analyses_per_day')).toBe(2)
  await expect.poll(() => usedOf(ann, 'open_analyses')).toBe(0)
  expect(await usedOf(await client(), 'analyses_per_day')).toBe(0)
  expect((await request('/api/usage')).status).toBe(401)
})

test('an owner has as many conversations as may be; deleting one makes room, and a failed creation takes none', async () => {
  const ann = await client()
  await limitTo(ann, { MAX_CONVERSATIONS_PER_OWNER: '2' })
  const first = await ann.json<{ conversation_id: string }>('/api/conversations', { method: 'POST', body: {} })
  expect((await make(ann, { conversation_id: 'mine', suggested_task: 'nonsense' })).status).toBe(422)
  expect((await make(ann, { replay_json: 'nonsense' })).status).toBe(422)
  await expect.poll(() => usedOf(ann, 'conversations')).toBe(1)
  expect((await make(ann, { conversation_id: 'mine' })).status).toBe(200)
  const refused = await make(ann)
  expect([refused.status, await refused.json()]).toEqual([
    429,
    {
      message:
        'The limit "conversations" is reached: 2 of 2 are used. Delete conversations that are not needed any more.',
      limit: 'conversations',
      used: 2,
      allowed: 2,
    },
  ])
  const fork = { method: 'POST', body: { event_id: 1 } }
  expect((await ann.ask('/api/conversations/mine/fork', fork)).status).toBe(429)
  // Joining makes nothing.
  expect((await make(ann, { conversation_id: 'mine' })).status).toBe(200)
  expect((await ann.ask(`/api/conversations/${first.conversation_id}`, { method: 'DELETE' })).status).toBe(200)
  await expect.poll(() => usedOf(ann, 'conversations')).toBe(1)
  expect((await make(ann)).status).toBe(200)
})

test('conversations from before the books count, and a reservation that nothing came of is given back', async () => {
  const ann = await client()
  const at = '2026-01-01T00:00:00.000000Z'
  const nothing = {
    runtimeStatus: null,
    agentState: null,
    selectedRepository: null,
    selectedBranch: null,
    gitProvider: null,
  }
  const row = { owner: ann.owner, title: 'old', createdAt: at, lastUpdatedAt: at, status: 'STOPPED' as const }
  await saveConversation(env.DB, { ...row, ...nothing, id: 'old', trigger: 'gui', numConnections: 0, prNumber: [] }, 1)
  expect(await usedOf(ann, 'conversations')).toBe(1)
  await limitTo(ann, { MAX_CONVERSATIONS_PER_OWNER: '2' })
  const pass = movableClock()
  const stub = ownerObject(env, ann.owner)
  // Whoever made it died before there was a conversation.
  expect(await stub.reserveConversation(ann.owner, 'never')).toEqual({ ok: true, isFresh: true })
  expect(await stub.reserveConversation(ann.owner, 'never')).toEqual({ ok: true, isFresh: false })
  expect((await make(ann)).status).toBe(429)
  pass(61_000)
  expect((await make(ann, { conversation_id: 'new' })).status).toBe(200)
  // What is there is not taken for gone, confirmed or not.
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("UPDATE conversations SET reserved_at = 0 WHERE id = 'new'")
  })
  pass(601_000)
  await runDurableObjectAlarm(stub)
  expect(await usedOf(ann, 'conversations')).toBe(2)
  await stub.releaseConversation('new')
  expect(await usedOf(ann, 'conversations')).toBe(2)
})

test('what an owner stores is counted with what conversations report, and when it is too much nothing more is taken in', async () => {
  const chat = await startConversation()
  const { owner: ann } = chat
  await chat.settled()
  const upload = async () => {
    const form = new FormData()
    form.append('files', new File([new Uint8Array(3_000_000).fill(7)], 'large.bin'))
    return ann.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })
  }
  expect((await upload()).status).toBe(200)
  // Nothing else has to happen for it to count.
  expect(await usedOf(ann, 'stored_bytes')).toBeGreaterThan(3_000_000)
  expect((await chat.post('run', { command: 'true' })).status).toBe(200)
  const report = () => runDurableObjectAlarm(conversation(env, ann.owner, chat.id))
  await expect
    .poll(async () => {
      await report()
      return (await usedOf(ann, 'stored_bytes')) ?? 0
    })
    .toBeGreaterThan(3_000_000)
  await limitTo(ann, { MAX_STORED_BYTES_PER_OWNER: '2000000' })
  expect((await make(ann)).status).toBe(429)
  // The next report tells the conversation.
  const form = new FormData()
  form.append('files', new File([new Uint8Array(2_000_000).fill(8)], 'more.bin'))
  await ann.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })
  await chat.post('run', { command: 'true' })
  await expect
    .poll(async () => {
      await report()
      return (await upload()).status
    })
    .toBe(429)
  const refused = await chat.post('run', { command: 'echo more' })
  expect([refused.status, await refused.json()]).toMatchObject([429, { limit: 'stored_bytes', allowed: 2_000_000 }])
  const socket = await chat.connect()
  socket.send({ action: 'run', args: { command: 'echo more' }, ref: 'a' })
  await socket.until(({ frames }) => frames.some(({ type }) => type === 'error'))
  expect(socket.frames.find(({ type }) => type === 'error')?.message).toContain('The limit "stored_bytes" is reached')
  socket.close()
  await limitTo(ann, {})
  expect((await chat.post('run', { command: 'echo more' })).status).toBe(200)
})

test('who announces large bodies and sends nothing keeps nobody else out, and is told to send again', async () => {
  const idle = heldTimers(15_000)
  const silent = await Promise.all([client(), client(), client()])
  const stalled = silent.map(({ key }) => {
    const body = new ReadableStream<Uint8Array>({ start: (sender) => sender.enqueue(new Uint8Array([123])) })
    const headers = { 'x-session-api-key': key, 'content-length': '8388000', 'content-type': 'application/json' }
    return request('/api/conversations', { method: 'POST', headers, body })
  })
  await expect.poll(() => idle.waiting).toBe(3)
  // What an object sends to others has as long, and would end in the place of a body.
  idle.takeNoMore()
  const other = await startConversation()
  expect((await other.post('message', { content: 'x'.repeat(4_000_000) })).status).toBe(200)
  idle.goOff()
  for (const answer of await Promise.all(stalled)) {
    expect([answer.status, await answer.json()]).toEqual([
      408,
      { detail: 'The body did not come within 15 s; send the request again' },
    ])
  }
  expect(await Promise.all(silent.map((one) => usedOf(one, 'large_body_bytes')))).toEqual([0, 0, 0])
})

test('an owner gives as much feedback as may be', async () => {
  const chat = await startConversation()
  const vars = { MAX_FEEDBACK_PER_OWNER: '1' }
  const give = () =>
    request(
      `${chat.path}/submit-feedback`,
      {
        method: 'POST',
        headers: { 'x-session-api-key': chat.owner.key, 'content-type': 'application/json' },
        body: JSON.stringify({ polarity: 'positive' }),
      },
      vars,
    )
  const both = await Promise.all([give(), give()])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 429])
  const refused = await give()
  expect([refused.status, await refused.json()]).toMatchObject([429, { limit: 'feedback', used: 1, allowed: 1 }])
  expect(await usedOf(chat.owner, 'feedback')).toBe(1)
})

test('large bodies come in a few at a time, and an owner whose line is full is told to come back; others are not kept waiting', async () => {
  const chat = await startConversation()
  const { owner: ann } = chat
  const content = 'x'.repeat(4_000_000)
  const stub = ownerObject(env, ann.owner)
  const seen: number[] = []
  const take = Owner.prototype.takeBody
  const spy = vi.spyOn(Owner.prototype, 'takeBody').mockImplementation(async function (this: Owner, body) {
    const isIn = await take.call(this, body)
    seen.push((await this.usage(ann.owner)).bodyBytes)
    return isIn
  })
  onTestFinished(() => spy.mockRestore())
  const large = () => chat.post('message', { content })
  const answers = await Promise.all(Array.from({ length: 5 }, large))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(seen.length).toBe(5)
  expect(Math.max(...seen)).toBeLessThanOrEqual(8_388_608)
  expect(await usedOf(ann, 'large_body_bytes')).toBe(0)

  await stub.takeBody({ id: 'stuck', bytes: 99_000_000 })
  const line = Array.from({ length: 32 }, (_, i) => stub.takeBody({ id: `waiting ${i}`, bytes: 1 }))
  const refused = await large()
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
    429,
    '5',
    {
      message: expect.stringContaining('The limit "large_body_bytes" is reached'),
      limit: 'large_body_bytes',
      used: expect.any(Number),
      allowed: 8_388_608,
    },
  ])
  expect((await chat.post('message', { content: 'small' })).status).toBe(200)
  const other = await startConversation()
  expect((await other.post('message', { content })).status).toBe(200)
  await stub.leaveBody('stuck', false)
  expect(new Set(await Promise.all(line))).toEqual(new Set([true]))
  await Promise.all(line.map((_, i) => stub.leaveBody(`waiting ${i}`, false)))
  expect((await large()).status).toBe(200)
})
