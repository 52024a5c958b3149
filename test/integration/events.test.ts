import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

type Page = { events: { id: number }[]; has_more: boolean }
const ids = ({ events }: Page) => events.map(({ id }) => id)

test('pages walk both ways with inclusive ends, and a limit outside 0 to 100 is refused', async () => {
  const chat = await startConversation()
  for (let i = 0; i < 6; i++) await chat.post('change_agent_state', { agent_state: i % 2 ? 'running' : 'paused' })
  const last = (await chat.events()).length - 1
  const page = (query: string) => chat.owner.json<Page>(`${chat.path}/events?${query}`)
  expect(ids(await page('start_id=2&end_id=4'))).toEqual([2, 3, 4])
  expect(ids(await page('start_id=2&end_id=4&reverse=true'))).toEqual([4, 3, 2])
  expect(ids(await page('start_id=-5&limit=2'))).toEqual([0, 1])
  expect(await page(`start_id=${last}&limit=1`)).toMatchObject({ has_more: false })
  expect(await page(`start_id=${last + 1}`)).toEqual({ events: [], has_more: false })
  expect(ids(await page('start_id=99999999999999999999'))).toEqual([])
  expect(await page('limit=0')).toEqual({ events: [], has_more: true })
  expect(ids(await page('reverse=yes&limit=1.0'))).toEqual([last])
  for (const limit of ['-1', '101']) {
    const refused = await chat.owner.ask(`${chat.path}/events?limit=${limit}`)
    expect([refused.status, await refused.json()]).toEqual([400, { detail: 'Invalid limit' }])
  }
  for (const query of ['limit=ten', 'start_id=1.5', 'reverse=maybe', 'start_date=soon']) {
    expect((await chat.owner.ask(`${chat.path}/events?${query}`)).status, query).toBe(422)
  }
  const refused = await chat.owner.json<{ detail: { loc: string[] }[] }>(`${chat.path}/events?end_date=soon`)
  expect(refused.detail.map(({ loc }) => loc)).toEqual([['query', 'end_date']])
})

test('filters work in the query; type names match actions and observations, and strangers match nothing', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo 你好' })
  await chat.settled()
  const kinds = async (query: string) =>
    (await chat.events(`?limit=100&${query}`)).map(({ action, observation }) =>
      action ? `a:${action}` : `o:${observation}`,
    )
  expect(await kinds('include_types=run')).toEqual(['a:run', 'o:run'])
  expect(await kinds('include_types=observation:run')).toEqual(['o:run'])
  expect(await kinds('include_types=run&include_types=message')).toEqual(['a:message', 'a:run', 'o:run'])
  expect(await kinds('include_types=Bogus')).toEqual([])
  expect(await kinds('exclude_types=run&source=agent')).toEqual(['a:system'])
  expect(await kinds('query=%E4%BD%A0%E5%A5%BD&source=user')).toEqual(['a:message', 'a:recall'])
  expect(await kinds('end_date=2001-01-01')).toEqual([])
  expect(await kinds('start_date=2001-01-01T00:00:00%2B02:00&source=nobody')).toEqual([])
})

test('what a client may not add is refused with every fault named, and nothing is stored', async () => {
  const chat = await startConversation()
  const before = await chat.events()
  const bad: unknown[] = [
    {},
    [],
    null,
    'text',
    { action: 'message' },
    { action: 'message', args: { content: 5 } },
    { action: 'message', args: { content: 'x', surprise: 1 } },
    { action: 'message', args: { content: 'x' }, id: 3 },
    { action: 'message', args: { content: 'x' }, source: 'nobody' },
    { action: 'write', args: { path: 'a', content: 'b' } },
    { observation: 'run', content: 'x', extras: {} },
    { action: 'change_agent_state', args: { agent_state: 'loading' } },
    { action: 'run', args: {} },
  ]
  for (const body of bad) {
    const response = await chat.owner.ask(`${chat.path}/events`, { method: 'POST', body })
    expect(response.status, JSON.stringify(body)).toBe(422)
    const { detail } = await response.json<{ detail: { type: string; loc: unknown[]; msg: string }[] }>()
    expect(detail[0]?.loc[0], JSON.stringify(body)).toBe('body')
  }
  expect(await chat.events()).toEqual(before)
})

test('the same request sent twice with one Idempotency-Key adds one event', async () => {
  const chat = await startConversation()
  const send = () =>
    chat.owner.ask(`${chat.path}/events`, {
      method: 'POST',
      body: { action: 'message', args: { content: 'echo once' } },
      headers: { 'idempotency-key': 'abc' },
    })
  const answers = await Promise.all([send(), send(), send()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await chat.events('?include_types=message')).toHaveLength(1)
})

test('another event under a key that was used is a 422 that says what to do, and is not stored; the same one still is the first', async () => {
  const chat = await startConversation()
  const send = (args: object, headers: Record<string, string> = { 'idempotency-key': 'abc' }) =>
    chat.owner.ask(`${chat.path}/events`, { method: 'POST', body: { action: 'message', args }, headers })
  expect((await send({ content: 'one' })).status).toBe(200)
  for (const other of [{ content: 'two' }, { content: 'one', image_urls: ['https://example.com/a.png'] }]) {
    const response = await send(other)
    expect([response.status, await response.json()]).toEqual([
      422,
      {
        detail: [
          {
            type: 'idempotency_key_reused',
            loc: ['header', 'Idempotency-Key'],
            msg: expect.stringContaining('a new key for a new event'),
            input: 'abc',
          },
        ],
      },
    ])
  }
  // What means nothing makes no other event.
  expect((await send({ content: 'one', timestamp: 'now', wait_for_response: true })).status).toBe(200)
  expect((await send({ content: 'two' }, { 'idempotency-key': 'abd' })).status).toBe(200)
  const sent = (await chat.events('?include_types=message')).filter(({ source }) => source === 'user')
  expect(sent.map(({ message }) => message)).toEqual(['one', 'two'])
})

test('another action under a ref that was used is refused over a socket; a ref is the same thing as a key', async () => {
  const chat = await startConversation()
  const socket = await chat.connect()
  const say = (content: string) => socket.send({ action: 'message', args: { content }, ref: 'r' })
  const answers = () => socket.frames.filter(({ ref }) => ref === 'r')
  for (const content of ['one', 'two', 'one']) say(content)
  await socket.until(() => answers().length === 3)
  const ack = { type: 'ack', ref: 'r', event_id: expect.any(Number) }
  const refused = { type: 'error', ref: 'r', message: expect.stringContaining('a new ref for a new action') }
  expect(answers()).toEqual([ack, refused, ack])
  expect(answers()[2]).toEqual(answers()[0])
  const post = { method: 'POST', headers: { 'idempotency-key': 'r' } }
  const status = async (content: string) =>
    (await chat.owner.ask(`${chat.path}/events`, { ...post, body: { action: 'message', args: { content } } })).status
  expect([await status('two'), await status('one')]).toEqual([422, 200])
})

test('a key that an earlier release stored names its event, whatever is sent under it', async () => {
  const chat = await startConversation()
  const send = async (content: string) => {
    const body = { action: 'message', args: { content } }
    const asked = { method: 'POST', body, headers: { 'idempotency-key': 'old' } }
    return (await chat.owner.ask(`${chat.path}/events?wait=0`, asked)).json<{ event_id: number }>()
  }
  const { event_id: first } = await send('one')
  await runInDurableObject(conversation(env, chat.owner.owner, chat.id), (_, { storage }) => {
    storage.sql.exec('UPDATE client_refs SET digest = NULL')
  })
  expect((await send('two')).event_id).toBe(first)
})

test('an event for an unknown conversation is a 404, whatever its id looks like', async () => {
  const ann = await client()
  for (const id of ['0'.repeat(32), '..%2F..%2Fetc', 'a%00b', '%F0%9F%8E%88', 'x'.repeat(10_000)]) {
    const response = await ann.ask(`/api/conversations/${id}/events`, {
      method: 'POST',
      body: { action: 'message', args: { content: 'x' } },
    })
    expect([response.status, await response.json()]).toEqual([
      404,
      { detail: `Conversation ${decodeURIComponent(id)} not found` },
    ])
  }
})
