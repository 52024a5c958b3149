import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { client, request } from '../helpers/app.ts'
import { isInState, startConversation } from '../helpers/conversation.ts'

const INFO_KEYS = [
  // Ours: what the agent does.
  'agent_state',
  'conversation_id',
  'created_at',
  'git_provider',
  'last_updated_at',
  'num_connections',
  'pr_number',
  'runtime_status',
  'selected_branch',
  'selected_repository',
  'session_api_key',
  'status',
  'title',
  'trigger',
  'url',
] // prettier-ignore

test('a conversation is created, found in the next list, and its info has every field of the contract', async () => {
  const ann = await client()
  const response = await ann.ask('/api/conversations', { method: 'POST', body: {} })
  expect(response.status).toBe(200)
  const made = await response.json<Record<string, unknown>>()
  expect(made).toEqual({
    status: 'ok',
    conversation_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    message: null,
    conversation_status: 'RUNNING',
  })
  const info = await ann.json(`/api/conversations/${made.conversation_id}`)
  expect(Object.keys(info).sort()).toEqual(INFO_KEYS)
  expect(info).toMatchObject({
    title: `Conversation ${String(made.conversation_id).slice(0, 5)}`,
    status: 'RUNNING',
    runtime_status: 'STATUS$READY',
    trigger: 'service_api',
    num_connections: 0,
    pr_number: [],
    url: `/api/conversations/${made.conversation_id}`,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  const { results, next_page_id } = await ann.json<{ results: Record<string, unknown>[]; next_page_id: null }>(
    '/api/conversations',
  )
  expect(results.map(({ conversation_id }) => conversation_id)).toEqual([made.conversation_id])
  expect(next_page_id).toBeNull()
  const states = async () =>
    (await ann.json<{ results: Record<string, unknown>[] }>('/api/conversations')).results.map((one) => one.agent_state)
  await expect.poll(states).toEqual(['awaiting_user_input'])
})

test('the first message opens the stream in the order that clients expect, and is answered', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo hello', conversation_instructions: 'be brief' })
  const socket = await chat.connect()
  await socket.until((s) => isInState(s.events(), 'awaiting_user_input'))
  const events = socket.events()
  expect(events.map(({ source, action, observation }) => `${source} ${action ?? observation}`)).toEqual([
    'environment agent_state_changed',
    'agent system',
    'user message',
    'environment change_agent_state',
    'user recall',
    'environment agent_state_changed',
    'environment recall',
    'agent run',
    'agent run',
    'environment agent_state_changed',
  ])
  expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i))
  expect(events[6]).toMatchObject({
    cause: 4,
    extras: { conversation_instructions: 'be brief', working_dir: '/workspace' },
  })
  expect(events[8]).toMatchObject({
    cause: 7,
    success: true,
    extras: { command: 'echo hello', metadata: { exit_code: 0 } },
  })
  expect(socket.frames.at(-1)?.type).toBe('events')
  expect((await chat.owner.json(chat.path)).title).toBe('echo hello')
})

test('frames and pages show the same bytes', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo "héllo 你好 \\" 🎈"' })
  const response = await chat.owner.ask(`${chat.path}/ws`, { headers: { upgrade: 'websocket' } })
  const texts: string[] = []
  response.webSocket?.addEventListener('message', ({ data }) => void texts.push(String(data)))
  response.webSocket?.accept()
  await expect.poll(() => texts.join('').includes('"awaiting_user_input"')).toBe(true)
  const framed = texts
    .filter((text) => text.startsWith('{"type":"events"'))
    .map((text) => text.slice(27, -2))
    .join(',')
  const page = await (await chat.owner.ask(`${chat.path}/events?limit=100`)).text()
  expect(page).toBe(`{"events":[${framed}],"has_more":false}`)
})

test('an own id is used, joined, and refused when it breaks the rules', async () => {
  const ann = await client()
  const make = (body: unknown) => ann.ask('/api/conversations', { method: 'POST', body })
  expect(await (await make({ conversation_id: 'my_Chat-1', initial_user_msg: 'echo 1' })).json()).toMatchObject({
    conversation_id: 'my_Chat-1',
    message: null,
  })
  const joined = await (await make({ conversation_id: 'my_Chat-1', initial_user_msg: 'echo 2' })).json<{
    message: string
  }>()
  expect(joined.message).toContain('not delivered')
  const { events } = await ann.json<{ events: { action?: string }[] }>(
    '/api/conversations/my_Chat-1/events?include_types=message',
  )
  expect(events).toHaveLength(1)
  for (const bad of ['', 'a b', '../etc', 'x'.repeat(65), 'ö', 'a\u0000b', null]) {
    expect((await make({ conversation_id: bad })).status, String(bad)).toBe(422)
  }
  expect((await make({ surprise: 1 })).status).toBe(422)
})

test("another owner's conversation answers byte for byte like one that never existed", async () => {
  const chat = await startConversation({ initial_user_msg: 'echo secret' })
  const stranger = await client()
  const calls: [string, string, unknown?][] = [
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/events', { action: 'message', args: { content: 'x' } }],
    ['GET', '/list-files'],
    ['GET', '/select-file?file=a'],
  ]
  for (const [method, tail, body] of calls) {
    const answers = await Promise.all(
      [chat.id, '0'.repeat(32)].map(async (id) => {
        const response = await stranger.ask(`/api/conversations/${id}${tail}`, { method, ...(body ? { body } : {}) })
        return `${response.status} ${(await response.text()).replaceAll(id, '<id>')}`
      }),
    )
    expect(answers[0], `${method} ${tail}`).toBe(answers[1])
  }
  expect(await (await stranger.ask(chat.path)).text()).toBe('null')
})

test('the list pages without gaps or repeats while conversations are added, and filters before it pages', async () => {
  const ann = await client()
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await startConversation({}, ann)).id)
  type Page = { results: { conversation_id: string }[]; next_page_id: string | null }
  const first = await ann.json<Page>('/api/conversations?limit=2')
  await startConversation({}, ann)
  const second = await ann.json<Page>(`/api/conversations?limit=2&page_id=${first.next_page_id}`)
  const third = await ann.json<Page>(`/api/conversations?limit=2&page_id=${second.next_page_id}`)
  const seen = [first, second, third].flatMap(({ results }) => results.map((info) => info.conversation_id))
  expect(seen).toEqual(ids.reverse())
  expect(third.next_page_id).toBeNull()
  expect((await ann.ask('/api/conversations?page_id=MjA=')).status).toBe(400)
  const byTrigger = await ann.json<Page>('/api/conversations?limit=2&conversation_trigger=service_api')
  expect(byTrigger.results).toHaveLength(2)
  expect((await ann.json<Page>('/api/conversations?conversation_trigger=gui')).results).toEqual([])
  expect((await ann.ask('/api/conversations?conversation_trigger=nonsense')).status).toBe(422)
})

test('a conversation token opens its own conversation only, and dies with the key that obtained it', async () => {
  const ann = await client()
  const chat = await startConversation({}, ann)
  const other = await startConversation({}, ann)
  const token = String((await ann.json(chat.path)).session_api_key)
  // A moment later it is the same one; for another key of the owner it is not.
  expect((await ann.json(chat.path)).session_api_key).toBe(token)
  const sibling = await client({ owner: ann.owner })
  expect((await sibling.json(chat.path)).session_api_key).not.toBe(token)
  const withToken = (path: string) => request(path, { headers: { 'x-session-api-key': token } })
  expect((await withToken(`${chat.path}/events`)).status).toBe(200)
  expect((await withToken(chat.path)).status).toBe(200)
  expect((await withToken(`${other.path}/events`)).status).toBe(401)
  expect((await withToken('/api/conversations')).status).toBe(401)
  expect((await withToken('/api/v1/analysis/tasks')).status).toBe(401)
  const forged = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`
  expect((await request(`${chat.path}/events`, { headers: { 'x-session-api-key': forged } })).status).toBe(401)
  const root = { 'x-session-api-key': 'root-key-for-tests-0123456789abcdef' }
  expect((await request(`/api/keys/${ann.keyId}`, { method: 'DELETE', headers: root })).status).toBe(200)
  expect((await withToken(`${chat.path}/events`)).status).toBe(401)
})

test('an unknown id leaves nothing behind in its object', async () => {
  const ann = await client()
  await ann.ask('/api/conversations/nobody/events')
  const { runInDurableObject } = await import('cloudflare:test')
  const tables = await runInDurableObject(conversation(env, ann.owner, 'nobody'), (_, state) =>
    state.storage.sql.exec('SELECT name FROM sqlite_master').toArray(),
  )
  expect(tables).toEqual([])
})

test('everything is still there after an eviction, and the conversation goes on', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo 1' })
  const socket = await chat.connect()
  await socket.until((s) => isInState(s.events(), 'awaiting_user_input'))
  const before = socket.events().length
  await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
  await chat.post('message', { content: 'echo 2' })
  await socket.until((s) => s.events().length >= before + 5)
  expect(socket.events().map(({ id }) => id)).toEqual(socket.events().map((_, i) => i))
  expect(await chat.events()).toEqual(socket.events())
})
