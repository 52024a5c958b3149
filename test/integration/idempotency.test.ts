// A request that names itself begins its work once, however often it comes and whatever becomes of its answers.

import { afterAll, expect, test, vi } from 'vitest'
import { client as anyClient, type Client } from '../helpers/app.ts'

const ANALYZE = '/api/v1/analysis/analyze'
const REVIEW = '/api/v1/analysis/market-review'

const post = (who: Client, body: unknown, key: string, path = ANALYZE) =>
  who.ask(path, { method: 'POST', body, headers: { 'idempotency-key': key } })

const told = async (answer: Response) => [answer.status, await answer.json<Record<string, unknown>>()] as const

const clients: Client[] = []

async function client(): Promise<Client> {
  const made = await anyClient()
  clients.push(made)
  return made
}

// What still runs when the file ends would load its modules from a suite that is gone.
afterAll(async () => {
  for (const who of clients) {
    await vi.waitFor(
      async () => {
        const { tasks } = await who.json<{ tasks: { status: string }[] }>('/api/v1/analysis/tasks?limit=100')
        expect(tasks.filter(({ status }) => !['completed', 'failed', 'cancelled'].includes(status))).toEqual([])
      },
      { timeout: 60_000 },
    )
  }
}, 90_000)

const taskCount = async (who: Client) => (await who.json<{ total: number }>('/api/v1/analysis/tasks?limit=100')).total

test('a lost answer is asked for again: the same task, the same words, no second run, also when the first has ended', async () => {
  const ann = await client()
  const body = { stock_code: 'sh600519', async_mode: true, report_language: 'en' }
  // Whatever the answer was, it did not arrive.
  await post(ann, body, 'once')
  const [status, first] = await told(await post(ann, body, 'once'))
  expect([status, first.status]).toEqual([202, 'pending'])
  await expect
    .poll(async () => (await ann.json(`/api/v1/analysis/status/${first.task_id}`)).status, { timeout: 30_000 })
    .toBe('completed')
  expect(await told(await post(ann, body, '"once"'))).toEqual([202, first])
  expect(await taskCount(ann)).toBe(1)
  // Under another key it is another request.
  const [, second] = await told(await post(ann, body, 'twice'))
  expect(second.task_id).not.toBe(first.task_id)
})

test('a batch is answered alike, its duplicates included, and so is a refusal of a duplicate', async () => {
  const ann = await client()
  const batch = { stock_codes: ['AAPL', 'MSFT', 'NVDA'], async_mode: true, report_language: 'en' }
  const first = await told(await post(ann, batch, 'batch'))
  expect(first[1].message).toBe('3 tasks submitted, 0 duplicates skipped')
  expect(await told(await post(ann, batch, 'batch'))).toEqual(first)
  const more = { ...batch, stock_codes: ['AAPL', 'TSLA'] }
  const [, mixed] = await told(await post(ann, more, 'more'))
  expect(await told(await post(ann, more, 'more'))).toEqual([202, mixed])
  expect(await taskCount(ann)).toBeGreaterThanOrEqual(4)
})

test('many at once are one submission', async () => {
  const ann = await client()
  const body = { stock_codes: ['AAPL', 'MSFT'], async_mode: true }
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(ann, body, 'storm').then(told)))
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(await taskCount(ann)).toBe(2)
})

test('the same key with another body is a 422 that says what to do, and begins nothing; another owner has keys of their own', async () => {
  const [ann, bob] = [await client(), await client()]
  await post(ann, { stock_code: 'AAPL', async_mode: true }, 'key')
  const [status, body] = await told(
    await post(ann, { stock_code: 'MSFT', async_mode: true, report_language: 'en' }, 'key'),
  )
  expect([status, body]).toEqual([
    422,
    {
      error: 'validation_error',
      message: expect.stringContaining('a new key for a new request'),
      detail: [
        {
          type: 'idempotency_key_reused',
          loc: ['header', 'Idempotency-Key'],
          msg: expect.stringContaining('a new key'),
          input: 'key',
        },
      ],
    },
  ])
  expect((await post(ann, null, 'key', REVIEW)).status).toBe(422)
  expect(await taskCount(ann)).toBe(1)
  expect((await post(bob, { stock_code: 'MSFT', async_mode: true }, 'key')).status).toBe(202)
  for (const bad of ['', '"open', 'x'.repeat(256), 'with "quotes"']) {
    const [refused, { detail }] = await told(await post(ann, { stock_code: 'AAPL', async_mode: true }, bad))
    expect([bad, refused, detail]).toEqual([
      bad,
      422,
      [expect.objectContaining({ loc: ['header', 'Idempotency-Key'] })],
    ])
  }
})

test('what was refused is no submission: the key may begin it later', async () => {
  const ann = await client()
  expect((await post(ann, { stock_codes: [] }, 'later')).status).toBe(400)
  expect((await post(ann, { stock_code: 'AAPL', async_mode: true }, 'later')).status).toBe(202)
})

test('a synchronous analysis is answered from its stored report, and not made again', async () => {
  const ann = await client()
  const body = { stock_code: 'AAPL', report_type: 'detailed', report_language: 'en' }
  const [status, first] = await told(await post(ann, body, 'direct'))
  expect(status).toBe(200)
  // What was stored knows of its own saving.
  const withoutSaving = (answer: unknown) =>
    JSON.parse(JSON.stringify(answer, (name, value) => (name === 'history_runs' ? [] : value)))
  const [, second] = await told(await post(ann, body, 'direct'))
  expect(withoutSaving(second)).toEqual(withoutSaving(first))
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(1)
  // A report that was deleted is made again, under its own id.
  await ann.json('/api/v1/history/by-code/AAPL', { method: 'DELETE' })
  const [, again] = await told(await post(ann, body, 'direct'))
  expect(again.query_id).toBe(first.query_id)
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(1)
})

test('the same synchronous analysis sent again while it is made is told which one is being made', async () => {
  const ann = await client()
  const body = { stock_code: 'MSFT', report_type: 'detailed', report_language: 'en' }
  const answers = await Promise.all([post(ann, body, 'twice'), post(ann, body, 'twice')])
  const made = answers.find(({ status }) => status === 200)
  const refused = answers.find(({ status }) => status === 409)
  const report = await made?.json<{ query_id: string }>()
  expect(await refused?.json()).toMatchObject({
    error: 'duplicate_task',
    stock_code: 'MSFT',
    existing_task_id: report?.query_id,
  })
})
