import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

type Stand = {
  success: boolean
  event_id: number
  at_rest: boolean
  agent_state: string
  message: string | null
  last_event_id: number
}

test('a message with wait is answered when the agent is at rest, with what it said and where to read on', async () => {
  const chat = await startConversation()
  const say = async (content: string, wait: string, key?: string) => {
    const response = await chat.owner.ask(`${chat.path}/events${wait}`, {
      method: 'POST',
      body: { action: 'message', args: { content } },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    })
    return { status: response.status, text: await response.text() }
  }
  const first = await say('echo one', '?wait=60', 'k1')
  const stand = JSON.parse(first.text) as Stand
  expect([first.status, stand.at_rest, stand.agent_state, stand.message]).toEqual([
    200,
    true,
    'awaiting_user_input',
    'one',
  ])
  const events = await chat.events()
  expect(events.find(({ id }) => id === stand.event_id)).toMatchObject({
    action: 'message',
    args: { content: 'echo one' },
  })
  expect(events.at(-1)?.id).toBe(stand.last_event_id)
  // Sent again it adds nothing, and the answer is the same.
  expect(await say('echo one', '?wait=60', 'k1')).toEqual(first)
  // Without the parameter the answer is what it always was.
  expect(await say('echo two', '')).toEqual({ status: 200, text: '{"success":true}' })
  for (const bad of ['61', '-1', 'soon', '1.5']) expect((await say('echo no', `?wait=${bad}`)).status, bad).toBe(422)
})

test('what is not over in time is a 202 that says so, and whoever waits learns of the stop', async () => {
  const chat = await startConversation()
  const send = async (body: object, wait: number) => {
    const response = await chat.owner.ask(`${chat.path}/events?wait=${wait}`, { method: 'POST', body })
    return { status: response.status, stand: await response.json<Stand>() }
  }
  const message = { action: 'message', args: { content: 'sleep 1000' } }
  const early = await send(message, 0)
  expect([early.status, early.stand.at_rest, early.stand.message]).toEqual([202, false, null])
  const waiting = send(message, 60)
  const stopped = await send({ action: 'change_agent_state', args: { agent_state: 'stopped' } }, 60)
  for (const { status, stand } of [stopped, await waiting]) {
    expect([status, stand.at_rest, stand.agent_state]).toEqual([200, true, 'stopped'])
  }
})

test('a conversation that is deleted while somebody waits ends the waiting, and a strange one is not found', async () => {
  const chat = await startConversation()
  const body = { action: 'message', args: { content: 'sleep 1000' } }
  const path = `${chat.path}/events?wait=60`
  const stranger = await client()
  expect((await stranger.ask(path, { method: 'POST', body })).status).toBe(404)
  expect((await chat.post('message', { content: 'sleep 1000' })).status).toBe(200)
  const waiting = chat.owner.ask(path, { method: 'POST', body })
  expect((await chat.owner.ask(chat.path, { method: 'DELETE' })).status).toBe(200)
  // Stopped before it was deleted, or gone.
  expect([200, 404]).toContain((await waiting).status)
})

type Queued = { task_id: string; status: string; finished?: boolean; progress?: number }
type Batch = { finished: boolean; accepted: Queued[]; tasks: { task_id: string; status: string }[] }

test('an analysis with wait is answered with its result, a batch with its tasks, and a failure as a failure', async () => {
  const ann = await client()
  const analyze = async <T>(body: object, query: string) => {
    const asked = { method: 'POST', body: { async_mode: true, ...body } }
    const response = await ann.ask(`/api/v1/analysis/analyze${query}`, asked)
    return { status: response.status, body: await response.json<T>() }
  }
  const one = await analyze<{ query_id: string; report: object }>({ stock_code: 'AAPL' }, '?wait=60')
  expect(one.status).toBe(200)
  const status = await ann.json<{ result: object }>(`/api/v1/analysis/status/${one.body.query_id}`)
  expect(status.result).toEqual(one.body)

  // Nobody has data for it.
  const failed = await analyze<{ error: string; message: string; task_id: string }>({ stock_code: 'ZZZQ' }, '?wait=60')
  expect([failed.status, failed.body.error]).toEqual([500, 'analysis_failed'])
  expect(failed.body.message).not.toBe('')

  const batch = await analyze<Batch>({ stock_codes: ['MSFT', 'NVDA'] }, '?wait=60')
  expect([batch.status, batch.body.finished]).toEqual([202, true])
  expect(batch.body.tasks.map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect(batch.body.tasks.map(({ task_id }) => task_id)).toEqual(batch.body.accepted.map(({ task_id }) => task_id))

  const early = await analyze<Queued>({ stock_code: '600519' }, '?wait=0')
  expect([early.status, early.body.status, early.body.finished]).toEqual([202, 'pending', false])
  const plain = await analyze<Queued>({ stock_code: '000001' }, '')
  expect([plain.status, Object.keys(plain.body)]).toEqual([
    202,
    ['task_id', 'trace_id', 'status', 'message', 'analysis_phase'],
  ])
  expect((await analyze({ stock_code: 'AAPL' }, '?wait=61')).status).toBe(422)
})
