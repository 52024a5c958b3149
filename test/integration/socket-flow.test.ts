// A conversation with slow, dead and loud clients: whoever does not keep up costs a bounded amount of memory and delays
// nobody, and the count of connections is true all the while.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { movableClock } from '../helpers/clock.ts'
import { type Chat, openIo, startConversation } from '../helpers/conversation.ts'
import { ioSocket, type RawSocket, rawSocket, type TestSocket } from '../helpers/sockets.ts'

const MIB = 1024 * 1024
/** What one read of the log may add to it. */
const READ_BYTES = 256 * 1024

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)

/** Adds events of about so many bytes; their only effect is to be there. */
function append(chat: Chat, count: number, bytes: number): Promise<void> {
  return runInDurableObject(stubOf(chat), (instance) => {
    const object = instance as unknown as { addEvent(event: object, ref: null): unknown }
    const args = { agent_state: 'user_confirmed', thought: '茅'.repeat(Math.floor(bytes / 3)) }
    for (let i = 0; i < count; i++) {
      object.addEvent({ source: 'user', message: '', action: 'change_agent_state', args }, null)
    }
  })
}

async function after(ms: number, chat: Chat, pass: (ms: number) => void): Promise<void> {
  pass(ms)
  await runDurableObjectAlarm(stubOf(chat))
}

/** Until the object has heard all that this client has sent, its answer to a check too: frames of a socket are taken in order. */
async function heard(socket: TestSocket): Promise<void> {
  const errors = ({ frames }: TestSocket) => frames.filter(({ type }) => type === 'error').length
  const before = errors(socket)
  socket.send('no frame')
  await socket.until((s) => errors(s) > before)
}

/** Has the object hear all of this from its one client of a protocol in one go: as fast as it can come. */
function saidAtOnce(chat: Chat, said: (string | ArrayBuffer)[], by = 'plain'): Promise<void> {
  return runInDurableObject(stubOf(chat), (instance, state) => {
    const isMeant = (socket: WebSocket) => (socket.deserializeAttachment() as { protocol: string }).protocol === by
    const end = state.getWebSockets().find(isMeant)
    if (end === undefined) throw new Error('nobody is there')
    for (const one of said) instance.webSocketMessage?.(end, one)
  })
}

const connections = async (chat: Chat) => (await chat.owner.json(chat.path)).num_connections
const idsOf = (socket: TestSocket) => socket.events().map(({ id }) => id)
const bytesOf = (socket: TestSocket) => new TextEncoder().encode(JSON.stringify(socket.events())).length
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, id) => id)

test('a client that does not answer is sent about 1 MiB, delays nobody, and goes on where it was when it answers', async () => {
  const chat = await startConversation()
  const [prompt, slow] = [await chat.connect(), await chat.connect('', { answersChecks: false })]
  await append(chat, 100, 50_000)
  const last = (await chat.events('?reverse=true&limit=1'))[0]?.id ?? 0
  await prompt.until((s) => idsOf(s).length === last + 1)
  expect(idsOf(prompt)).toEqual(upTo(last))
  // Events may come a quarter of a second later, while another owner is at work.
  await slow.until((s) => bytesOf(s) > MIB - READ_BYTES)
  // Whatever was sent before this answer has arrived.
  slow.send({ type: 'ping' })
  await slow.until((s) => s.frames.some(({ type }) => type === 'pong'))
  expect(bytesOf(slow)).toBeLessThan(MIB + READ_BYTES)
  expect(slow.frames.filter(({ type }) => type === 'check')).toHaveLength(1)

  await evictDurableObject(stubOf(chat))
  await append(chat, 20, 50_000)
  await prompt.until((s) => s.events().at(-1)?.id === last + 20)
  const before = idsOf(slow).length
  slow.answerChecks()
  await slow.until((s) => s.events().at(-1)?.id === last + 20)
  expect(idsOf(slow)).toEqual(upTo(last + 20))
  expect(before).toBeLessThan(30)
  await slow.until((s) => s.frames.at(-1)?.type === 'ready' || s.frames.at(-2)?.type === 'ready')
  await append(chat, 1, 10)
  await slow.until((s) => s.events().at(-1)?.id === last + 21)
})

test('one event larger than what a client may owe is sent whole, and does not leave it behind', async () => {
  const chat = await startConversation()
  const socket = await chat.connect('', { answersChecks: false })
  await append(chat, 3, 60_000)
  await append(chat, 1, 3 * MIB)
  await append(chat, 3, 60_000)
  socket.answerChecks()
  await append(chat, 1, 10)
  const last = (await chat.events('?reverse=true&limit=1'))[0]?.id ?? 0
  await socket.until((s) => s.events().at(-1)?.id === last)
  expect(idsOf(socket)).toEqual(upTo(last))
})

test('over Socket.IO a client that owes too much waits for its pong, and gets the rest in its view', async () => {
  const chat = await startConversation()
  const slow = ioSocket(await openIo(chat.owner, { conversation_id: chat.id }), { answersPings: false })
  slow.send('40')
  await slow.until((s) => s.events().length > 0)
  await append(chat, 60, 50_000)
  const last = (await chat.events('?reverse=true&limit=1'))[0]?.id ?? 0
  slow.send('2probe')
  await slow.until(({ texts }) => texts.includes('3probe'))
  expect(slow.texts.filter((text) => text === '2')).toHaveLength(1)
  expect(slow.events().at(-1)?.id).toBeLessThan(last)
  slow.answerPings()
  await slow.until((s) => s.events().at(-1)?.id === last)
  const actions = slow.events().filter(({ action, source }) => action === 'change_agent_state' && source === 'user')
  expect(actions.map(({ id }) => id)).toEqual(upTo(last).slice(-60))
})

test('a client that stays silent after it was asked is closed within 20 s, and the count tells at once', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  const [prompt, dead] = [await chat.connect(), await chat.connect('', { answersChecks: false })]
  await append(chat, 5, 50_000)
  await dead.until((s) => s.frames.some(({ type }) => type === 'check'))
  await prompt.until((s) => s.frames.some(({ type }) => type === 'check'))
  await heard(prompt)
  // The clock runs on, so some time is left to see that both are still there.
  await after(15_000, chat, pass)
  expect(await connections(chat)).toBe(2)
  await after(5_000, chat, pass)
  // An alarm that was due anyway may have taken the place of this one.
  await expect.poll(() => connections(chat)).toBe(1)
  await dead.until((s) => s.frames.at(-1)?.type === 'closed')
  expect(dead.frames.at(-1)).toEqual({ type: 'closed', code: 1013, reason: 'no sign of life' })
  expect(prompt.frames.some(({ type }) => type === 'closed')).toBe(false)
})

test('a plain client that was silent for ten minutes is asked whether it is there, unless the runtime heard its pings', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  // The runtime knows only its own clock, so what is to be older than a ping comes from before.
  pass(-60_000)
  const [there, gone] = [await chat.connect(), await chat.connect('', { answersChecks: false })]
  pass(60_000)
  const pinging = await chat.connect()
  await new Promise((resolve) => setTimeout(resolve, 50))
  pinging.send('{"type":"ping"}')
  await pinging.until((s) => s.frames.some(({ type }) => type === 'pong'))
  await after(550_000, chat, pass)
  for (const socket of [there, gone]) await socket.until((s) => s.frames.some(({ type }) => type === 'check'))
  expect(pinging.frames.some(({ type }) => type === 'check')).toBe(false)
  await heard(there)
  await after(20_000, chat, pass)
  expect(await connections(chat)).toBe(2)
  await after(600_000, chat, pass)
  await there.until((s) => s.frames.filter(({ type }) => type === 'check').length === 2)
})

test('500 clients get a burst, each the same text, and are counted as they come and go', async () => {
  const chat = await startConversation()
  const open = async (): Promise<RawSocket> =>
    rawSocket(await stubOf(chat).fetch('http://conversation/ws?after=1000000', { headers: { upgrade: 'websocket' } }))
  const sockets = await Promise.all(Array.from({ length: 500 }, open))
  expect(await connections(chat)).toBe(500)
  await append(chat, 20, 300)
  const expected = sockets[0]?.texts
  for (const socket of sockets) {
    // Beside others at work events that follow each other closely come together.
    await socket.until(() => socket.texts.join('').split('"action":"change_agent_state"').length === 21)
    expect(socket.texts).toEqual(expected)
  }
  for (const socket of sockets.slice(100)) socket.close()
  await expect.poll(() => connections(chat)).toBe(100)
  await evictDurableObject(stubOf(chat))
  expect(await connections(chat)).toBe(100)
  const page = await chat.owner.json<{ results: { num_connections: number }[] }>('/api/conversations')
  expect(page.results).toHaveLength(1)
  await expect
    .poll(
      async () =>
        (await chat.owner.json<{ results: { num_connections: number }[] }>('/api/conversations')).results[0]
          ?.num_connections,
    )
    .toBe(100)
})

test('a flood from one client is refused and then cut off, while another is served at once', async () => {
  const chat = await startConversation()
  const loud = await chat.connect()
  const say = (ref: string) =>
    JSON.stringify({ ref, action: 'change_agent_state', args: { agent_state: 'user_confirmed' } })
  const flood = Array.from({ length: 500 }, (_, i) => say(`loud-${i}`))
  const quiet = await chat.connectIo(-1)
  await quiet.until((s) => s.events().length > 0)
  const flooding = saidAtOnce(chat, flood)
  quiet.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'user_rejected' } }, 1)
  await quiet.until(({ texts }) => texts.some((text) => text.startsWith('431[{"success":true')))
  await flooding
  await loud.until((s) => s.frames.at(-1)?.type === 'closed')
  expect(loud.frames.at(-1)).toEqual({ type: 'closed', code: 1008, reason: 'too many messages' })
  expect(loud.frames.at(-2)).toEqual({ type: 'closing', reason: 'too many messages' })
  const refused = loud.frames.filter(({ type }) => type === 'error')
  expect(refused.length).toBeGreaterThan(150)
  expect(refused[0]).toEqual({
    type: 'error',
    ref: expect.stringMatching(/^loud-/),
    message: 'Too many messages at once; send again after a second',
  })
  // What was acknowledged is there, and nothing else of it.
  const acked = loud.frames.flatMap(({ type, event_id }) => (type === 'ack' ? [event_id] : []))
  const ids = quiet.events().map(({ id }) => id)
  expect(acked.length).toBeGreaterThanOrEqual(100)
  expect(acked.length).toBeLessThan(150)
  expect(ids).toEqual(expect.arrayContaining(acked))
  expect(await connections(chat)).toBe(1)
})

test('pings and unasked answers are limited like messages, and asked ones are not', async () => {
  const chat = await startConversation()
  const socket = await chat.connect()
  const noise = Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? '{"type":"check"}' : '{ "type": "ping" }'))
  await saidAtOnce(chat, noise)
  await socket.until((s) => s.frames.at(-1)?.type === 'closed')
  expect(socket.frames.at(-1)).toMatchObject({ code: 1008 })

  const busy = await chat.connect()
  for (let i = 0; i < 90; i++) await append(chat, 2, 150_000)
  const last = (await chat.events('?reverse=true&limit=1'))[0]?.id ?? 0
  await busy.until((s) => s.events().at(-1)?.id === last)
  expect(busy.frames.some(({ type }) => type === 'closed' || type === 'error')).toBe(false)
})

test('many sockets of a key together send no more than its requests may write', async () => {
  const chat = await startConversation()
  const { count = 0 } = config(env).rateLimits.writes ?? {}
  const sockets = await Promise.all(Array.from({ length: 40 }, () => chat.connect()))
  // Each keeps to its own limit: a burst of 100.
  const ping = '{ "type": "ping" }'
  const answers = (type: string) => sockets.flatMap(({ frames }) => frames.filter((frame) => frame.type === type))
  // A slow machine answers so late that the limit grows meanwhile.
  for (let round = 1; round <= 6 && answers('error').length === 0; round++) {
    for (const socket of sockets) for (let at = 0; at < 100; at++) socket.send(ping)
    const answered = () => answers('pong').length + answers('error').length
    await expect.poll(answered, { timeout: 60_000 }).toBe(4_000 * round)
  }
  expect(answers('pong').length).toBeGreaterThanOrEqual(count)
  expect(answers('error')[0]).toEqual({
    type: 'error',
    message: 'Too many messages at once; send again after a second',
  })
})

test('messages that are there at the same time are stored in order and acknowledged after their events', async () => {
  const chat = await startConversation()
  const socket = await chat.connect()
  await socket.until((s) => s.frames.some(({ type }) => type === 'ready'))
  const from = socket.frames.length
  const refs = Array.from({ length: 60 }, (_, i) => `m-${i}`)
  const texts = refs.map((ref) =>
    JSON.stringify(
      ref === 'm-30'
        ? { ref, action: 'message', args: {} }
        : { ref, action: 'change_agent_state', args: { agent_state: 'user_confirmed' } },
    ),
  )
  await saidAtOnce(chat, texts)
  await socket.until((s) => s.frames.filter(({ type }) => type === 'ack').length === 59)
  const frames = socket.frames.slice(from)
  const answers = frames.filter(({ type }) => type === 'ack' || type === 'error')
  expect(answers.map(({ ref }) => ref)).toEqual(refs)
  const acked = answers.flatMap(({ event_id }) => (typeof event_id === 'number' ? [event_id] : []))
  expect(acked).toEqual([...acked].sort((a, b) => a - b))
  expect(frames.filter(({ type }) => type === 'events')).toHaveLength(1)
  expect(frames[0]).toEqual({ type: 'events', events: acked.map((id) => expect.objectContaining({ id })) })
})

test('a long message counts as several: others of the client are refused until it is made up for', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  await chat.post('change_agent_state', { agent_state: 'paused' })
  const socket = await chat.connect()
  const say = (ref: string, content: string) => socket.send({ ref, action: 'message', args: { content } })
  const answersTo = async (refs: readonly string[]) => {
    const answerTo = (ref: string) => socket.frames.find((frame) => frame.ref === ref)?.type
    await socket.until(() => refs.every((ref) => answerTo(ref) !== undefined))
    return refs.map(answerTo)
  }
  // A burst is 100 messages of up to 32 KiB; each of these is made up for in more than half a second.
  const refs = Array.from({ length: 12 }, (_, i) => `long-${i}`)
  for (const ref of refs) say(ref, 'x'.repeat(MIB))
  const answers = await answersTo(refs)
  expect([answers[0], answers.includes('error')]).toEqual(['ack', true])
  pass(10_000)
  say('later', 'short')
  expect(await answersTo(['later'])).toEqual(['ack'])
})

test('over Socket.IO whatever is long counts as several, in bytes: pings, packets of other namespaces, what is binary', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  const socket = await chat.connectIo(-1)
  const long = 'x'.repeat(4 * MIB - 100)
  const said = [
    `2${long}`,
    `2${'茅'.repeat(MIB + 100_000)}`,
    `40/x,"${long}"`,
    `40"${long}"`,
    new ArrayBuffer(4 * MIB),
    `3${long}`,
  ]
  for (const [i, one] of said.entries()) {
    pass(3_000)
    await saidAtOnce(chat, [one, `42${i}["oh_user_action",{"action":"message","args":{}}]`], 'socket.io')
    const answer = () => socket.texts.find((text) => text.startsWith(`43${i}`))
    await socket.until(() => answer() !== undefined)
    expect([i, answer()]).toEqual([
      i,
      `43${i}[{"error":true,"message":"Too many messages at once; send again after a second"}]`,
    ])
  }
})
