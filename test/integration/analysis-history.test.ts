import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { type Client, client, request } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

type Item = Record<string, unknown> & { id: number; query_id: string; stock_code: string }
type Page = { total: number; page: number; limit: number; items: Item[] }

async function analyzed(who: Client, ...codes: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const stock_code of codes) {
    const response = await who.ask('/api/v1/analysis/analyze', {
      method: 'POST',
      body: { stock_code, report_language: 'en' },
    })
    expect(response.status).toBe(200)
    ids.push((await response.json<{ query_id: string }>()).query_id)
  }
  return ids
}

test('history lists, filters, pages, opens under both ids, renders and deletes what was analysed', async () => {
  const ann = await client()
  const dayInShanghai = () => new Date(Date.now() + 8 * 3600_000).toISOString().slice(0, 10)
  const firstDay = dayInShanghai()
  const ids = await analyzed(ann, '600519', 'AAPL', 'HK00700', 'AAPL')
  const all = await ann.json<Page>('/api/v1/history')
  expect([all.total, all.page, all.limit]).toEqual([4, 1, 20])
  expect(all.items.map(({ query_id }) => query_id)).toEqual(ids.toReversed())
  expect(all.items[0]).toMatchObject({
    stock_code: 'AAPL',
    stock_name: 'Apple',
    report_type: 'full',
    sentiment_score: expect.any(Number),
    action: expect.any(String),
    current_price: expect.any(Number),
    model_used: null,
    market_phase_summary: expect.objectContaining({ market: 'us' }),
    data_notice: expect.any(String),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/),
  })
  const pages = await Promise.all([1, 2, 3].map((page) => ann.json<Page>(`/api/v1/history?limit=2&page=${page}`)))
  expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 0])
  expect(pages.flatMap(({ items }) => items)).toEqual(all.items)

  const total = async (query: string) => (await ann.json<Page>(`/api/v1/history?${query}`)).total
  expect(await total('stock_code=aapl.us')).toBe(2)
  expect(await total('stock_code=700.HK')).toBe(1)
  expect(await total('stock_code=MARKET&report_type=market_review')).toBe(0)
  expect(await total('report_type=full')).toBe(4)
  // Two days if midnight passes meanwhile.
  expect(await total(`start_date=${firstDay}&end_date=${dayInShanghai()}`)).toBe(4)
  expect(await total('end_date=2020-01-01')).toBe(0)
  expect((await ann.ask('/api/v1/history?start_date=yesterday')).status).toBe(422)
  expect((await ann.ask('/api/v1/history?limit=101')).status).toBe(422)

  const [newest] = all.items
  const byRow = await ann.json<{ meta: Item }>(`/api/v1/history/${newest?.id}`)
  expect(byRow).toEqual(await ann.json(`/api/v1/history/${newest?.query_id}`))
  expect(byRow.meta).toMatchObject({ id: newest?.id, query_id: newest?.query_id, report_type: 'full' })
  const { content } = await ann.json<{ content: string }>(`/api/v1/history/${newest?.query_id}/markdown`)
  expect(content).toContain('Apple')
  expect(content).toContain(String(newest?.data_notice))

  const remove = (record_ids: unknown) => ann.ask('/api/v1/history', { method: 'DELETE', body: { record_ids } })
  expect(await (await remove([])).json()).toMatchObject({ error: 'invalid_request' })
  expect((await remove('1')).status).toBe(422)
  expect(await (await remove([newest?.id, 999_999_999])).json()).toEqual({ deleted: 1 })
  expect((await ann.ask(`/api/v1/history/${newest?.id}`)).status).toBe(404)
  expect(await total('')).toBe(3)
})

test("another owner's task, record and markdown answer byte for byte like those that never existed", async () => {
  const ann = await client()
  const bob = await client()
  const [queryId] = await analyzed(ann, '600519')
  const queued = await ann.ask('/api/v1/analysis/analyze', {
    method: 'POST',
    body: { stock_code: 'AAPL', async_mode: true },
  })
  const { task_id: taskId } = await queued.json<{ task_id: string }>()
  const rowId = (await ann.json<Page>('/api/v1/history?stock_code=600519')).items[0]?.id
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until(isEnd)
  stream.close()
  const never = 'f'.repeat(32)
  const bytes = async (response: Response) => {
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id')
    return [response.status, headers, await response.text()]
  }
  for (const [path, id] of [
    ['/api/v1/analysis/status/', taskId],
    ['/api/v1/analysis/status/', queryId],
    ['/api/v1/history/', queryId],
    ['/api/v1/history/', rowId],
  ]) {
    expect((await ann.ask(`${path}${id}`)).status).toBe(200)
    const foreign = await bytes(await bob.ask(`${path}${id}`))
    expect(foreign[0]).toBe(404)
    expect(foreign).toEqual(await bytes(await bob.ask(`${path}${never}`)))
  }
  for (const id of [taskId, queryId]) {
    const path = (task: string | undefined) => `/api/v1/analysis/tasks/${task}/flow`
    expect((await ann.ask(path(id))).status).toBe(200)
    expect(await bytes(await bob.ask(path(id)))).toEqual(await bytes(await bob.ask(path(never))))
    expect(await bytes(await bob.ask(`/api/v1/history/${id}/markdown`))).toEqual(
      await bytes(await bob.ask(`/api/v1/history/${never}/markdown`)),
    )
  }
  const removal = await bob.ask('/api/v1/history', { method: 'DELETE', body: { record_ids: [rowId] } })
  expect(await removal.json()).toEqual({ deleted: 0 })
  expect((await bob.json<Page>('/api/v1/history')).total).toBe(0)
  expect((await ann.ask(`/api/v1/history/${rowId}`)).status).toBe(200)
})

test('the flow of a finished run tells its sources, its evidence and where the report went', async () => {
  const ann = await client()
  const [queryId] = await analyzed(ann, '600519')
  type Flow = {
    status: string
    stock_code: string
    summary: Record<string, unknown>
    lanes: { id: string; order: number }[]
    nodes: { id: string; lane: string; status: string }[]
    edges: { id: string; from: string; to: string; kind: string }[]
    events: { id: string; type: string; node_id: string }[]
  }
  const flow = await ann.json<Flow>(`/api/v1/analysis/tasks/${queryId}/flow`)
  expect(flow.lanes.map(({ id, order }) => `${order} ${id}`)).toEqual([
    '1 entry',
    '2 data_source',
    '3 analysis',
    '4 artifact',
  ])
  const ids = flow.nodes.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(expect.arrayContaining(['request', 'task_queue', 'context_pack', 'history_save']))
  expect(ids).toContain('provider_daily_data_sample_1')
  expect(ids).toContain('context_block_quote')
  // Figures of a sample are never more than a degraded evidence.
  expect(flow.status).toBe('degraded')
  expect(flow.summary).toMatchObject({ data_source_count: 2, failed_attempts: 0, fallback_count: 0, model: null })
  for (const { id, from, to, kind } of flow.edges) {
    expect(ids).toContain(from)
    expect(ids).toContain(to)
    expect(id).toBe(`${from}_to_${to}_${kind}`)
  }
  const reached = new Set(['request'])
  for (let size = 0; size !== reached.size; ) {
    size = reached.size
    for (const { from, to } of flow.edges) if (reached.has(from)) reached.add(to)
  }
  expect(reached.has('history_save')).toBe(true)
  expect(flow.events.map(({ id }) => id)).toEqual(flow.events.map((_, i) => `evt_000${i + 1}`))
  for (const { node_id } of flow.events) expect(ids).toContain(node_id)
})

test('a stored report that cannot be read spoils its own answer only', async () => {
  const ann = await client()
  const [queryId] = await analyzed(ann, 'AAPL')
  for (const text of ['{"meta":{}}', '{"meta":']) {
    await env.DB.prepare('UPDATE analyses SET report = ? WHERE query_id = ?').bind(text, queryId).run()
    const status = await ann.ask(`/api/v1/analysis/status/${queryId}`)
    expect([status.status, (await status.json<{ result: unknown }>()).result]).toEqual([200, null])
    expect((await ann.ask(`/api/v1/analysis/tasks/${queryId}/flow`)).status).toBe(200)
    const markdown = await ann.ask(`/api/v1/history/${queryId}/markdown`)
    expect([markdown.status, (await markdown.json<{ error: string }>()).error]).toEqual([500, 'generation_failed'])
  }
  expect((await ann.json<Page>('/api/v1/history')).total).toBe(1)
})

test('quotes and bars come from the configured sources and say when they are samples', async () => {
  const ann = await client()
  const quote = await ann.json<Record<string, unknown>>('/api/v1/stocks/sh600519/quote')
  expect(quote).toMatchObject({
    stock_code: '600519',
    stock_name: '贵州茅台',
    current_price: expect.any(Number),
    prev_close: expect.any(Number),
    data_notice: expect.any(String),
  })
  type Bars = {
    period: string
    data: { date: string; close: number; open: number; volume: number; change_percent: number }[]
    data_notice: string
  }
  const daily = await ann.json<Bars>('/api/v1/stocks/AAPL/history?days=40')
  expect(daily.data.length).toBe(40)
  expect(daily.data_notice).toBeTruthy()
  const dates = daily.data.map(({ date }) => date)
  expect(dates).toEqual(dates.toSorted())
  const [a, b] = daily.data
  expect(b?.change_percent).toBeCloseTo((Number(b?.close) / Number(a?.close) - 1) * 100, 3)
  expect(a?.change_percent).toEqual(expect.any(Number))
  for (const period of ['weekly', 'monthly']) {
    const grouped = await ann.json<Bars>(`/api/v1/stocks/AAPL/history?days=40&period=${period}`)
    expect(grouped.period).toBe(period)
    expect(grouped.data.length).toBeLessThan(period === 'weekly' ? 12 : 5)
    expect([grouped.data[0]?.open, grouped.data.at(-1)?.close]).toEqual([a?.open, daily.data.at(-1)?.close])
    const volume = (bars: Bars) => bars.data.reduce((sum, bar) => sum + bar.volume, 0)
    expect(volume(grouped)).toBe(volume(daily))
  }
  const hourly = await ann.ask('/api/v1/stocks/AAPL/history?period=hourly')
  expect([hourly.status, (await hourly.json<{ error: string }>()).error]).toEqual([422, 'unsupported_period'])
  expect((await ann.ask('/api/v1/stocks/AAPL/history?days=366')).status).toBe(422)
  expect((await ann.ask('/api/v1/stocks/abc123/quote')).status).toBe(404)
  const down = { MARKET_DATA: 'tencent', TENCENT_QUOTE_URL: 'http://127.0.0.1:9' }
  const headers = { 'x-session-api-key': ann.key }
  const failed = await request('/api/v1/stocks/600519/quote', { headers }, down)
  expect([failed.status, (await failed.json<{ message: string }>()).message]).toEqual([
    502,
    expect.stringContaining('tencent'),
  ])
})
