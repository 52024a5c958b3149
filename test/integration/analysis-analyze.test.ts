import { expect, test } from 'vitest'
import { type Client, client, request } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

const PATH = '/api/v1/analysis/analyze'
const analyze = (who: Client, body: unknown) => who.ask(PATH, { method: 'POST', body })

type Result = {
  query_id: string
  trace_id: string
  stock_code: string
  stock_name: string
  report: {
    meta: Record<string, unknown>
    summary: Record<string, unknown>
    strategy: Record<string, string>
    details: { context_snapshot: { diagnostics: { provider_runs: Record<string, unknown>[] } } }
  }
  diagnostic_summary: { status: string; components: Record<string, { status: string; message: string }> }
}

test('a synchronous analysis answers with the report, is stored, and leaves no task and no event behind', async () => {
  const ann = await client()
  const stream = await openStream(ann.key)
  for (const [code, key, language] of [
    ['sh600519', '600519', 'zh'],
    ['aapl', 'AAPL', 'en'],
    ['700.HK', 'HK00700', 'ko'],
  ]) {
    const response = await analyze(ann, { stock_code: code, report_language: language })
    expect(response.status).toBe(200)
    const result = await response.json<Result>()
    expect(result.query_id).toMatch(/^[0-9a-f]{32}$/)
    expect(result.trace_id).toBe(result.query_id)
    expect(result.report.meta).toMatchObject({
      id: null,
      stock_code: key,
      report_type: 'detailed',
      report_language: language,
    })
    expect(Object.keys(result.report.strategy)).toEqual(['ideal_buy', 'secondary_buy', 'stop_loss', 'take_profit'])
    // Sample figures say so wherever they are read.
    expect(result.report.meta.data_notice).toBeTruthy()
    expect(String(result.report.summary.analysis_summary)).toContain(String(result.report.meta.data_notice))
    expect(result.diagnostic_summary.components.history).toMatchObject({ status: 'ok' })
    const status = await ann.json<Record<string, unknown>>(`/api/v1/analysis/status/${result.query_id}`)
    expect(status).toMatchObject({ status: 'completed', progress: 100, analysis_phase: 'auto', error: null })
    const stored = (status.result as Result).report
    expect(stored.meta).toMatchObject({ report_type: 'full', current_price: result.report.meta.current_price })
    expect(stored.summary).toEqual(result.report.summary)
  }
  expect(await ann.json('/api/v1/analysis/tasks')).toEqual({ total: 0, pending: 0, processing: 0, tasks: [] })
  expect(stream.frames.map(({ event }) => event)).toEqual(['connected'])
  stream.close()
})

test('one queued stock is accepted as a single task, runs through its stages and ends with its report', async () => {
  const ann = await client()
  const stream = await openStream(ann.key)
  const response = await analyze(ann, {
    stock_codes: ['600519'],
    async_mode: 'yes',
    stock_name: '茅台',
    original_query: 'gzmt',
    selection_source: 'autocomplete',
    strategies: ['bull_trend'],
    reportLanguage: 'en',
  })
  expect(response.status).toBe(202)
  const accepted = await response.json<Record<string, string>>()
  const id = String(accepted.task_id)
  expect(accepted).toEqual({
    task_id: id,
    trace_id: id,
    status: 'pending',
    message: expect.stringContaining('600519'),
    analysis_phase: 'auto',
  })
  await stream.until(isEnd)
  stream.close()
  const events = stream.frames.slice(1)
  expect(events.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1])).toEqual([
    'task_created',
    'task_started',
    'task_progress',
    'task_completed',
  ])
  expect(events.map(({ id: n }) => n)).toEqual(events.map((_, i) => i + 1))
  const progress = events.map(({ data }) => Number(data.progress))
  expect(progress).toEqual(progress.toSorted((a, b) => a - b))
  expect(progress.at(-1)).toBe(100)
  for (const stage of [12, 16, 18, 32, 46, 58, 94, 97]) expect(progress).toContain(stage)
  const types = events.flatMap(({ data }) => (data.flow_event ? [(data.flow_event as { type: string }).type] : []))
  expect(types).toEqual(['provider_run', 'provider_run', 'history_run'])

  const { tasks } = await ann.json<{ tasks: Record<string, unknown>[] }>('/api/v1/analysis/tasks')
  const { flow_event: _, ...last } = events.at(-1)?.data ?? {}
  expect(tasks).toEqual([last])
  expect(last).toMatchObject({
    task_id: id,
    stock_code: '600519',
    stock_name: 'Kweichow Moutai',
    status: 'completed',
    report_type: 'detailed',
    original_query: 'gzmt',
    selection_source: 'autocomplete',
    skills: ['bull_trend'],
    region: null,
    error: null,
  })
  const status = await ann.json<Record<string, unknown>>(`/api/v1/analysis/status/${id}`)
  expect(status).toMatchObject({
    status: 'completed',
    progress: 100,
    market_review_report: null,
    skills: ['bull_trend'],
  })
  expect((status.result as Result).report.meta).toMatchObject({
    report_type: 'detailed',
    report_language: 'en',
    id: null,
  })
})

test('a batch merges spellings, keeps words only for imports, and names open tasks instead of doubling them', async () => {
  const ann = await client()
  const body = {
    stock_codes: ['600519', '600519.SH', ' ', 'AAPL', 'AAPL.US', 'HK00700', '00700'],
    async_mode: true,
    stock_name: 'dropped',
    original_query: 'dropped',
    selection_source: 'manual',
  }
  const first = await analyze(ann, body)
  expect(first.status).toBe(202)
  const batch = await first.json<{
    accepted: { stock_code: string; task_id: string }[]
    duplicates: unknown[]
    message: string
  }>()
  expect(batch.accepted.map(({ stock_code }) => stock_code)).toEqual(['600519', 'AAPL', 'HK00700'])
  expect(batch.duplicates).toEqual([])
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until((_, all) => all.filter(isEnd).length === 3)
  stream.close()
  const { tasks, total } = await ann.json<{ tasks: Record<string, unknown>[]; total: number }>('/api/v1/analysis/tasks')
  expect(total).toBe(3)
  for (const task of tasks)
    expect(task).toMatchObject({ status: 'completed', original_query: null, selection_source: null })

  const imported = await analyze(ann, {
    ...body,
    stock_codes: ['AAPL', 'MSFT'],
    selection_source: 'import',
    original_query: 'file',
  })
  const ids = (await imported.json<{ accepted: { task_id: string }[] }>()).accepted.map(({ task_id }) => task_id)
  for (const id of ids) {
    const status = await ann.json(`/api/v1/analysis/status/${id}`)
    expect(status).toMatchObject({ selection_source: 'import', original_query: 'file' })
  }
})

test('an open task is answered with 409 for one stock and listed as a duplicate in a batch, for its owner alone', async () => {
  const one = { stock_code: 'MSFT', async_mode: true }
  const inOneBreath = async () => {
    const ann = await client()
    const bob = await client()
    return Promise.all([
      analyze(ann, one),
      analyze(ann, { stock_code: 'msft.us', async_mode: true, report_language: 'en' }),
      analyze(ann, { stock_codes: ['MSFT', 'NVDA'], async_mode: true, report_language: 'en' }),
      analyze(bob, one),
    ])
  }
  const statuses = (answers: Response[]) => answers.map(({ status }) => status)
  let answers = await inOneBreath()
  // A task may be finished before the next request arrives, or requests may overtake each other; then it is tried anew.
  const haveMet = async ([first, second, batch]: Response[]) =>
    first?.status === 202 &&
    second?.status === 409 &&
    (await batch?.clone().json<{ duplicates: unknown[] }>())?.duplicates.length === 1
  for (let tries = 1; tries < 8 && !(await haveMet(answers)); tries++) answers = await inOneBreath()
  expect(statuses(answers)).toEqual([202, 409, 202, 202])
  const [first, second, batch, other] = answers
  const id = (await first.json<{ task_id: string }>()).task_id
  expect(await second.json()).toEqual({
    error: 'duplicate_task',
    message: 'MSFT.US is already being analysed',
    stock_code: 'MSFT.US',
    existing_task_id: id,
  })
  const { accepted, duplicates, message } = await batch.json<Record<string, unknown[]>>()
  expect(accepted?.length).toBe(1)
  expect(duplicates).toEqual([{ stock_code: 'MSFT', existing_task_id: id, message: 'MSFT is already being analysed' }])
  expect(message).toBe('1 task submitted, 1 duplicate skipped')
  expect((await other.json<{ task_id: string }>()).task_id).not.toBe(id)
})

test('every unusable request is refused with the code of the first rule it breaks, and nothing is queued', async () => {
  const ann = await client()
  const codes = Array.from({ length: 51 }, (_, i) => String(600000 + i))
  const cases: [unknown, number, RegExp][] = [
    [{}, 400, /stock_code/],
    [{ stock_code: '', stock_codes: [] }, 400, /stock_code/],
    [{ stock_code: null, stock_codes: null, async_mode: true }, 400, /stock_code/],
    [{ stock_code: '   ', report_language: 'en' }, 400, /blank/],
    [{ stock_codes: ['600519', 'abc123', '0000x', '^GSPC'] }, 400, /"abc123".*"0000x".*"\^GSPC".*\^/],
    [{ stock_code: '没有这个名字' }, 400, /没有这个名字/],
    [{ stock_codes: codes, async_mode: true }, 400, /51/],
    [{ stock_codes: ['600519', 'AAPL'] }, 400, /async_mode/],
    [{ stock_code: 5 }, 422, /valid string/],
    [{ stock_code: '600519', report_type: 'huge' }, 422, /report_type/],
    [{ stock_code: '600519', report_type: null }, 422, /report_type/],
    [{ stock_code: '600519', report_language: 'fr' }, 422, /report_language/],
    [{ stock_code: '600519', analysis_phase: 'never' }, 422, /analysis_phase/],
    [{ stock_code: '600519', notify: null }, 422, /notify/],
    [{ stock_code: '600519', async_mode: 'perhaps' }, 422, /async_mode/],
    [{ stock_code: '600519', selection_source: 'x'.repeat(101) }, 422, /selection_source/],
    [{ stock_codes: Array(1001).fill('600519') }, 422, /stock_codes/],
    [{ stock_code: 'abc123', report_type: 'huge' }, 422, /report_type/],
    [[], 422, /body/],
  ]
  for (const [body, status, message] of cases) {
    const response = await analyze(ann, body)
    const answer = await response.json<Record<string, unknown>>()
    expect([response.status, answer.error], JSON.stringify(body)).toEqual([status, 'validation_error'])
    expect(String(answer.message)).toMatch(message)
    if (status === 400) expect(answer.detail).toMatchObject({ message: answer.message })
    if (status === 422)
      expect(answer.detail).toEqual([expect.objectContaining({ type: expect.any(String), loc: expect.any(Array) })])
  }
  const malformed = await request(PATH, {
    method: 'POST',
    headers: { 'x-session-api-key': ann.key, 'content-type': 'application/json' },
    body: '{"stock_code": ',
  })
  expect([malformed.status, (await malformed.json<{ error: string }>()).error]).toEqual([422, 'validation_error'])
  expect((await ann.json<{ total: number }>('/api/v1/analysis/tasks')).total).toBe(0)
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(0)
})

test('refusals are told in the language of the request, else of the caller; what a client matches is the same in all', async () => {
  const ann = await client()
  const ask = async (body: unknown, accepted: string) => {
    const headers = { 'accept-language': accepted }
    const answer = await ann.ask(PATH, { method: 'POST', body, headers })
    return answer.json<{ error: string; message: string; detail: { type?: string; msg?: string }[] }>()
  }
  const blank = { stock_code: ' ' }
  const texts = ['zh-CN,zh;q=0.9,en;q=0.8', 'fr, ko;q=0.4, en;q=0.3', 'EN-us'].map((accepted) => ask(blank, accepted))
  expect((await Promise.all(texts)).map(({ error, message }) => [error, message])).toEqual([
    ['validation_error', '没有可用的股票代码：所有条目均为空白'],
    ['validation_error', '남은 종목 코드가 없습니다. 모든 항목이 비어 있습니다'],
    ['validation_error', 'No stock code is left: every entry is blank'],
  ])
  expect((await ask({ ...blank, report_language: 'en' }, 'zh')).message).toContain('blank')
  const wrong = { stock_code: '600519', report_type: 'huge' }
  const [zh, en] = [await ask(wrong, 'zh'), await ask(wrong, 'en')]
  expect(zh.message).toMatch(/^请求有 1 处不符合要求：body\.report_type/)
  expect(en.message).toMatch(/^body\.report_type: Input should be/)
  expect([zh.error, zh.detail]).toEqual([en.error, en.detail])
})

test('de-duplication comes before counting: fifty-one spellings of one stock are one stock', async () => {
  const ann = await client()
  const response = await analyze(ann, { stock_codes: Array(60).fill(' 600519.sh '), stock_code: '600519' })
  expect(response.status).toBe(200)
})

test('a source that cannot be reached is named in the diagnostics and the sample serves in its place', async () => {
  const ann = await client()
  const response = await request(
    PATH,
    {
      method: 'POST',
      headers: { 'x-session-api-key': ann.key, 'content-type': 'application/json' },
      body: JSON.stringify({ stock_code: '600519' }),
    },
    {
      MARKET_DATA: 'tencent,sample',
      TENCENT_QUOTE_URL: 'http://127.0.0.1:9',
      TENCENT_KLINE_URL: 'http://127.0.0.1:9',
      FETCH_TIMEOUT_SECONDS: '5',
    },
  )
  expect(response.status).toBe(200)
  const { report, diagnostic_summary: summary } = await response.json<Result>()
  expect(summary.status).toBe('degraded')
  expect(summary.components.realtime_quote?.message).toMatch(/tencent/)
  const runs = report.details.context_snapshot.diagnostics.provider_runs
  expect(runs).toContainEqual(expect.objectContaining({ provider: 'tencent', success: false, fallback_to: 'sample' }))
  expect(report.meta.data_notice).toBeTruthy()
  expect(JSON.stringify(report)).not.toContain('127.0.0.1')
})

test('without any data a synchronous analysis fails by name, and a queued one ends as failed', async () => {
  const ann = await client()
  const sync = await analyze(ann, { stock_code: 'ZZZQ', report_language: 'en' })
  expect(sync.status).toBe(500)
  expect(await sync.json()).toEqual({ error: 'analysis_failed', message: expect.stringMatching(/^ZZZQ：daily bars: /) })
  const { task_id: id } = await (await analyze(ann, { stock_code: 'ZZZQ', async_mode: true })).json<{
    task_id: string
  }>()
  const stream = await openStream(ann.key, { query: '?after=0' })
  const { event, data } = await stream.until(isEnd)
  stream.close()
  expect([event, data.status]).toEqual(['task_failed', 'failed'])
  const status = await ann.json<Record<string, unknown>>(`/api/v1/analysis/status/${id}`)
  expect(status).toMatchObject({ status: 'failed', result: null, error: expect.stringContaining('ZZZQ') })
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(0)
  const flow = await ann.json<{ status: string; nodes: { id: string; status: string }[] }>(
    `/api/v1/analysis/tasks/${id}/flow`,
  )
  expect(flow.status).toBe('failed')
  expect(flow.nodes.find(({ id: node }) => node === 'history_save')?.status).toBe('skipped')
})
