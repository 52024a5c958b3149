// What is open on a key when the key ends: sockets of both protocols and task streams, whatever stood for the key.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import type { Owner } from '../../durable-objects/owner/owner.ts'
import { conversation, owner as ownerObject, taskQueue } from '../../src/bindings.ts'
import { type Client, client, ROOT_KEY, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'
import { type Chat, openIo, startConversation } from '../helpers/conversation.ts'
import { ioSocket, rawSocket, type TestSocket, testSocket } from '../helpers/sockets.ts'
import { openStream } from './task-events.ts'

const UPGRADE = { upgrade: 'websocket' }
const REVOKED = { type: 'closed', code: 1008, reason: 'the key was revoked' }
const EXPIRED = { type: 'closed', code: 1008, reason: 'the key has expired' }
const BY = { actor: 'root', at: '2026-01-01T00:00:00.000000Z' }

const revoke = ({ keyId }: Client) =>
  request(`/api/keys/${keyId}`, { method: 'DELETE', headers: { 'x-session-api-key': ROOT_KEY } })

const stubOf = ({ owner, id }: Chat) => conversation(env, owner.owner, id)
const isClosed = ({ frames }: TestSocket) => frames.at(-1)?.type === 'closed'
const bodyOf = (chat: Chat) => chat.owner.json<{ session_api_key: string }>(chat.path)
const saidBy = async (chat: Chat) => JSON.stringify(await chat.events())

/** A second key of the same owner. */
const another = (chat: Chat) => client({ owner: chat.owner.owner })

/** Opens the conversation's plain socket as somebody else would. */
const openAs = async (chat: Chat, headers: Record<string, string>, vars = {}) =>
  request(`${chat.path}/ws`, { headers: { ...UPGRADE, ...headers } }, vars)

async function cookieOf({ key }: Client): Promise<Record<string, string>> {
  const answer = await request('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { cookie, origin: 'http://bellwether.test' }
}

test('a revoked key loses its plain, Socket.IO, token and cookie sockets and its stream; other keys keep theirs', async () => {
  const chat = await startConversation()
  await chat.settled()
  const sibling = await another(chat)
  const plain = await chat.connect()
  const io = await chat.connectIo(-1)
  const byToken = testSocket(await openAs(chat, { 'x-session-api-key': (await bodyOf(chat)).session_api_key }))
  const byCookie = testSocket(await openAs(chat, await cookieOf(chat.owner)))
  const kept = testSocket(await openAs(chat, { 'x-session-api-key': sibling.key }))
  const stream = await openStream(chat.owner.key)
  const keptStream = await openStream(sibling.key)
  await io.until(({ texts }) => texts.some((text) => text.startsWith('40')))
  await stream.until(({ event }) => event === 'connected')
  await keptStream.until(({ event }) => event === 'connected')
  // Nobody has to be awake for it.
  await evictDurableObject(stubOf(chat))
  await evictDurableObject(taskQueue(env))

  expect((await revoke(chat.owner)).status).toBe(200)
  for (const socket of [plain, byToken, byCookie]) {
    await socket.until(isClosed)
    expect(socket.frames.slice(-2)).toEqual([{ type: 'closing', reason: REVOKED.reason }, REVOKED])
  }
  await io.until(({ closed }) => closed !== null)
  expect([io.texts.at(-1), io.closed]).toEqual(['41', { code: 1008, reason: REVOKED.reason }])
  const last = await stream.until(({ event }) => event === 'closing')
  expect(last.data).toEqual({ reason: REVOKED.reason })
  await expect(stream.until(() => false)).rejects.toThrow('the stream ended')

  kept.send({ action: 'run', args: { command: 'echo still here' }, ref: 'a' })
  await kept.until(({ frames }) => frames.some(({ type }) => type === 'ack'))
  const submitted = { method: 'POST', body: { stock_code: 'AAPL', async_mode: true } }
  expect((await sibling.ask('/api/v1/analysis/analyze', submitted)).status).toBe(202)
  await keptStream.until(({ event }) => event === 'task_created')
  expect(stream.frames.some(({ event }) => event === 'task_created')).toBe(false)
  keptStream.close()
  kept.close()
  expect((await revoke(chat.owner)).status).toBe(404)
})

test('a key of which an isolate still thinks well opens nothing once it is revoked', async () => {
  const chat = await startConversation()
  const { key, keyId, owner } = chat.owner
  const vars = { KEY_CACHE_SECONDS: '3600' }
  const ask = (path: string, headers = {}) => request(path, { headers: { 'x-session-api-key': key, ...headers } }, vars)
  expect((await ask(chat.path)).status).toBe(200)
  expect(await ownerObject(env, owner).revokeKey(keyId, BY)).toBe(true)
  expect((await ask(chat.path)).status).toBe(200)
  expect((await ask(`${chat.path}/ws`, UPGRADE)).status).toBe(401)
  expect((await ask('/api/v1/analysis/tasks/stream')).status).toBe(401)
  const query = new URLSearchParams({ EIO: '4', transport: 'websocket', conversation_id: chat.id })
  const refused = rawSocket(await ask(`/socket.io/?${query}`, UPGRADE))
  refused.send('40')
  await refused.until(() => refused.closed !== null)
  expect(refused.texts.at(-1)).toBe('44{"message":"invalid_session_api_key"}')
})

test('a message is taken up only if its key is good, should the word of its end have been lost', async () => {
  const advance = movableClock()
  const chat = await startConversation()
  await chat.settled()
  const viewer = await another(chat)
  const plain = await chat.connect()
  const io = await chat.connectIo(-1)
  await plain.until(({ frames }) => frames.some(({ type }) => type === 'ready'))
  await runInDurableObject(ownerObject(env, chat.owner.owner), (_, { storage }) => {
    storage.sql.exec('INSERT INTO ended_keys VALUES (?, 0, NULL)', chat.owner.keyId)
  })
  advance(4_000)
  plain.send({ action: 'run', args: { command: 'echo from the plain one' } })
  plain.send({ action: 'run', args: { command: 'echo at once again' } })
  io.emit('oh_user_action', { action: 'run', args: { command: 'echo over the other' } })
  await plain.until(isClosed)
  expect(plain.frames.at(-1)).toEqual(REVOKED)
  await io.until(({ closed }) => closed !== null)
  const { events } = await viewer.json<{ events: unknown[] }>(`${chat.path}/events?limit=100&include_types=run`)
  expect(events).toEqual([])
})

test('while the key cannot be checked nothing is taken up, and the client is to come again', async () => {
  const advance = movableClock()
  const chat = await startConversation()
  await chat.settled()
  const plain = await chat.connect()
  await plain.until(({ frames }) => frames.some(({ type }) => type === 'ready'))
  const away = {
    idFromName: () => ({}),
    get: () => ({ holdSockets: () => Promise.reject(new Error('away')) }),
  }
  const mend = await runInDurableObject(stubOf(chat), (instance) => {
    const before = Reflect.get(instance, 'env') as Env
    const room = (env as Env & { OWNER: unknown }).OWNER
    Object.defineProperty(before, 'OWNER', { value: away, configurable: true, writable: true })
    return () => Object.defineProperty(before, 'OWNER', { value: room, configurable: true, writable: true })
  })
  onTestFinished(() => void mend())
  advance(4_000)
  plain.send({ action: 'run', args: { command: 'echo unheard' } })
  await plain.until(isClosed)
  expect(plain.frames.at(-1)).toEqual({ type: 'closed', code: 1013, reason: 'the key could not be checked' })
  expect((await chat.owner.ask(`${chat.path}/ws`, { headers: UPGRADE })).status).toBe(503)
  mend()
  expect(await saidBy(chat)).not.toContain('unheard')
  const back = await chat.connect()
  back.send({ action: 'run', args: { command: 'echo heard' }, ref: 'b' })
  await back.until(({ frames }) => frames.some(({ type }) => type === 'ack'))
  back.close()
})

test('an expired key loses everything by the alarms of the objects that hold it, and hears nothing before they ring', async () => {
  const advance = movableClock()
  const endsAt = Date.now() + 300_000
  const brief = await client({ expires_at: new Date(endsAt).toISOString() })
  const chat = await startConversation({}, await client({ owner: brief.owner }))
  await chat.settled()
  const byBrief = { 'x-session-api-key': brief.key }
  const [first, second, third] = [
    testSocket(await openAs(chat, byBrief)),
    testSocket(await openAs(chat, byBrief)),
    ioSocket(await openIo(brief, { conversation_id: chat.id, latest_event_id: '-1' })),
  ]
  third.send('40')
  const lasting = await chat.connect()
  const stream = await openStream(brief.key)
  for (const socket of [first, second, lasting]) {
    await socket.until(({ frames }) => frames.some(({ type }) => type === 'ready'))
  }
  await stream.until(({ event }) => event === 'connected')
  await evictDurableObject(stubOf(chat))

  // The clock runs on: what is to happen before the end has 15 s, however long the preparations took.
  advance(endsAt - Date.now() - 15_000)
  await runDurableObjectAlarm(stubOf(chat))
  first.send({ action: 'run', args: { command: 'echo in time' }, ref: 'a' })
  await first.until(({ frames }) => frames.some(({ type }) => type === 'ack'))
  await chat.settled()

  advance(Math.max(0, endsAt - Date.now()) + 1)
  lasting.send({ action: 'run', args: { command: 'echo behind its back' }, ref: 'c' })
  await lasting.until(({ frames }) => frames.some(({ ref }) => ref === 'c'))
  await runDurableObjectAlarm(taskQueue(env))
  for (const socket of [first, second]) {
    await socket.until(isClosed)
    expect(socket.frames.at(-1)).toEqual(EXPIRED)
    expect(JSON.stringify(socket.frames)).not.toContain('behind its back')
  }
  await third.until(({ closed }) => closed !== null)
  expect([third.texts.at(-1), third.closed?.code]).toEqual(['41', 1008])
  expect((await stream.until(({ event }) => event === 'closing')).data).toEqual({ reason: EXPIRED.reason })
  lasting.close()
})

test('the alarm of an object that sleeps closes what has expired, and a message that is faster is not heard', async () => {
  const advance = movableClock()
  const brief = await client({ expires_at: new Date(Date.now() + 300_000).toISOString() })
  const chat = await startConversation({}, await client({ owner: brief.owner }))
  const socket = testSocket(await openAs(chat, { 'x-session-api-key': brief.key }))
  await socket.until(({ frames }) => frames.some(({ type }) => type === 'ready'))
  const hasty = await startConversation({}, chat.owner)
  const late = testSocket(await openAs(hasty, { 'x-session-api-key': brief.key }))
  await late.until(({ frames }) => frames.some(({ type }) => type === 'ready'))
  await evictDurableObject(stubOf(chat))
  advance(300_001)
  await runDurableObjectAlarm(stubOf(chat))
  await socket.until(isClosed)
  expect(socket.frames.at(-1)).toEqual(EXPIRED)
  late.send({ action: 'run', args: { command: 'echo too late' } })
  await late.until(isClosed)
  expect(late.frames.at(-1)).toEqual(EXPIRED)
  expect(await saidBy(hasty)).not.toContain('too late')
})

test('a revocation that was begun is brought to its end, whatever was away in the middle of it', async () => {
  const chat = await startConversation()
  const plain = await chat.connect()
  const stub = ownerObject(env, chat.owner.owner)
  const broken = () => {
    throw new Error('D1_ERROR: away')
  }
  await runInDurableObject(stub, async (object) => {
    const instance = object as Owner
    const before = Reflect.get(instance, 'env') as Env
    Reflect.set(instance, 'env', {
      ...before,
      DB: { prepare: broken, batch: broken },
      CONVERSATION: { idFromString: broken },
    })
    await expect(instance.revokeKey(chat.owner.keyId, BY)).rejects.toThrow('away')
    Reflect.set(instance, 'env', before)
  })
  expect((await chat.owner.ask(chat.path)).status).toBe(200)
  await runDurableObjectAlarm(stub)
  await plain.until(isClosed)
  expect(plain.frames.at(-1)).toEqual(REVOKED)
  await expect.poll(async () => (await chat.owner.ask(chat.path)).status).toBe(401)
})

test('sockets that have gone are given back, and an owner with too many is told which limit it is', async () => {
  const chat = await startConversation()
  const stub = ownerObject(env, chat.owner.owner)
  await runInDurableObject(stub, (instance) => {
    const before = Reflect.get(instance, 'env') as Env
    Reflect.set(instance, 'env', { ...before, MAX_SOCKETS_PER_OWNER: '2' })
  })
  const used = () =>
    runInDurableObject(stub, (_, { storage }) => storage.sql.exec('SELECT SUM(sockets) AS n FROM held_sockets').one().n)
  const [one, two] = [await chat.connect(), await chat.connectIo(-1)]
  expect(await used()).toBe(2)
  const refused = await chat.owner.ask(`${chat.path}/ws`, { headers: UPGRADE })
  expect(refused.status).toBe(429)
  expect(await refused.json()).toEqual({
    message: 'The limit "sockets" is reached: 2 of 2 are used. Close a socket that nobody follows any more.',
    limit: 'sockets',
    used: 2,
    allowed: 2,
  })
  const io = ioSocket(await openIo(chat.owner, { conversation_id: chat.id }))
  io.send('40')
  await io.until(({ closed }) => closed !== null)
  expect(io.texts.at(-1)).toContain('The limit \\"sockets\\" is reached')
  one.close()
  two.close()
  await expect.poll(used).toBe(null)
  // One that died without a word is found out when it matters.
  await runInDurableObject(stub, (_, { storage }) => {
    const dead = conversation(env, chat.owner.owner, 'gone').toString
    const holder = env.CONVERSATION.idFromName(String(dead)).toString()
    storage.sql.exec("INSERT INTO held_sockets VALUES ('', ?, 2)", holder)
  })
  movableClock()(20_000)
  const again = await chat.connect()
  expect(await used()).toBe(1)
  again.close()
})

test('a key has as many streams as it may, an owner too, and each that ends makes room', async () => {
  const ann = await client()
  const sibling = await client({ owner: ann.owner })
  const open = (key: string) => openStream(key)
  const streams = await Promise.all(Array.from({ length: 50 }, () => open(ann.key)))
  for (const { response } of streams) expect(response.status).toBe(200)
  const refused = await ann.ask('/api/v1/analysis/tasks/stream')
  expect([refused.status, await refused.json()]).toEqual([
    429,
    {
      error: 'rate_limited',
      message: 'The limit "streams_per_key" is reached: 50 of 50 are used. Close a stream that nobody reads any more.',
      limit: 'streams_per_key',
      used: 50,
      allowed: 50,
    },
  ])
  const others = await Promise.all(Array.from({ length: 50 }, () => open(sibling.key)))
  const full = await sibling.ask('/api/v1/analysis/tasks/stream')
  expect([full.status, await full.json()]).toMatchObject([429, { limit: 'streams', used: 100, allowed: 100 }])
  const bob = await openStream((await client()).key)
  await bob.until(({ event }) => event === 'connected')
  bob.close()
  streams[0]?.close()
  await expect.poll(async () => (await ann.ask('/api/v1/analysis/tasks/stream')).status).toBe(200)
  for (const stream of [...streams.slice(1), ...others]) stream.close()
})

test('where no room is left, streams without a client are found out and make room', async () => {
  const ann = await client()
  const sibling = await client({ owner: ann.owner })
  const query = new URLSearchParams({ owner: ann.owner, key: ann.keyId })
  const openSocket = async () => {
    const answer = await taskQueue(env).fetch(`http://task-queue/stream?${query}`, { headers: UPGRADE })
    const socket = answer.webSocket
    if (socket === null) throw new Error(`no socket: ${answer.status}`)
    socket.binaryType = 'arraybuffer'
    socket.accept()
    return socket
  }
  const [gone, ...there] = await Promise.all(Array.from({ length: 50 }, openSocket))
  const used = async (who: Client) => {
    const { limits } = await who.json<{ limits: { limit: string; used: number; allowed: number }[] }>('/api/usage')
    return limits.filter(({ limit }) => limit.startsWith('streams')).map(({ used, allowed }) => [used, allowed])
  }
  expect(await used(ann)).toEqual([
    [50, 100],
    [50, 50],
  ])
  expect((await used(sibling))[1]).toEqual([0, 50])
  // As an edge Worker whose client left without a word: it notices with the next write.
  gone?.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') throw new Error('the frames come in bytes')
    if (new TextDecoder().decode(data).startsWith('event: heartbeat\ndata: {"timestamp":"'))
      gone.close(1000, 'client left')
  })
  const opened: Awaited<ReturnType<typeof openStream>>[] = []
  await expect
    .poll(async () => {
      const stream = await openStream(ann.key)
      if (stream.response.status === 200) opened.push(stream)
      return stream.response.status
    })
    .toBe(200)
  expect((await used(ann))[1]).toEqual([50, 50])
  for (const socket of there) socket.close(1000, 'the test is over')
  for (const stream of opened) stream.close()
})
