// What others were bitten by when an isolate went away in the middle of a turn.

import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type AgentChat, bash, inState, lastPrompt, make, startAgent, untilMade, untilSaid } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { isInState, startConversation } from '../helpers/conversation.ts'

const PATIENCE = { interval: 20 }

const asked = async (chat: AgentChat) => (await chat.model.requests()).filter(({ method }) => method === 'POST').length

const kinds = async (chat: AgentChat) =>
  (await chat.events()).map(({ action, observation }) => action ?? `=${observation}`)

test('a turn goes on by itself after a restart in the middle of an answer: no status stays at running', async () => {
  const chat = await startAgent({
    replies: [{ text: 'lost', chunkChars: 1, heldAfter: 3 }, { text: 'the answer' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(() => asked(chat), PATIENCE).toBe(1)
  await abortAllDurableObjects()
  await untilSaid(chat, 'the answer')
  await inState(chat, 'awaiting_user_input')
  expect(await asked(chat)).toBe(2)
})

const BREAKS_OFF = { heldAfter: 5, breakAfter: 6, breakHow: 'hang' } as const

/** Restarts in the middle of an answer, once so much of it was shown that some is kept, which the next piece sees to. */
async function breakOff(chat: AgentChat): Promise<void> {
  const socket = await chat.connect()
  const written = () => socket.frames.flatMap((frame) => (frame.type === 'delta' ? [String(frame.text)] : [])).join('')
  await socket.until(() => written().length >= 450)
  const { length } = written()
  await chat.model.release()
  await socket.until(() => written().length > length)
  await abortAllDurableObjects()
}

test('text of an answer that a restart cut off is kept, marked, and never glued to the next answer', async () => {
  const first = 'The first attempt. '.repeat(60)
  const chat = await startAgent({
    replies: [{ text: first, chunkChars: 200, ...BREAKS_OFF }, { text: 'The second attempt.' }],
    body: { initial_user_msg: 'go' },
  })
  await breakOff(chat)
  await untilSaid(chat, 'The second attempt.')
  const events = await chat.events()
  const note = events.find(({ observation }) => observation === 'error')
  expect(note?.content).toMatch(/broke off.*The first attempt\. /s)
  expect(events.filter(({ action, source }) => action === 'message' && source === 'agent')).toHaveLength(1)
  expect(JSON.stringify(await lastPrompt(chat))).not.toContain('The first attempt')
})

test('a secret in the text that a restart cut off is masked in what is kept of it', async () => {
  const owner = await client()
  const value = 'canary-4711-of-the-owner'
  await owner.ask('/api/secrets', { method: 'POST', body: { name: 'DEPLOY_KEY', value } })
  const chat = await startAgent({
    owner,
    replies: [{ text: `The key is ${value}. `.repeat(40), chunkChars: 200, ...BREAKS_OFF }, { text: 'Again.' }],
    body: { initial_user_msg: 'go' },
  })
  await breakOff(chat)
  await untilSaid(chat, 'Again.')
  const note = (await chat.events()).find(({ observation }) => observation === 'error')
  expect(note?.content).toContain('The key is <secret_hidden>. The key is')
  expect(JSON.stringify(await chat.events())).not.toContain(value)
})

test('a shell whose command a restart cut off waits for the user, and so does one whose last command was theirs', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo begun > f; sleep 100' })
  const ran = (count: number) =>
    expect.poll(async () => (await chat.events()).filter(({ action }) => action === 'run').length, PATIENCE).toBe(count)
  await ran(1)
  await abortAllDurableObjects()
  await chat.settled()
  const events = await chat.events()
  expect(events.find(({ observation }) => observation === 'error')?.content).toContain('outcome is unknown')
  await chat.post('message', { content: untilMade('go') })
  await ran(2)
  await chat.post('run', { command: 'echo the last one' })
  await make(chat, 'go')
  await expect.poll(async () => (await chat.events()).some(({ content }) => content === 'the last one')).toBe(true)
  await chat.settled()
  // The command that waits behind one that is cut off is run, and then it is the user's turn again.
  await chat.post('message', { content: 'sleep 100' })
  await ran(4)
  await chat.post('run', { command: 'echo behind it' })
  await abortAllDurableObjects()
  await expect.poll(async () => (await chat.events()).some(({ content }) => content === 'behind it')).toBe(true)
  await chat.settled()
})

test('texts of more than a row holds are kept whole, wherever they come from, and survive a restart', async () => {
  const long = `begin ${'漢'.repeat(700_000)} end`
  const longest = '漢'.repeat(1_100_000)
  const shell = await startConversation({ initial_user_msg: `wc -c <<'END'\n${longest}\nEND` })
  const outcomes = async () => {
    const path = `${shell.path}/events?include_types=observation:run`
    const { events } = await shell.owner.json<{ events: { content: string }[] }>(path)
    return events.map(({ content }) => content.trim())
  }
  // The shell takes no longer script, and says so.
  const refused = expect.stringContaining('script input size limit exceeded (3145728 bytes)')
  await expect.poll(outcomes, PATIENCE).toEqual([refused])
  await shell.post('message', { content: `wc -c <<'END'\n${'漢'.repeat(690_000)}\nEND` })
  await expect.poll(outcomes, PATIENCE).toEqual([refused, '2070001'])
  // So is the command that a restart cuts off.
  await shell.post('message', { content: `sleep 100 # ${'漢'.repeat(690_000)}` })
  const runs = async () => {
    const page = await shell.owner.json<{ events: unknown[] }>(`${shell.path}/events?include_types=action:run`)
    return page.events.length
  }
  await expect.poll(runs, PATIENCE).toBe(3)
  await abortAllDurableObjects()
  await inState(shell, 'awaiting_user_input')
  expect((await shell.events('?limit=3&reverse=true')).map(({ content }) => String(content))).toContainEqual(
    expect.stringContaining('outcome is unknown'),
  )

  const chat = await startAgent({
    replies: [
      { text: 'one' },
      { calls: [bash('ls', 'k1')], text: '漢'.repeat(700_000), chunkChars: 100_000 },
      { text: 'three' },
    ],
    settings: { confirmation_mode: true },
    body: { initial_user_msg: long, image_urls: [`data:image/png;base64,${'A'.repeat(2_400_000)}`] },
  })
  await untilSaid(chat, 'one')
  await chat.post('message', { content: 'go on' })
  await inState(chat, 'awaiting_user_confirmation')
  // Refused by a message that is as long.
  await chat.post('message', { content: long })
  await untilSaid(chat, 'three')
  const prompt = JSON.stringify(await lastPrompt(chat))
  // Both messages whole, and the beginning of the second once more, where it answers the call.
  expect([prompt.split('begin 漢漢').length - 1, prompt.split('漢漢 end').length - 1]).toEqual([3, 2])
})

test('a tool that a restart cut off is not run again: its outcome is unknown, and the model is told so', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('echo once >> log; sleep 20', 'k1'), bash('cat log', 'k2')] }, { text: 'seen' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(async () => (await chat.events()).some(({ action }) => action === 'run'), PATIENCE).toBe(true)
  const log = async () => (await chat.owner.ask(`${chat.path}/select-file?file=log`)).text()
  await expect.poll(log, PATIENCE).toContain('once')
  await abortAllDurableObjects()
  await untilSaid(chat, 'seen')
  const events = await chat.events()
  const runs = events.filter(({ action }) => action === 'run')
  expect(runs.map(({ args }) => args?.command)).toEqual(['echo once >> log; sleep 20', 'cat log'])
  expect(events.find(({ cause }) => cause === runs[0]?.id)?.content).toContain('outcome is unknown')
  expect(events.find(({ cause }) => cause === runs[1]?.id)?.content).toBe('once')
  expect(JSON.stringify(await lastPrompt(chat))).toContain('outcome is unknown')
})

test('a turn goes on after a restart in the middle of an action that the user had confirmed', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('echo once >> log; sleep 20', 'k1')] }, { text: 'seen' }],
    settings: { confirmation_mode: true },
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
  const log = async () => (await chat.owner.ask(`${chat.path}/select-file?file=log`)).text()
  await expect.poll(log, PATIENCE).toContain('once')
  await abortAllDurableObjects()
  await untilSaid(chat, 'seen')
  await inState(chat, 'awaiting_user_input')
  expect(JSON.stringify(await lastPrompt(chat))).toContain('outcome is unknown')
  expect(await (await chat.owner.ask(`${chat.path}/select-file?file=log`)).json()).toEqual({ code: 'once\n' })
})

test('a settled tool is never run again, however often the object goes away', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('echo once >> log', 'k1')] }, { text: 'slow', heldAfter: 0 }, { text: 'end' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(() => asked(chat), PATIENCE).toBe(2)
  await abortAllDurableObjects()
  await untilSaid(chat, 'end')
  expect((await kinds(chat)).filter((kind) => kind === 'run')).toHaveLength(1)
  await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
  expect(await (await chat.owner.ask(`${chat.path}/select-file?file=log`)).json()).toEqual({ code: 'once\n' })
})

test('a finished turn stays finished after a restart, and is not shown as failed', async () => {
  const chat = await startAgent({
    replies: [{ calls: [{ name: 'finish', arguments: { message: 'done' } }] }],
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'finished')
  const before = await kinds(chat)
  await abortAllDurableObjects()
  expect(await kinds(chat)).toEqual(before)
  await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
  expect(await kinds(chat)).toEqual(before)
  expect(await asked(chat)).toBe(1)
})

test('a message that was accepted just before a restart is answered after it', async () => {
  const chat = await startAgent({ replies: [{ text: 'first' }, { text: 'second' }], body: { initial_user_msg: 'go' } })
  await inState(chat, 'awaiting_user_input')
  expect((await chat.post('message', { content: 'and then?' })).status).toBe(200)
  await abortAllDurableObjects()
  await untilSaid(chat, 'second')
})

test('arguments that no tool takes are answered each time, and the turn ends instead of failing for ever', async () => {
  const broken = { calls: [{ name: 'execute_bash', arguments: '{"command": "ls' }] }
  const chat = await startAgent({
    replies: [broken, broken, broken, broken, { text: 'not reached' }],
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'error')
  const events = await chat.events()
  const errors = events.filter(({ observation }) => observation === 'error')
  expect(errors.length).toBeGreaterThanOrEqual(3)
  expect(errors[0]).toMatchObject({ content: expect.stringContaining('not valid JSON') })
  expect(events.at(-1)?.extras?.reason).toContain('AgentStuckInLoopError')
})

test('one malformed call is told to the model, which goes on with a good one', async () => {
  const chat = await startAgent({
    replies: [
      { calls: [{ id: 'b1', name: 'no_such_tool', arguments: {} }] },
      { calls: [{ id: 'b2', name: 'execute_bash', arguments: { comand: 'ls' } }] },
      { text: 'I see.' },
    ],
    body: { initial_user_msg: 'go' },
  })
  await untilSaid(chat, 'I see.')
  const told = (await lastPrompt(chat)).filter(({ role }) => role === 'tool')
  expect(JSON.stringify(told[0])).toMatch(/no tool .*no_such_tool.*execute_bash/)
  expect(JSON.stringify(told[1])).toContain('command')
})

test('a scheduled turn is not lost at a deploy: an eviction while a retry is waited for does not lose the retry', async () => {
  const chat = await startAgent({
    replies: [{ status: 503 }, { text: 'here I am' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(() => asked(chat), PATIENCE).toBe(1)
  await abortAllDurableObjects()
  expect(isInState(await chat.events(), 'running')).toBe(true)
  await untilSaid(chat, 'here I am')
})

test('a recovery alarm that got lost is set anew by whoever touches the conversation next', async () => {
  const chat = await startAgent({
    replies: [{ hang: 'body' }, { text: 'found again' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(() => asked(chat), PATIENCE).toBe(1)
  const stub = conversation(env, chat.owner.owner, chat.id)
  await runInDurableObject(stub, (_, { storage }) => storage.deleteAlarm())
  await abortAllDurableObjects()
  expect(isInState(await chat.events(), 'running')).toBe(true)
  await untilSaid(chat, 'found again')
})

test('no budget is blind to progress: a turn that goes on gets through one restart after the other', async () => {
  const steps = Array.from({ length: 12 }, (_, n) => ({ calls: [bash(`echo ${n} >> log`, `k${n}`)] }))
  const chat = await startAgent({ replies: [], body: {} })
  // The same question gets the same answer, so that a restart changes nothing but the number of questions.
  await chat.model.set({ replies: [...steps, { text: 'through' }], by: 'history' })
  await chat.post('message', { content: 'go' })
  for (let restart = 1; restart <= steps.length; restart++) {
    await expect.poll(() => asked(chat), PATIENCE).toBeGreaterThanOrEqual(restart)
    await abortAllDurableObjects()
  }
  await expect.poll(async () => (await chat.events('?limit=100&reverse=true'))[1]?.message, PATIENCE).toBe('through')
  const log = await chat.owner.json<{ code: string }>(`${chat.path}/select-file?file=log`)
  const lines = log.code.trim().split('\n')
  expect(new Set(lines).size).toBe(lines.length)
})

test('an alarm and a client that come to a restarted conversation at once do not wait for each other', async () => {
  const chat = await startAgent({
    replies: [{ hang: 'body' }, { text: 'both are here' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(() => asked(chat), PATIENCE).toBe(1)
  const secrets = heldSecrets()
  await abortAllDurableObjects()
  const firing = runDurableObjectAlarm(conversation(env, chat.owner.owner, chat.id))
  await expect.poll(() => secrets.asked).toBeGreaterThan(0)
  const posting = chat.post('message', { content: 'still there?' })
  await scheduler.wait(50)
  secrets.letGo()
  expect((await posting).status).toBe(200)
  await untilSaid(chat, 'both are here')
  await firing
})

test('a conversation, or a fork, that was cut off while it was made is not there, and is made whole by who asks again', async () => {
  const chat = await startAgent({ replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] })
  await chat.post('message', { content: 'go' })
  await untilSaid(chat, 'one')
  await inState(chat, 'awaiting_user_input')
  const last = (await chat.events()).length - 1
  const making = [
    { path: '/api/conversations', id: 'made-again', body: { initial_user_msg: 'again' }, answer: 'two' },
    { path: `${chat.path}/fork`, id: 'forked-again', body: { event_id: last }, answer: 'three' },
  ]
  for (const { path, id, body, answer } of making) {
    const ask = () => chat.owner.ask(path, { method: 'POST', body: { ...body, conversation_id: id } })
    const secrets = heldSecrets()
    const first = ask()
    await expect.poll(() => secrets.asked).toBeGreaterThan(0)
    await abortAllDurableObjects()
    // Whether the runtime says of a call that it was cut off (503) or only that it failed (500) depends on where it was.
    const end = await first.then(async (answer) => `${answer.status} ${await answer.text()}`, String)
    expect(end).toMatch(/^503 .*broken off|500 is not declared/)
    secrets.letGo()
    expect(await chat.owner.json(`/api/conversations/${id}`)).toBeNull()
    expect((await ask()).status).toBe(200)
    const made = await startConversation({ conversation_id: id }, chat.owner)
    if (answer === 'three') await made.post('message', { content: 'go on' })
    await untilSaid(made, answer)
  }
})

/** Has the database keep back what is read in one go, as secrets are, until the test lets it go or is over. */
function heldSecrets() {
  const { DB } = env
  let isHeld = true
  const letGo = () => {
    isHeld = false
    Object.assign(env, { DB })
  }
  const held = { asked: 0, letGo }
  const batch: D1Database['batch'] = async (statements) => {
    held.asked += 1
    while (isHeld) await scheduler.wait(5)
    return DB.batch(statements)
  }
  Object.assign(env, { DB: { prepare: DB.prepare.bind(DB), batch } })
  onTestFinished(letGo)
  return held
}
