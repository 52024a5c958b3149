import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { readPlainFrame } from '../../durable-objects/conversation/sockets/plain-socket.ts'
import { conversation } from '../../src/bindings.ts'
import { client, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'
import { isInState, startConversation } from '../helpers/conversation.ts'

test('a socket that comes back with its last id gets exactly what it missed', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo 1' })
  const first = await chat.connect()
  await first.until((s) => isInState(s.events(), 'awaiting_user_input'))
  const seen = first.events()
  first.close()
  await chat.post('message', { content: 'echo 2' })
  const second = await chat.connect(`?after=${seen.at(-1)?.id}`)
  const isReady = (s: typeof second) => s.frames.some(({ type }) => type === 'ready')
  await second.until((s) => isReady(s) && isInState(s.events(), 'awaiting_user_input'))
  expect([...seen, ...second.events()]).toEqual(await chat.events())
  expect(second.frames.filter(({ type }) => type === 'ready')).toHaveLength(1)
})

test('a long history is replayed whole and in order while new events keep coming', async () => {
  const chat = await startConversation()
  await runInDurableObject(conversation(env, chat.owner.owner, chat.id), (instance) => {
    const room = instance as unknown as { addEvent(event: object, ref: null): unknown }
    for (let i = 0; i < 2500; i++) {
      room.addEvent(
        {
          source: 'user',
          message: '',
          action: 'change_agent_state',
          args: { agent_state: 'awaiting_user_input', thought: '' },
        },
        null,
      )
    }
  })
  const socket = await chat.connect()
  for (let i = 0; i < 20; i++) await chat.post('change_agent_state', { agent_state: 'awaiting_user_input' })
  await socket.until((s) => s.events().length >= 2524)
  expect(socket.events().map(({ id }) => id)).toEqual(Array.from({ length: 2524 }, (_, i) => i))
})

test('an action sent over the socket is acknowledged by its ref, and sent again adds nothing', async () => {
  const chat = await startConversation()
  const socket = await chat.connect()
  const frame = { ref: 'mine-1', action: 'message', args: { content: 'echo hi' } }
  socket.send(frame)
  socket.send(frame)
  await socket.until((s) => s.frames.filter(({ type }) => type === 'ack').length === 2)
  const acks = socket.frames.filter(({ type }) => type === 'ack')
  expect(acks[0]).toEqual(acks[1])
  await socket.until(
    (s) => isInState(s.events(), 'awaiting_user_input') && s.events().some(({ observation }) => observation === 'run'),
  )
  expect(socket.events().filter(({ action }) => action === 'message')).toHaveLength(1)
  expect(socket.events().find(({ action }) => action === 'message')?.id).toBe(acks[0]?.event_id)
})

test('a frame that is no action is answered with what is wrong, and the socket goes on', async () => {
  const pass = movableClock()
  const chat = await startConversation()
  const socket = await chat.connect()
  const noObject = ['A frame must be a JSON object', undefined]
  const noAction = ['Not an action that a client may send', undefined]
  const noRef = ['ref must be a text of 1 to 200 characters', undefined]
  const bad: [string, unknown[]][] = [
    ['not json', noObject],
    ['[]', noObject],
    ['[{"type":"ping"}]', noObject],
    ['null', noObject],
    ['"ping"', noObject],
    ['{}', noAction],
    ['{"action":"write","args":{}}', noAction],
    ['{"action":"message","args":{}}', noAction],
    ['{"ref":7,"action":"run"}', noRef],
    ['{"ref":"","type":"message"}', noRef],
    [JSON.stringify({ ref: 'r'.repeat(201), action: 'message', args: { content: 'x' } }), noRef],
    [JSON.stringify({ ref: 'r'.repeat(200), action: 'run' }), [noAction[0], 'r'.repeat(200)]],
    [' '.repeat(4 * 1024 * 1024 + 1), ['A frame holds at most 4194304 bytes', undefined]],
  ]
  for (const [frame] of bad) socket.send(frame)
  const isRefused = (count: number) =>
    socket.until((s) => s.frames.filter(({ type }) => type === 'error').length === count)
  await isRefused(bad.length)
  // One so large counts as many, so the next has to wait.
  const longest: [string, unknown[]] = [`${' '.repeat(4 * 1024 * 1024 - 2)}[]`, noObject]
  pass(10_000)
  socket.send(longest[0])
  bad.push(longest)
  await isRefused(bad.length)
  // Of fewer characters, and of more bytes.
  const wide: [string, unknown[]] = ['界'.repeat(1_398_102), ['A frame holds at most 4194304 bytes', undefined]]
  pass(10_000)
  socket.send(wide[0])
  bad.push(wide)
  await isRefused(bad.length)
  pass(10_000)
  socket.send({ ref: 'r', action: 'message', args: { content: 'x', extra: 1 } })
  socket.send({ type: 'ping' })
  await isRefused(bad.length + 1)
  const errors = socket.frames.filter(({ type }) => type === 'error')
  await socket.until((s) => s.frames.some(({ type }) => type === 'pong'))
  expect(errors.slice(0, -1).map(({ message, ref }) => [message, ref])).toEqual(bad.map(([, answer]) => answer))
  expect(errors.at(-1)).toMatchObject({ ref: 'r', detail: [expect.stringContaining('extra')] })
  expect(readPlainFrame(new ArrayBuffer(2))).toMatchObject({ kind: 'invalid', answer: { type: 'error' } })
})

test('stop ends the command that runs, keeps its output so far, and drops what waits behind it', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo started; sleep 30' })
  const socket = await chat.connect()
  await socket.until((s) => s.events().some(({ action }) => action === 'run'))
  await chat.post('message', { content: 'echo never' })
  await chat.post('change_agent_state', { agent_state: 'stopped' })
  await socket.until((s) => isInState(s.events(), 'stopped'))
  const errors = socket.events().filter(({ observation }) => observation === 'error')
  expect(errors[0]).toMatchObject({ extras: { error_id: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED' }, cause: 7 })
  expect(errors[1]?.content).toContain('One waiting message was not run')
  await chat.post('message', { content: 'echo again' })
  await socket.until((s) => isInState(s.events(), 'awaiting_user_input'))
  expect(
    socket
      .events()
      .filter(({ observation }) => observation === 'run')
      .map(({ extras }) => extras?.command),
  ).toEqual(['echo again'])
})

test('messages that come while one runs wait their turn, and a paused agent takes none', async () => {
  const chat = await startConversation({ initial_user_msg: 'sleep 0.3; echo 1' })
  for (const n of [2, 3]) await chat.post('message', { content: `echo ${n}` })
  const socket = await chat.connect()
  await socket.until((s) => s.events().filter(({ observation }) => observation === 'run').length === 3)
  const commands = socket
    .events()
    .filter(({ observation }) => observation === 'run')
    .map(({ extras }) => extras?.command)
  expect(commands).toEqual(['sleep 0.3; echo 1', 'echo 2', 'echo 3'])
  await socket.until((s) => isInState(s.events(), 'awaiting_user_input'))
  await chat.post('change_agent_state', { agent_state: 'paused' })
  await chat.post('run', { command: 'echo typed' })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(socket.events().at(-1)).toMatchObject({ action: 'run', source: 'user' })
  await chat.post('change_agent_state', { agent_state: 'running' })
  await socket.until((s) => s.events().some(({ observation, source }) => observation === 'run' && source === 'user'))
})

test('a command that a crash interrupts is recorded as such and not run again; what waited runs', async () => {
  const chat = await startConversation({ initial_user_msg: 'sleep 20' })
  const socket = await chat.connect()
  await socket.until((s) => s.events().some(({ action }) => action === 'run'))
  await chat.post('message', { content: 'echo after' })
  await abortAllDurableObjects()
  await chat.settled()
  const events = await chat.events()
  expect(events.filter(({ observation }) => observation === 'error')).toEqual([
    expect.objectContaining({ cause: 7, content: expect.stringContaining('outcome is unknown') }),
  ])
  expect(events.filter(({ action }) => action === 'run').map(({ args }) => args?.command)).toEqual([
    'sleep 20',
    'echo after',
  ])
  expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i))
})

test('a socket is refused to strangers, without a key, and over plain HTTP', async () => {
  const chat = await startConversation()
  const upgrade = { upgrade: 'websocket' }
  expect((await (await client()).ask(`${chat.path}/ws`, { headers: upgrade })).status).toBe(404)
  expect((await request(`${chat.path}/ws`, { headers: upgrade })).status).toBe(401)
  expect((await request(`${chat.path}/ws?session_api_key=bad`, { headers: upgrade })).status).toBe(401)
  expect((await request(`${chat.path}/ws?session_api_key=${chat.owner.key}`, { headers: upgrade })).status).toBe(101)
  expect((await chat.owner.ask(`${chat.path}/ws`)).status).toBe(426)
  expect((await chat.owner.ask(`${chat.path}/ws?after=-2`, { headers: upgrade })).status).toBe(422)
})

test('connections are counted while they last', async () => {
  const chat = await startConversation()
  const sockets = [await chat.connect(), await chat.connect()]
  expect((await chat.owner.json(chat.path)).num_connections).toBe(2)
  for (const socket of sockets) socket.close()
  await expect.poll(async () => (await chat.owner.json(chat.path)).num_connections).toBe(0)
})
