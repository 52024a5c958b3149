import { expect, test } from 'vitest'
import { type AgentChat, bash, inState, lastPrompt, make, startAgent, untilMade, untilSaid } from '../helpers/agent.ts'
import { isInState } from '../helpers/conversation.ts'

const states = (events: Awaited<ReturnType<AgentChat['events']>>) =>
  events.flatMap(({ observation, extras }) => (observation === 'agent_state_changed' ? [extras?.agent_state] : []))

const CONFIRMING = { confirmation_mode: true }

test('an answer without a call waits for the user, and the next message goes on with the same history', async () => {
  const chat = await startAgent({ replies: [{ text: 'Which file?' }, { text: 'Thank you.' }] })
  await inState(chat, 'awaiting_user_input')
  await chat.post('message', { content: 'hello' })
  await untilSaid(chat, 'Which file?')
  await inState(chat, 'awaiting_user_input')
  await chat.post('message', { content: 'that one' })
  await untilSaid(chat, 'Thank you.')
  const prompt = await lastPrompt(chat)
  expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant', 'user'])
  expect(JSON.stringify(prompt)).toContain('Which file?')
})

test('a confirmed action runs once; state, action, answer and observation stand in the order clients expect', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('echo yes >> f; cat f', 'k1')] }, { text: 'ok' }],
    settings: CONFIRMING,
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  const waiting = await chat.events()
  expect(waiting.slice(-2)).toMatchObject([
    { extras: { agent_state: 'awaiting_user_confirmation' } },
    { action: 'run', args: { confirmation_state: 'awaiting_confirmation' } },
  ])
  expect((await chat.post('change_agent_state', { agent_state: 'user_confirmed' })).status).toBe(200)
  await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
  await inState(chat, 'awaiting_user_input')
  const events = (await chat.events()).slice(waiting.length)
  const again = events.find(({ action }) => action === 'run')
  expect(again?.args).toMatchObject({ confirmation_state: 'confirmed', thought: '' })
  expect(events.filter(({ observation }) => observation === 'run')).toMatchObject([
    { cause: again?.id, content: 'yes' },
  ])
  expect(states(events)).toEqual(['user_confirmed', 'running', 'awaiting_user_input'])
})

test('with an analyzer what is risky waits, whatever tool it is of, and what is not runs at once', async () => {
  const editor = (id: string, path: string) => ({
    id,
    name: 'str_replace_editor',
    arguments: { command: 'create', path, file_text: 'x' },
  })
  const chat = await startAgent({
    replies: [
      { calls: [editor('k1', '/workspace/a.txt'), bash(String.raw`l\s`, 'k2'), editor('k3', '/workspace/.env')] },
      { calls: [bash(String.raw`\r'm' -rf /workspace/a.txt`, 'k4')] },
      { text: 'ok' },
    ],
    settings: { ...CONFIRMING, security_analyzer: 'invariant' },
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  const waiting = await chat.events()
  expect(
    waiting.flatMap(({ action, args }) => (action === 'edit' || action === 'run' ? [args?.security_risk] : [])),
  ).toEqual([0, 0, 2])
  expect(waiting.at(-1)).toMatchObject({ action: 'edit', args: { confirmation_state: 'awaiting_confirmation' } })
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual(['a.txt'])
  await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
  await expect.poll(async () => (await chat.events()).at(-1)?.action).toBe('run')
  const events = (await chat.events()).slice(waiting.length)
  const again = events.find(({ action }) => action === 'edit')
  expect(again?.args).toMatchObject({ confirmation_state: 'confirmed', path: '/workspace/.env' })
  expect(events.find(({ observation }) => observation === 'edit')?.cause).toBe(again?.id)
  expect(events.at(-1)?.args).toMatchObject({ confirmation_state: 'awaiting_confirmation', security_risk: 2 })
  await chat.post('change_agent_state', { agent_state: 'user_rejected' })
  await inState(chat, 'awaiting_user_input')
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual(expect.arrayContaining(['a.txt']))
})

test('a rejected action does not run, nor do those behind it, and the model is told of both', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('touch one', 'k1'), bash('touch two', 'k2')] }, { text: 'understood' }],
    settings: CONFIRMING,
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  await chat.post('change_agent_state', { agent_state: 'user_rejected' })
  await inState(chat, 'awaiting_user_input')
  const events = await chat.events()
  expect(events.slice(-4).map((event) => event.observation ?? event.action)).toEqual([
    'run',
    'agent_state_changed',
    'user_rejected',
    'agent_state_changed',
  ])
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual([])
  await chat.post('message', { content: 'and now?' })
  await untilSaid(chat, 'understood')
  const told = (await lastPrompt(chat)).filter(({ role }) => role === 'tool')
  expect(told.map(({ tool_call_id }) => tool_call_id)).toEqual(['k1', 'k2'])
  expect(JSON.stringify(told)).toContain('rejected')
})

test('a message in place of a confirmation refuses the action, and the model hears why', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('touch one', 'k1')] }, { text: 'fine' }],
    settings: CONFIRMING,
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  await chat.post('message', { content: 'rather not' })
  await inState(chat, 'awaiting_user_input')
  expect(JSON.stringify(await lastPrompt(chat))).toContain('did not confirm')
  const events = await chat.events()
  const asked = events.find(({ args }) => args?.confirmation_state === 'awaiting_confirmation')
  expect(events.find(({ observation }) => observation === 'user_rejected')?.cause).toBe(asked?.id)
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual([])
})

test('stop while the model writes keeps what it wrote, marked, and the turn stands still', async () => {
  const chat = await startAgent({
    replies: [{ text: 'one two three four five six', chunkChars: 4, heldAfter: 4 }, { text: 'later' }],
    body: { initial_user_msg: 'go' },
  })
  const socket = await chat.connect()
  await socket.until((s) => s.frames.some(({ type }) => type === 'delta'))
  await chat.post('change_agent_state', { agent_state: 'stopped' })
  await inState(chat, 'stopped')
  const last = (await chat.events()).findLast(({ action }) => action === 'message')
  expect(last).toMatchObject({ source: 'agent', message: expect.stringMatching(/^one.*\[stopped\]$/s) })
  await expect.poll(async () => (await chat.model.requests()).at(-1)?.isAbandoned).toBe(true)
})

test('stop while a command runs answers it and those behind it; the next message goes on', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('echo begun; sleep 30', 'k1'), bash('touch two', 'k2')] }, { text: 'back again' }],
    body: { initial_user_msg: 'go' },
  })
  const socket = await chat.connect()
  await socket.until((s) => s.frames.some(({ type }) => type === 'output'))
  await chat.post('change_agent_state', { agent_state: 'stopped' })
  await inState(chat, 'stopped')
  const events = await chat.events()
  const run = events.find(({ action }) => action === 'run')
  expect(events.find(({ cause }) => cause === run?.id)).toMatchObject({
    observation: 'error',
    content: expect.stringContaining('begun'),
    tool_call_metadata: { tool_call_id: 'k1' },
  })
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual([])
  await chat.post('message', { content: 'again' })
  await untilSaid(chat, 'back again')
  expect((await lastPrompt(chat)).filter(({ role }) => role === 'tool')).toHaveLength(2)
})

test('a paused agent does nothing, and a resume that is asked for twice is answered once', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash(`${untilMade('told')}; echo done`, 'k1')] }, { text: 'the end' }],
    body: { initial_user_msg: 'go' },
  })
  const socket = await chat.connect()
  await socket.until((s) => s.events().some(({ action }) => action === 'run'))
  await chat.post('change_agent_state', { agent_state: 'paused' })
  await make(chat, 'told')
  await expect.poll(async () => (await chat.events()).some(({ observation }) => observation === 'run')).toBe(true)
  const before = (await chat.model.requests()).length
  expect(isInState(await chat.events(), 'paused')).toBe(true)
  await Promise.all([1, 2].map(() => chat.post('change_agent_state', { agent_state: 'running' })))
  await inState(chat, 'awaiting_user_input')
  expect((await chat.model.requests()).length).toBe(before + 1)
  expect((await chat.events()).filter(({ message }) => message === 'the end')).toHaveLength(1)
})

test("an agent that was paused, or asked to go on, when it was the user's turn is not asked for a second answer", async () => {
  const chat = await startAgent({
    replies: [{ text: 'done', chunkChars: 1, heldAfter: 2 }, { text: 'a second answer' }],
    body: { initial_user_msg: 'go' },
  })
  const ask = (state: string) => chat.post('change_agent_state', { agent_state: state })
  await expect.poll(async () => (await chat.model.requests()).length).toBe(1)
  // In the middle of the last answer, which ends all the same.
  await ask('paused')
  await chat.model.release()
  await untilSaid(chat, 'done')
  for (const state of ['running', 'paused', 'paused', 'running']) await ask(state)
  await inState(chat, 'awaiting_user_input')
  await chat.post('message', { content: 'and now?' })
  await untilSaid(chat, 'a second answer')
  expect((await chat.model.requests()).filter(({ method }) => method === 'POST')).toHaveLength(2)
  expect(states(await chat.events()).slice(2)).toEqual([
    'paused',
    'awaiting_user_input',
    'paused',
    'awaiting_user_input',
    'running',
    'awaiting_user_input',
  ])
})

test('a message that comes while the model writes is part of its next question, and nothing is asked twice', async () => {
  const chat = await startAgent({
    replies: [{ text: 'first answer', heldAfter: 0 }, { text: 'second answer' }],
    body: { initial_user_msg: 'one' },
  })
  await expect.poll(async () => (await chat.model.requests()).length).toBe(1)
  await chat.post('message', { content: 'two' })
  await chat.model.release()
  await untilSaid(chat, 'second answer')
  await inState(chat, 'awaiting_user_input')
  expect((await chat.model.requests()).length).toBe(2)
  expect(JSON.stringify(await lastPrompt(chat))).toMatch(/"one".*first answer|two/s)
})

test('a command of the user that comes while the model writes runs when it is done, and asks the model nothing', async () => {
  const chat = await startAgent({
    replies: [{ text: 'the answer', heldAfter: 0 }, { text: 'nobody asked for this' }],
    body: { initial_user_msg: 'one' },
  })
  await expect.poll(async () => (await chat.model.requests()).length).toBe(1)
  await chat.post('run', { command: 'echo mine' })
  await chat.model.release()
  await untilSaid(chat, 'the answer')
  await expect.poll(async () => (await chat.events()).some(({ content }) => content === 'mine')).toBe(true)
  await inState(chat, 'awaiting_user_input')
  await chat.post('message', { content: 'two' })
  await untilSaid(chat, 'nobody asked for this')
  expect((await chat.model.requests()).length).toBe(2)
})

test('a message that comes before the agent says that it is done, or before the user says no, is answered all the same', async () => {
  const finish = { name: 'finish', arguments: { message: 'All done.' } }
  const chat = await startAgent({
    replies: [
      { calls: [bash(untilMade('one'), 'k1'), finish] },
      { text: 'Now to what you wrote.' },
      { calls: [bash(untilMade('two'), 'k2'), bash('rm -rf /workspace/x', 'k3')] },
      { text: 'To that as well.' },
    ],
    settings: { confirmation_mode: true, security_analyzer: 'invariant' },
    body: { initial_user_msg: 'one' },
  })
  const begun = async (id: string) =>
    (await chat.events()).some(({ action, tool_call_metadata: of }) => action === 'run' && of?.tool_call_id === id)
  await expect.poll(() => begun('k1')).toBe(true)
  await chat.post('message', { content: 'two' })
  await make(chat, 'one')
  await untilSaid(chat, 'Now to what you wrote.')
  await inState(chat, 'awaiting_user_input')
  expect(states(await chat.events())).not.toContain('finished')
  expect(JSON.stringify(await lastPrompt(chat))).toContain('the user wrote meanwhile')

  await chat.post('message', { content: 'three' })
  await expect.poll(() => begun('k2')).toBe(true)
  await chat.post('message', { content: 'four' })
  await make(chat, 'two')
  await inState(chat, 'awaiting_user_confirmation')
  await chat.post('change_agent_state', { agent_state: 'user_rejected' })
  await untilSaid(chat, 'To that as well.')
  await inState(chat, 'awaiting_user_input')
  expect(JSON.stringify(await lastPrompt(chat))).toMatch(/rejected.*four|four.*rejected/s)
})

const CALLS_THREE = [bash('rm -rf one', 'k1'), bash('rm -rf two', 'k2'), bash('printf "a\\u202eb" > "$HOME/x"', 'k3')]

test('an answer that names an action is for no other, and the action says why it waits', async () => {
  const chat = await startAgent({
    replies: [{ calls: CALLS_THREE }, { text: 'ok' }],
    settings: { ...CONFIRMING, security_analyzer: 'invariant' },
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  const asked = async () =>
    (await chat.events()).filter(({ args }) => args?.confirmation_state === 'awaiting_confirmation')
  const [first] = await asked()
  expect(first?.args).toMatchObject({
    security_risk: 2,
    security_reasons: [expect.stringContaining('deletes a folder')],
  })
  await chat.post('change_agent_state', { agent_state: 'user_confirmed', action_id: first?.id })
  await expect.poll(async () => (await asked()).length).toBe(2)
  // The same click a second time.
  await chat.post('change_agent_state', { agent_state: 'user_confirmed', action_id: first?.id })
  const after = await chat.events()
  expect(after.at(-1)).toMatchObject({ observation: 'error', content: expect.stringContaining('No action') })
  expect(after.filter(({ observation }) => observation === 'run')).toHaveLength(1)
  const second = (await asked()).at(-1)
  await chat.post('change_agent_state', { agent_state: 'user_confirmed', action_id: second?.id })
  await expect.poll(async () => (await asked()).length).toBe(3)
  await chat.post('change_agent_state', { agent_state: 'stopped' })
  await inState(chat, 'stopped')
  const third = (await asked()).at(-1)
  expect((await chat.events()).find(({ cause }) => cause === third?.id)).toMatchObject({ observation: 'user_rejected' })
})

test('settings are read before each call: what is switched off while one waits does not hold the next', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('touch one', 'k1'), bash('touch two', 'k2')] }, { text: 'ok' }],
    settings: CONFIRMING,
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'awaiting_user_confirmation')
  await chat.owner.ask('/api/settings', { method: 'POST', body: { confirmation_mode: false } })
  await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
  await inState(chat, 'awaiting_user_input')
  expect(await chat.owner.json(`${chat.path}/list-files`)).toEqual(['one', 'two'])
})

test('settings are read before each call: what is switched on while one waits holds the next', async () => {
  const chat = await startAgent({
    replies: [{ calls: [bash('rm -rf one', 'k1'), bash('rm two', 'k2')] }, { text: 'ok' }],
    settings: { ...CONFIRMING, security_analyzer: 'invariant' },
    body: { initial_user_msg: 'go' },
  })
  await chat.owner.ask('/api/security/settings', { method: 'POST', body: { RISK_SEVERITY: 2 } })
  await inState(chat, 'awaiting_user_confirmation')
  await chat.owner.ask('/api/security/settings', { method: 'POST', body: { RISK_SEVERITY: 1 } })
  await chat.post('change_agent_state', { agent_state: 'user_confirmed' })
  await expect
    .poll(async () => (await chat.events()).at(-1)?.args)
    .toMatchObject({ command: 'rm two', confirmation_state: 'awaiting_confirmation' })
})
