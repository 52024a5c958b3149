// What comes twice, late or not at all: requests, alarms, and an agent that does the same again and again.

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type AgentChat, bash, inState, make, startAgent, untilMade, untilSaid } from '../helpers/agent.ts'
import { isInState } from '../helpers/conversation.ts'

const PATIENCE = { interval: 20 }

const asked = async (chat: AgentChat) => (await chat.model.requests()).filter(({ method }) => method === 'POST').length

test('an agent that does the same with the same outcome is stopped after the fourth time, and a message lets it go on at once', async () => {
  const same = { calls: [bash('echo round', '')] }
  const chat = await startAgent({
    replies: [same, same, same, same, { text: 'Out of the circle.' }],
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'error')
  const events = await chat.events()
  expect(events.filter(({ action }) => action === 'run')).toHaveLength(4)
  expect(events.at(-1)?.extras?.reason).toBe('AgentStuckInLoopError: Agent got stuck in a loop')
  expect(events.at(-2)?.content).toMatch(/^The agent did the same again and again.*Send a message/)
  expect(await asked(chat)).toBe(4)
  await chat.post('message', { content: 'try something else' })
  await untilSaid(chat, 'Out of the circle.')
  await inState(chat, 'awaiting_user_input')
})

test('a message that is sent again, at the same time, after a restart and over a socket, is one event and one question', async () => {
  // An answer that came before the restart is asked for again.
  const chat = await startAgent({ replies: [{ text: 'heard' }, { text: 'heard' }, { text: 'heard' }] })
  const send = (key: string) =>
    chat.owner.ask(`${chat.path}/events`, {
      method: 'POST',
      headers: { 'idempotency-key': key },
      body: { action: 'message', args: { content: 'only once' } },
    })
  const answers = async (responses: Response[]) =>
    Promise.all(responses.map(async (response) => [response.status, await response.text()]))
  const [first, ...others] = await answers(await Promise.all(Array.from({ length: 6 }, () => send('k'))))
  for (const answer of others) expect(answer).toEqual(first)
  await abortAllDurableObjects()
  expect(await answers(await Promise.all([send('k'), send('k')]))).toEqual([first, first])
  const sockets = await Promise.all([chat.connect(), chat.connect()])
  const frame = { action: 'message', args: { content: 'over a socket' }, ref: 'r' }
  for (const socket of [...sockets, ...sockets]) socket.send(frame)
  const acks = (socket: (typeof sockets)[number]) => socket.frames.filter(({ type }) => type === 'ack')
  for (const socket of sockets) await socket.until(() => acks(socket).length === 2)
  expect(new Set(sockets.flatMap(acks).map(({ event_id: id }) => id)).size).toBe(1)
  await untilSaid(chat, 'heard')
  await inState(chat, 'awaiting_user_input')
  const said2 = (content: string) => async () =>
    (await chat.events()).filter(
      ({ action, source, message }) => action === 'message' && source === 'user' && message === content,
    )
  expect(await said2('only once')()).toHaveLength(1)
  expect(await said2('over a socket')()).toHaveLength(1)
})

test('an alarm that comes twice, late, or not at all changes nothing: each call runs once and the turn ends', async () => {
  const chat = await startAgent({
    replies: [
      { calls: [bash(`echo one >> log; ${untilMade('told')}`, 'k1'), bash('echo two >> log', 'k2')] },
      { status: 503, headers: { 'retry-after': '60' } },
      { text: 'the end', heldAfter: 0 },
    ],
    body: { initial_user_msg: 'go' },
  })
  const stub = () => conversation(env, chat.owner.owner, chat.id)
  const log = async () => (await chat.owner.ask(`${chat.path}/select-file?file=log`)).text()
  await expect.poll(log, PATIENCE).toContain('one')
  // Beside the one that runs.
  const alarms = runInDurableObject(stub(), (object) => Promise.all([object.alarm?.(), object.alarm?.()]))
  await make(chat, 'told')
  await alarms
  const retryAt = () =>
    runInDurableObject(stub(), (_, { storage }) => {
      const query = "SELECT json_extract(value, '$.failures.retryAt') AS at FROM meta WHERE name = 'turn'"
      return Number(storage.sql.exec(query).one().at)
    })
  for (const questions of [2, 3]) {
    // While the answer that failed is waited for, and while the next one is written.
    await expect.poll(() => asked(chat), PATIENCE).toBe(questions)
    if (questions === 2) await expect.poll(retryAt, PATIENCE).toBeGreaterThan(Date.now())
    await runInDurableObject(stub(), async (_, { storage }) => {
      storage.sql.exec("DELETE FROM alarms WHERE name = 'turn'")
      storage.sql.exec("UPDATE meta SET value = json_set(value, '$.failures.retryAt', 0) WHERE name = 'turn'")
      await storage.deleteAlarm()
    })
    await abortAllDurableObjects()
    expect(isInState(await chat.events(), 'running')).toBe(true)
    if (questions === 2) continue
    await chat.model.set({ replies: [{ text: 'the end' }] })
  }
  await untilSaid(chat, 'the end')
  await inState(chat, 'awaiting_user_input')
  expect(JSON.parse(await log())).toEqual({ code: 'one\ntwo\n' })
  expect((await chat.events()).filter(({ message }) => message === 'the end')).toHaveLength(1)
})
