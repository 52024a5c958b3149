import { expect, test } from 'vitest'
import { client, request } from '../helpers/app.ts'

const ANALYZE = '/api/v1/analysis/analyze'

type Problem = { error: string; message: string; detail?: { type: string; loc: (string | number)[] }[] }

test('wrong types and values of an analysis are all named at once in the flat envelope, and no task comes of it', async () => {
  const { ask, json } = await client()
  const body = {
    stock_code: 600519,
    stock_codes: 'AAPL',
    report_type: 'Full',
    analysis_phase: 'night',
    report_language: 'fr',
    notify: null,
    force_refresh: 'perhaps',
    async_mode: 2,
    skills: [1],
    selection_source: 'x'.repeat(101),
    unknown: 1,
  }
  const response = await ask(ANALYZE, { method: 'POST', body })
  expect(response.status).toBe(422)
  const { error, message, detail } = await response.json<Problem>()
  expect([error, typeof message]).toEqual(['validation_error', 'string'])
  expect(detail?.map(({ type, loc }) => `${type} ${loc.slice(1).join('.')}`).sort()).toEqual([
    'bool_parsing async_mode',
    'bool_parsing force_refresh',
    'bool_type notify',
    'enum analysis_phase',
    'enum report_language',
    'enum report_type',
    'list_type stock_codes',
    'string_too_long selection_source',
    'string_type skills.0',
    'string_type stock_code',
  ])
  expect(await json('/api/v1/analysis/tasks')).toEqual({ total: 0, pending: 0, processing: 0, tasks: [] })
})

test('entries that are no stock, too many or none are a 400 that says so, and no task comes of it', async () => {
  const { ask, json } = await client()
  const bad: Record<string, unknown>[] = [
    {},
    { stock_code: '', stock_codes: [] },
    { stock_code: ' ', stock_codes: ['\t'] },
    { stock_code: '../../etc/passwd' },
    { stock_code: 'a\u0000b' },
    { stock_code: '🦊' },
    { stock_code: 'AAPL\r\nX-Evil: 1' },
    { stock_code: "600519' OR 1=1" },
    { stock_code: 'x'.repeat(10_000) },
    { stock_codes: ['600519', '<script>'] },
    { stock_codes: Array.from({ length: 51 }, (_, i) => String(600000 + i)), async_mode: true },
    { stock_codes: ['600519', 'AAPL'], async_mode: false },
  ]
  for (const body of bad) {
    const response = await ask(ANALYZE, { method: 'POST', body: { async_mode: true, ...body } })
    expect([body, response.status]).toEqual([body, 400])
    const { error, message } = await response.json<Problem>()
    expect([body, error, message.length > 0]).toEqual([body, 'validation_error', true])
  }
  const tooMany = await ask(ANALYZE, {
    method: 'POST',
    body: { stock_codes: Array(1001).fill('AAPL'), async_mode: true },
  })
  expect(tooMany.status).toBe(422)
  expect(await json('/api/v1/analysis/tasks')).toEqual({ total: 0, pending: 0, processing: 0, tasks: [] })
})

test('a task id that cannot be one, and one of another owner, answer like one that never existed', async () => {
  const ann = await client()
  const made = await ann.json<{ task_id: string }>(ANALYZE, {
    method: 'POST',
    body: { stock_code: 'AAPL', async_mode: true },
  })
  const stranger = await client()
  const ids = [
    made.task_id,
    '../x',
    '\u0000',
    'x'.repeat(10_000),
    '🦊',
    'a\r\nx-evil: 1',
    '__proto__',
    '%',
    "' OR 1=1 --",
  ]
  for (const path of ['status/{id}', 'tasks/{id}/flow']) {
    const answerTo = async (id: string) => {
      const response = await stranger.ask(`/api/v1/analysis/${path.replace('{id}', encodeURIComponent(id))}`)
      return [response.status, response.headers.get('x-evil'), await response.text()]
    }
    const usual = await answerTo('0'.repeat(32))
    expect(usual.slice(0, 2)).toEqual([404, null])
    for (const id of ids) expect([path, id, await answerTo(id)]).toEqual([path, id, usual])
  }
})

test('a limit of tasks outside 1 to 100 is a 422, and words that are no state match nothing', async () => {
  const { ask, json } = await client()
  for (const limit of ['0', '-1', '101', '9'.repeat(300), '-99999999999999999999']) {
    const response = await ask(`/api/v1/analysis/tasks?limit=${limit}`)
    expect([limit, response.status]).toEqual([limit, 422])
    expect(await response.json<Problem>()).toMatchObject({
      error: 'validation_error',
      detail: [{ type: limit.startsWith('-') || limit === '0' ? 'greater_than_equal' : 'less_than_equal' }],
    })
  }
  for (const status of ['nonsense', '%00', ',,,', '🦊', 'x'.repeat(10_000)]) {
    const { tasks } = await json<{ tasks: unknown[] }>(`/api/v1/analysis/tasks?status=${encodeURIComponent(status)}`)
    expect([status, tasks]).toEqual([status, []])
  }
})

test('a stream with a bad key is refused before it begins, whatever the key looks like', async () => {
  for (const key of ['', 'null', 'undefined', 'bad', '%00', '🦊', 'x'.repeat(10_000)]) {
    const response = await request(`/api/v1/analysis/tasks/stream?session_api_key=${encodeURIComponent(key)}`)
    expect([key, response.status, await response.json()]).toEqual([
      key,
      401,
      { error: 'unauthorized', message: 'Unauthorized' },
    ])
  }
})
