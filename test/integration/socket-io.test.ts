import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { client, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'
import { type Chat, isInState, openIo, startConversation } from '../helpers/conversation.ts'
import { ioSocket } from '../helpers/sockets.ts'

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)

/** Runs the object's alarm as if so much time had passed. */
async function after(ms: number, chat: Chat, pass: (ms: number) => void): Promise<void> {
  pass(ms)
  await runDurableObjectAlarm(stubOf(chat))
}

test('a client joins, is shown the history in its view and then what happens, and its actions count', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo one' })
  await chat.settled()
  const stored = await chat.events()
  const socket = await chat.connectIo()
  await socket.until(({ texts }) => texts.length === 1)
  expect(socket.texts[0]).toMatch(
    /^0\{"sid":"[0-9a-f-]{36}","upgrades":\[\],"pingTimeout":20000,"pingInterval":25000,"maxPayload":4194304\}$/,
  )
  socket.send('40')
  await socket.until((s) => isInState(s.events(), 'awaiting_user_input'))
  expect(socket.texts[1]).toMatch(/^40\{"sid":"[0-9a-f-]{36}"\}$/)
  const newestState = stored.findLast(({ observation }) => observation === 'agent_state_changed')?.id
  // As they are stored, sources included; the newest state alone, in its place; no recall action.
  expect(socket.events()).toEqual(
    stored.filter(
      ({ id, action, observation }) =>
        action !== 'recall' && (observation !== 'agent_state_changed' || id === newestState),
    ),
  )

  socket.emit('oh_user_action', { action: 'message', args: { content: 'echo two', timestamp: 'any' } })
  const isLive = ({ id }: { id: number }) => id >= stored.length
  await socket.until((s) => isInState(s.events().filter(isLive), 'awaiting_user_input'))
  const live = (await chat.events(`?limit=100&start_id=${stored.length}`)).filter(({ action }) => action !== 'null')
  expect(live.map(({ source }) => source)).toContain('environment')
  expect(socket.events().filter(isLive)).toEqual(
    live.map((event) => ({ ...event, source: event.source === 'environment' ? 'agent' : event.source })),
  )
  expect(socket.events().some(({ content }) => content === 'two')).toBe(true)

  socket.emit('oh_action', { action: 'run', args: { command: 'echo typed', hidden: true } })
  await socket.until((s) => s.events().some(({ content, source }) => content === 'typed' && source === 'user'))
  expect(socket.texts.filter((text) => !/^(0|40)\{|^42\["oh_event",\{/.test(text))).toEqual([])
})

test('the replay begins after the last id, and what is no id means everything', async () => {
  const chat = await startConversation()
  const newest = (await chat.events()).at(-1)?.id ?? 0
  const firstIdOf = async (query: Record<string, string>) => {
    const socket = await chat.connectIo(-1, query)
    await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
    await socket.until((s) => s.events().some(({ args }) => args?.agent_state === 'user_confirmed'))
    socket.close()
    return socket.events()[0]?.id
  }
  for (const latest_event_id of ['-1', 'undefined', 'null', '', 'abc', '-7', '1e3']) {
    expect.soft(await firstIdOf({ latest_event_id }), latest_event_id).toBe(1)
  }
  expect(await firstIdOf({ latest_event_id: String(newest) })).toBe(newest + 1)
  expect(await firstIdOf({ latest_event_id: '1', providers_set: 'github,nonsense' })).toBe(2)
})

test('who may not join hears why when it asks to, and is let go', async () => {
  const chat = await startConversation()
  const stranger = await client()
  const analyst = await client({ scopes: ['analysis'] })
  const conversation_id = chat.id
  const refusals: [string, Promise<Response>][] = [
    ['No conversation_id in query params', openIo(chat.owner, {})],
    ['No conversation_id in query params', openIo(chat.owner, { conversation_id: '' })],
    ['Conversation not found', openIo(chat.owner, { conversation_id: 'nobody-made-this' })],
    ['Conversation not found', openIo(chat.owner, { conversation_id: '../../etc/passwd' })],
    ['Conversation not found', openIo(stranger, { conversation_id })],
    ['invalid_session_api_key', openIo(chat.owner, { conversation_id, session_api_key: 'wrong' })],
    ['invalid_session_api_key', openIo(chat.owner, { conversation_id, session_api_key: 'null' })],
    ['invalid_session_api_key', openIo(chat.owner, { conversation_id, session_api_key: 'undefined' })],
    ['invalid_session_api_key', openIo(analyst, { conversation_id })],
  ]
  for (const [message, answer] of refusals) {
    const socket = ioSocket(await answer)
    await socket.until(({ texts }) => texts.length === 1)
    expect(socket.texts[0]).toMatch(/^0\{"sid":/)
    socket.send('40')
    await socket.until(({ closed }) => closed !== null)
    expect(socket.texts.slice(1)).toEqual([`44${JSON.stringify({ message })}`])
    expect(socket.closed?.code).toBe(1000)
  }
  expect((await chat.owner.json(chat.path)).num_connections).toBe(0)
})

test('the literals that clients send for no key leave the header to decide', async () => {
  const chat = await startConversation()
  const headers = { upgrade: 'websocket', 'x-session-api-key': chat.owner.key }
  for (const literal of ['null', 'undefined']) {
    const query = `conversation_id=${chat.id}&session_api_key=${literal}&EIO=4&transport=websocket`
    const socket = ioSocket(await request(`/socket.io/?${query}`, { headers }))
    socket.send('40')
    await socket.until(({ texts }) => texts.some((text) => text.startsWith('40{')))
    socket.close()
  }
})

test('a client that begins with polling, or with another version, is told so in the form of Engine.IO', async () => {
  const chat = await startConversation()
  const ask = (query: string, headers = {}) => request(`/socket.io/?conversation_id=${chat.id}&${query}`, { headers })
  const upgrade = { upgrade: 'websocket' }
  for (const [response, body] of [
    [
      await ask('EIO=4&transport=polling'),
      { code: 0, message: 'Transport unknown: connect with transports: ["websocket"]' },
    ],
    [await ask('EIO=3&transport=websocket', upgrade), { code: 5, message: 'Unsupported protocol version' }],
    [await ask('EIO=4', upgrade), { code: 0, message: 'Transport unknown: connect with transports: ["websocket"]' }],
    [await ask('EIO=4&transport=websocket'), { code: 3, message: 'Bad request' }],
  ] as const) {
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual(body)
  }
})

test('what is no action is answered to its sender alone, and the socket goes on', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  const [sender, other] = [await chat.connectIo(-1), await chat.connectIo(-1)]
  const bad = [
    'nonsense',
    '4',
    '42',
    '42{}',
    '42["oh_user_action"]',
    '42["oh_user_action",7]',
    '42["something_else",{"action":"message","args":{"content":"x"}}]',
    '42["oh_user_action",{"action":"write","args":{"path":"x","content":"y"}}]',
    '42["oh_user_action",{"observation":"run","content":"","extras":{}}]',
    '42["oh_user_action",{"action":"message","args":{"content":"x","extra":1}}]',
    '42["oh_user_action",{"id":3,"action":"message","args":{"content":"x"}}]',
    '42["oh_user_action",{"action":"change_agent_state","args":{"agent_state":"loading"}}]',
    `42["oh_user_action",{"action":"message","args":{"content":"${'x'.repeat(4_194_304)}"}}]`,
  ]
  for (const text of bad) sender.send(text)
  const errors = () => sender.objects().filter((object) => 'error' in object)
  await sender.until(() => errors().length === bad.length)
  for (const error of errors()) expect(error).toEqual({ error: true, message: expect.stringMatching(/^[A-Z]/) })

  // The last one was so large that it counts as many.
  pass(10_000)
  sender.emit('oh_user_action', { action: 'message', args: {} }, 11)
  sender.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } }, 12)
  await sender.until(({ texts }) => texts.some((text) => text.startsWith('4312')))
  const id = sender.events().at(-1)?.id
  expect(sender.texts.find((text) => text.startsWith('4311'))).toMatch(/^4311\[\{"error":true,"message":"Not an action/)
  expect(sender.texts.find((text) => text.startsWith('4312'))).toBe(`4312[{"success":true,"event_id":${id}}]`)
  await other.until((s) => s.events().at(-1)?.id === id)
  expect(other.objects()).toEqual(other.events())
})

test('binary packets are refused with one answer, whatever comes with them, and the socket goes on', async () => {
  const chat = await startConversation()
  const socket = await chat.connectIo(-1)
  const placeholder = (num: number) => ({ _placeholder: true, num })
  const errors = () => socket.objects().filter((object) => 'error' in object)
  socket.send(`452-["oh_user_action",${JSON.stringify([placeholder(0), placeholder(1)])}]`)
  socket.send(new Uint8Array([1, 2, 3]).buffer)
  socket.send(new Uint8Array([4]).buffer)
  socket.send(`451-7["oh_user_action",${JSON.stringify(placeholder(0))}]`)
  socket.send(new Uint8Array(100_000).buffer)
  await socket.until(({ texts }) => texts.some((text) => text.startsWith('437')))
  expect(errors()).toHaveLength(2)
  expect(socket.texts.find((text) => text.startsWith('437'))).toBe(
    '437[{"error":true,"message":"Binary packets are not supported"}]',
  )
  socket.send(new Uint8Array([9]).buffer)
  await socket.until(() => errors().length === 3)
  socket.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } }, 1)
  await socket.until(({ texts }) => texts.some((text) => text.startsWith('431[{"success":true')))
})

test('another namespace is refused while the default one goes on, and nothing is done for who has not joined', async () => {
  const chat = await startConversation()
  const socket = await chat.connectIo()
  socket.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } }, 1)
  await socket.until(({ texts }) => texts.some((text) => text.startsWith('431')))
  expect(socket.texts.at(-1)).toBe('431[{"error":true,"message":"Join the default namespace first"}]')
  socket.send('40/admin,{"token":"x"}')
  await socket.until(({ texts }) => texts.at(-1) === '44/admin,{"message":"Invalid namespace"}')
  expect((await chat.owner.json(chat.path)).num_connections).toBe(0)
  socket.send('40{"token":"any"}')
  socket.send('40')
  socket.send('2probe')
  await socket.until(({ texts }) => texts.includes('3probe'))
  expect(socket.texts.filter((text) => text.startsWith('40'))).toHaveLength(1)
  expect((await chat.owner.json(chat.path)).num_connections).toBe(1)
  expect(socket.events().every(({ args }) => args?.agent_state !== 'user_confirmed')).toBe(true)
})

test('the alarm pings every 25 s over evictions, and who never joins is closed without a dismissal', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  const [awake, idle] = [await chat.connectIo(-1), await chat.connectIo()]
  await awake.until((s) => s.events().length > 0)
  await after(25_000, chat, pass)
  await Promise.all([awake, idle].map((socket) => socket.until(({ texts }) => texts.includes('2'))))
  const late = await chat.connectIo(-1)
  await late.until((s) => s.events().length > 0)
  expect((await chat.owner.json(chat.path)).num_connections).toBe(2)
  await evictDurableObject(stubOf(chat))
  await after(25_000, chat, pass)
  await awake.until(({ texts }) => texts.filter((text) => text === '2').length === 2)
  await late.until(({ texts }) => texts.includes('2'))
  expect((await chat.owner.json(chat.path)).num_connections).toBe(2)
  await idle.until(({ closed }) => closed !== null)
  expect(idle.closed).toEqual({ code: 1013, reason: 'no sign of life' })
  expect(idle.texts).not.toContain('41')
})

test('a pong that does not come closes the socket, and the count tells at once', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  const answer = await openIo(chat.owner, { conversation_id: chat.id })
  const [awake, silent] = [await chat.connectIo(-1), ioSocket(answer, { answersPings: false })]
  silent.send('40')
  await silent.until((s) => s.events().length > 0)
  await after(25_000, chat, pass)
  await silent.until(({ texts }) => texts.includes('2'))
  expect((await chat.owner.json(chat.path)).num_connections).toBe(2)
  await after(25_000, chat, pass)
  expect((await chat.owner.json(chat.path)).num_connections).toBe(1)
  await silent.until(({ closed }) => closed !== null)
  expect(silent.closed?.code).toBe(1013)
  await awake.until(({ texts }) => texts.filter((text) => text === '2').length === 2)
})

test('the end of a session is told before the sockets are let go, and a client that leaves is not counted', async () => {
  const chat = await startConversation()
  const [first, second] = [await chat.connectIo(-1), await chat.connectIo(-1)]
  await second.until((s) => s.events().length > 0)
  second.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } })
  second.send('41')
  await second.until(({ closed }) => closed !== null)
  expect((await chat.owner.json(chat.path)).num_connections).toBe(1)
  await first.until((s) => s.events().some(({ args }) => args?.agent_state === 'user_confirmed'))

  await chat.owner.ask(`${chat.path}/stop`, { method: 'POST' })
  await first.until(({ closed }) => closed !== null)
  expect(first.texts.at(-1)).toBe('41')
  expect(isInState(first.events(), 'stopped')).toBe(true)

  // Connecting starts it again.
  const third = await chat.connectIo(first.events().at(-1)?.id ?? -1)
  await third.until((s) => isInState(s.events(), 'awaiting_user_input'))
  expect((await chat.owner.json(chat.path)).status).toBe('RUNNING')
  await chat.owner.ask(chat.path, { method: 'DELETE' })
  await third.until(({ closed }) => closed !== null)
  expect(third.texts.at(-1)).toBe('41')
})

test('an evicted object goes on with its sockets where it was', async () => {
  const chat = await startConversation()
  const sockets = [await chat.connectIo(-1), await chat.connectIo(-1)] as const
  for (let i = 0; i < 4; i++) {
    await evictDurableObject(stubOf(chat))
    sockets[i % 2]?.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } }, i)
    await sockets[i % 2]?.until(({ texts }) => texts.some((text) => text.startsWith(`43${i}[{"success"`)))
  }
  const expected = (await chat.events()).filter(({ action }) => action === 'change_agent_state')
  for (const socket of sockets) {
    await socket.until((s) => s.events().at(-1)?.id === expected.at(-1)?.id)
    expect(socket.events().filter(({ action }) => action === 'change_agent_state')).toEqual(expected)
  }
})
