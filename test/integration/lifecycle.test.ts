import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { client } from '../helpers/app.ts'
import { isInState, startConversation } from '../helpers/conversation.ts'

test('a title is changed, trimmed, pushed to clients, and a blank one brings back the default', async () => {
  const chat = await startConversation()
  const socket = await chat.connect()
  const patch = (title: unknown) => chat.owner.ask(chat.path, { method: 'PATCH', body: { title } })
  expect(await (await patch('  Fix the tests ')).json()).toBe(true)
  expect((await chat.owner.json(chat.path)).title).toBe('Fix the tests')
  await socket.until((s) => s.frames.some(({ conversation_title }) => conversation_title === 'Fix the tests'))
  expect((await patch('   ')).status).toBe(200)
  expect((await chat.owner.json(chat.path)).title).toBe(`Conversation ${chat.id.slice(0, 5)}`)
  for (const bad of ['', 'x'.repeat(201), 5, null]) expect((await patch(bad)).status, String(bad)).toBe(422)
  expect((await chat.owner.ask(chat.path, { method: 'PATCH', body: { title: 'a', color: 'red' } })).status).toBe(422)
  const unknown = await chat.owner.ask('/api/conversations/nobody', { method: 'PATCH', body: { title: 'a' } })
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { status: 'error', message: 'Conversation not found', msg_id: 'CONVERSATION$NOT_FOUND' },
  ])
})

test('stop answers what runs, tells the clients, and start goes on with the same history', async () => {
  const chat = await startConversation({ initial_user_msg: 'sleep 30' })
  const socket = await chat.connect()
  await socket.until((s) => s.events().some(({ action }) => action === 'run'))
  const stop = await chat.owner.json(`${chat.path}/stop`, { method: 'POST' })
  expect(stop).toEqual({
    status: 'ok',
    conversation_id: chat.id,
    message: 'Conversation stopped successfully',
    conversation_status: 'STOPPED',
  })
  await socket.until((s) => s.frames.at(-1)?.type === 'closed')
  expect(isInState(socket.events(), 'stopped')).toBe(true)
  expect(socket.events().find(({ observation }) => observation === 'error')).toMatchObject({ cause: 7 })
  expect(await chat.owner.json(chat.path)).toMatchObject({
    status: 'STOPPED',
    runtime_status: null,
    url: null,
    num_connections: 0,
  })
  expect((await chat.post('message', { content: 'x' })).status).toBe(409)
  expect(await chat.owner.json(`${chat.path}/stop`, { method: 'POST' })).toMatchObject({
    message: 'Conversation was not running',
  })
  const start = () => chat.owner.json(`${chat.path}/start`, { method: 'POST', body: {} })
  const started = { status: 'ok', conversation_id: chat.id, message: null, conversation_status: 'RUNNING' }
  expect([await start(), await start()]).toEqual([started, started])
  await chat.post('message', { content: 'echo back' })
  await chat.settled()
  const events = await chat.events()
  expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i))
  expect((await chat.owner.ask(`${chat.path}/start`, { method: 'POST' })).status).toBe(422)
  const unknown = await chat.owner.ask('/api/conversations/nobody/start', { method: 'POST', body: {} })
  expect([unknown.status, await unknown.json()]).toEqual([404, { status: 'error', conversation_id: 'nobody' }])
})

test('a deleted conversation is gone everywhere, its id can be used again, and deleting twice is no error', async () => {
  const chat = await startConversation({ conversation_id: 'again' })
  const body = new FormData()
  body.append('files', new File([new Uint8Array(1_500_000)], 'big'))
  await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body })
  const prefix = `conversations/${chat.owner.owner}/again/`
  expect((await env.FILES.list({ prefix })).objects.length).toBe(1)
  const socket = await chat.connect()
  const remove = async () => (await chat.owner.ask(chat.path, { method: 'DELETE' })).json()
  expect(await remove()).toBe(true)
  await socket.until((s) => s.frames.at(-1)?.type === 'closed')
  expect(await remove()).toBe(false)
  expect(await chat.owner.json(chat.path)).toBeNull()
  expect((await chat.owner.ask(`${chat.path}/events`)).status).toBe(404)
  expect((await env.FILES.list({ prefix })).objects).toEqual([])
  expect(await chat.owner.json('/api/conversations')).toEqual({ results: [], next_page_id: null })
  const tables = await runInDurableObject(conversation(env, chat.owner.owner, 'again'), (_, state) =>
    state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
  )
  expect(tables).toEqual([])
  const second = await startConversation({ conversation_id: 'again' }, chat.owner)
  expect((await second.events()).length).toBe(4)
  expect((await chat.owner.json<{ results: unknown[] }>('/api/conversations')).results).toHaveLength(1)
})

test('deleting while a command runs leaves nothing behind and nothing fails', async () => {
  const chat = await startConversation({ initial_user_msg: 'for i in $(seq 1 50); do sleep 0.05; echo $i >> f; done' })
  await expect.poll(async () => (await chat.events()).some(({ action }) => action === 'run')).toBe(true)
  expect(await (await chat.owner.ask(chat.path, { method: 'DELETE' })).json()).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await chat.owner.json(chat.path)).toBeNull()
  await runDurableObjectAlarm(conversation(env, chat.owner.owner, chat.id))
})

test('of more running conversations than the limit one that nobody has open makes way, and clients of one that has to are told', async () => {
  const ann = await client()
  const first = await startConversation({ initial_user_msg: 'sleep 100' }, ann)
  const second = await startConversation({}, ann)
  const socket = await second.connect()
  const third = await startConversation({}, ann)
  const fourth = await startConversation({}, ann)
  const statusOf = async ({ path }: { path: string }) => (await ann.json(path)).status
  // Of the two that nobody has open, the idle one; not the second, although nothing happened in it for longer.
  const statusesOf = () => Promise.all([first, second, third, fourth].map(statusOf))
  expect(await statusesOf()).toEqual(['RUNNING', 'RUNNING', 'STOPPED', 'RUNNING'])
  // When somebody has every one open, the idlest goes.
  await first.connect()
  await fourth.connect()
  await third.connect()
  await socket.until((s) => s.frames.at(-1)?.type === 'closed')
  expect(socket.frames.some(({ id }) => id === 'AGENT_ERROR$TOO_MANY_CONVERSATIONS')).toBe(true)
  const why = 'Too many conversations run, so this one was closed; start it again to go on'
  expect(socket.frames).toContainEqual({ type: 'status', error: true, message: why })
  expect(socket.frames).toContainEqual(expect.objectContaining({ type: 'closing', reason: why }))
  expect(socket.frames.at(-1)).toMatchObject({ type: 'closed', reason: why })
  // Whoever comes later finds the reason in the events.
  expect((await second.events()).at(-1)?.extras).toEqual({ agent_state: 'stopped', reason: why })
  expect(await statusesOf()).toEqual(['RUNNING', 'STOPPED', 'RUNNING', 'RUNNING'])
  await second.connect()
  expect((await ann.json(second.path)).status).toBe('RUNNING')
  const statuses = async () => {
    const { results } = await ann.json<{ results: { status: string }[] }>('/api/conversations')
    return results.filter(({ status }) => status === 'RUNNING').length
  }
  await expect.poll(statuses).toBe(3)
  await first.post('change_agent_state', { agent_state: 'stopped' })
})

test('a conversation that nobody follows and nothing happens in is closed after a while; one that is followed is not', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo hi' })
  await chat.settled()
  const stub = conversation(env, chat.owner.owner, chat.id)
  const idleAt = () =>
    runInDurableObject(stub, (_, { storage }) => {
      return storage.sql.exec<{ at: number }>("SELECT at FROM alarms WHERE name = 'idle'").one().at
    })
  const makeIdle = async () => {
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE events SET timestamp = '2020-01-01T00:00:00.000000Z'")
      storage.sql.exec("UPDATE alarms SET at = 1 WHERE name = 'idle'")
    })
    await evictDurableObject(stub)
  }
  const status = async () => (await chat.owner.json(chat.path)).status
  const socket = await chat.connect()
  await makeIdle()
  await expect.poll(idleAt).toBeGreaterThan(Date.now() + 3_000_000)
  expect(await status()).toBe('RUNNING')
  socket.close()
  await expect.poll(async () => (await chat.owner.json(chat.path)).num_connections).toBe(0)
  await makeIdle()
  await expect.poll(status).toBe('STOPPED')
  expect(isInState(await chat.events(), 'stopped')).toBe(true)
  await chat.owner.ask(`${chat.path}/start`, { method: 'POST', body: {} })
  await chat.post('message', { content: 'echo back' })
  await chat.settled()
  expect(await idleAt()).toBeGreaterThan(Date.now() + 3_000_000)
})

test('every change that its author asked for stands in the very next list', async () => {
  const ann = await client()
  type Row = { conversation_id: string; title: string; status: string; last_updated_at: string; pr_number: number[] }
  const listed = async (id: string) => {
    const { results } = await ann.json<{ results: Row[] }>('/api/conversations')
    return results.find(({ conversation_id }) => conversation_id === id)
  }
  const stub = (id: string) => conversation(env, ann.owner, id)
  const chat = await startConversation({ conversation_id: 'seen' }, ann)
  expect(await listed('seen')).toMatchObject({ status: 'RUNNING', title: 'Conversation seen' })
  for (const title of ['First', 'Second', 'Third']) {
    await ann.ask(chat.path, { method: 'PATCH', body: { title } })
    expect(await listed('seen')).toMatchObject({ title })
  }
  await ann.ask(`${chat.path}/stop`, { method: 'POST' })
  expect(await listed('seen')).toMatchObject({ status: 'STOPPED', title: 'Third' })
  await ann.ask(`${chat.path}/start`, { method: 'POST', body: {} })
  expect(await listed('seen')).toMatchObject({ status: 'RUNNING' })
  await stub('seen').addPullRequest(17)
  expect(await listed('seen')).toMatchObject({ pr_number: [17] })
  const before = (await listed('seen'))?.last_updated_at ?? ''
  await chat.post('change_agent_state', { agent_state: 'paused' })
  const after = (await listed('seen'))?.last_updated_at ?? ''
  expect(after > before).toBe(true)
  // A conversation that its author comes back to by a socket, or by creating it a second time, runs.
  for (const again of [() => chat.connect(), () => startConversation({ conversation_id: 'seen' }, ann)]) {
    await ann.ask(`${chat.path}/stop`, { method: 'POST' })
    expect(await listed('seen')).toMatchObject({ status: 'STOPPED' })
    await again()
    expect(await listed('seen')).toMatchObject({ status: 'RUNNING' })
  }
  const body = { event_id: 1, conversation_id: 'copy', title: 'Copied' }
  await ann.ask(`${chat.path}/fork`, { method: 'POST', body })
  expect(await listed('copy')).toMatchObject({ title: 'Copied', status: 'RUNNING' })
  await ann.ask('/api/conversations/copy', { method: 'DELETE' })
  expect(await listed('copy')).toBeUndefined()
  // The one that makes way for a fourth is shown as stopped to whoever made the fourth.
  for (let i = 0; i < 3; i++) await startConversation({}, ann)
  const { results } = await ann.json<{ results: Row[] }>('/api/conversations')
  expect(results.filter(({ status }) => status === 'RUNNING')).toHaveLength(3)
})
