import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { type Client, client } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

const PATH = '/api/v1/analysis/market-review'

type Accepted = { status: string; region: string; task_id: string; trace_id: string; send_notification: boolean }
type Status = {
  status: string
  progress: number
  region: string
  error: string | null
  result: unknown
  stock_name: string
  market_review_report: string
  market_review_payload: Record<string, unknown> & { markets?: Record<string, Record<string, unknown>> }
}

const review = (who: Client, body?: unknown) =>
  who.ask(PATH, { method: 'POST', ...(body === undefined ? {} : { body }) })

/**
 * Submits, and waits until the review has ended. Reviews are one at a time for everybody, so one that is busy is waited for; by an
 * owner who never had one: whoever had, comes after those who wait, and a schedule of another file may keep its place for minutes.
 */
async function finished(who: Client, body?: unknown): Promise<{ accepted: Accepted; status: Status }> {
  let response = await review(who, body)
  const again = async () => {
    if (response.status === 409) response = await review(who, body)
    return response.status
  }
  await expect.poll(again, { interval: 1_000 }).toBe(202)
  const accepted = await response.json<Accepted>()
  const stream = await openStream(who.key, { query: '?after=0' })
  await stream.until((frame) => isEnd(frame) && frame.data.task_id === accepted.task_id)
  stream.close()
  return { accepted, status: await who.json<Status>(`/api/v1/analysis/status/${accepted.task_id}`) }
}

test('a review of the mainland completes from the bundled indices, says so, and names what it does not have', async () => {
  const ann = await client()
  const { accepted, status } = await finished(ann, { report_language: 'en' })
  expect(accepted).toMatchObject({ status: 'accepted', region: 'cn', send_notification: true })
  expect(accepted.trace_id).toBe(accepted.task_id)
  expect(status).toMatchObject({ status: 'completed', progress: 100, region: 'cn', error: null, result: null })
  const payload = status.market_review_payload
  expect(payload).toMatchObject({
    version: 1,
    kind: 'market_review',
    region: 'cn',
    language: 'en',
    color_scheme: 'green_up',
    date: '2024-09-19',
    title: '2024-09-19 Market Review',
    model_used: null,
    data_notice: expect.stringContaining('2024-09-19'),
    market_light: { region: 'cn', data_quality: 'partial', dimensions: { breadth: { score: 50, available: false } } },
  })
  const indices = payload.indices as { code: string; current: number; change_pct: number }[]
  expect(indices.map(({ code }) => code)).toEqual(['sh000001', 'sz399001', 'sh000300'])
  expect(indices[0]).toMatchObject({ current: 2736.02, change_pct: expect.closeTo(0.69, 2) })
  const missing = payload.missing as { what: string }[]
  expect(missing.map(({ what }) => what)).toEqual(['indices', 'breadth', 'sectors', 'flows', 'overnight', 'news'])
  expect(payload).not.toHaveProperty('breadth')
  expect(status.market_review_report).toContain('> Sample data: prices come from a bundled historical sample')
  expect(status.market_review_report).toContain('| SSE Composite | 2736.02 | +0.69% |')
  const [, chart = ''] = /\]\((\/api\/v1\/history\/[^)]+)\)/.exec(status.market_review_report) ?? []
  expect(JSON.stringify(status)).not.toContain('data:image')
  const picture = await ann.ask(chart)
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(await picture.text()).toBe(payload.chart_svg)
  // Whoever names no market sees the first one's.
  expect(await (await ann.ask(chart.replace(/\?.*/, ''))).text()).toBe(payload.chart_svg)
  expect((await (await client()).ask(chart)).status).toBe(404)
  expect(status.market_review_report).toContain('Made by code from the figures, without a model.')
  const keys = (payload.sections as { key: string }[]).map(({ key }) => key)
  expect(keys).toEqual([
    'overview',
    '1_market_overview',
    '2_index_structure',
    '3_sector_themes',
    '4_funds_and_mood',
    '5_news_catalysts',
    '6_plan_for_the_next_session',
    '7_risks',
  ])
})

test('of several markets those without data are left out by name; with none left the task fails and says why', async () => {
  const ann = await client()
  const { accepted, status } = await finished(ann, {
    region: ' US,tw,cn ',
    reportLanguage: 'zh',
    send_notification: '0',
  })
  expect(accepted).toMatchObject({ region: 'cn,us,tw', send_notification: false })
  expect(Object.keys(status.market_review_payload.markets ?? {})).toEqual(['cn', 'us'])
  expect(status.market_review_payload.missing_regions).toMatchObject([{ region: 'tw' }])
  expect(status.market_review_payload).not.toHaveProperty('generated_at')
  expect(status.market_review_report).toMatch(/## 未包含的市场\n\n- 台股市场：未能生成/)
  const failed = await finished(await client(), { region: 'jp' })
  expect(failed.status).toMatchObject({ status: 'failed', market_review_report: null, market_review_payload: null })
  expect(failed.status.error).toMatch(/日股市场/)
  // The lock went with the failed task.
  expect((await finished(await client())).status.status).toBe('completed')
})

test('a finished review is in the list as such, in the history under its own code, and its flow is found there', async () => {
  const ann = await client()
  const { accepted, status } = await finished(ann)
  const light = status.market_review_payload.market_light as { score: number; label: string; temperature_label: string }
  const { tasks } = await ann.json<{ tasks: Record<string, unknown>[] }>('/api/v1/analysis/tasks')
  expect(tasks).toMatchObject([
    { task_id: accepted.task_id, stock_code: 'market_review', report_type: 'market_review' },
  ])
  const history = await ann.json<{ items: Record<string, unknown>[] }>(
    '/api/v1/history?stock_code=MARKET&report_type=market_review',
  )
  expect(history.items).toMatchObject([
    {
      query_id: accepted.task_id,
      stock_code: 'MARKET',
      stock_name: '大盘复盘',
      sentiment_score: light.score,
      action: null,
    },
  ])
  const [row] = history.items
  expect([row?.operation_advice, row?.trend_prediction]).toEqual([
    expect.stringContaining(light.label),
    expect.stringContaining(light.temperature_label),
  ])
  const flow = await ann.json<Record<string, unknown> & { nodes: { id: string }[] }>(
    `/api/v1/analysis/tasks/${accepted.task_id}/flow`,
  )
  expect(flow).toMatchObject({ stock_code: 'MARKET' })
  expect(flow.nodes.map(({ id }) => id)).toContain('history_save')
  const detail = await ann.json<{ details: { context_snapshot: Record<string, unknown> } }>(
    `/api/v1/history/${accepted.task_id}`,
  )
  expect(detail.details.context_snapshot).toMatchObject({
    report_kind: 'market_review',
    market_review_region: 'cn',
    market_review_payload: { kind: 'market_review' },
    market_light_snapshots: { cn: { trade_date: '2024-09-19' } },
  })
  const { content } = await ann.json<{ content: string }>(`/api/v1/history/${accepted.task_id}/markdown`)
  expect(content).toMatch(/^## 2024-09-19 大盘复盘 · A股市场\n/)
  const other = await client()
  expect((await other.ask(`/api/v1/analysis/status/${accepted.task_id}`)).status).toBe(404)
})

test('one review at a time for the whole service: a second is refused, with the id of the first only for its owner', async () => {
  const ann = await client()
  const bob = await client()
  const stub = taskQueue(env)
  // A review that waits: its lock is held however long that takes.
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("INSERT OR REPLACE INTO locks VALUES ('market_review', 'held', 9000000000000)")
  })
  const refused = await review(bob, {})
  expect(refused.status).toBe(409)
  expect(await refused.json()).toEqual({ error: 'duplicate_market_review', message: expect.any(String) })
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("DELETE FROM locks WHERE name = 'market_review'")
  })
  const [first, second] = await Promise.all([review(ann, { region: 'us' }), review(ann, { region: 'us' })])
  const statuses = [first.status, second.status].toSorted()
  expect(statuses).toEqual([202, 409])
  const [won, lost] = first.status === 202 ? [first, second] : [second, first]
  const { task_id } = await won.json<Accepted>()
  expect(await lost.json()).toMatchObject({ error: 'duplicate_market_review', existing_task_id: task_id })
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until(isEnd)
  stream.close()
  // A crash can leave a lock behind at worst until it runs out.
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("INSERT OR REPLACE INTO locks VALUES ('market_review', 'gone', ?)", Date.now() - 1)
  })
  expect((await finished(bob, { region: 'us' })).status.status).toBe('completed')
})

test('every bad body of a review is a 422 that names its place, and nothing is queued', async () => {
  const ann = await client()
  const bodies: [unknown, string[]][] = [
    [{ region: '' }, ['region']],
    [{ region: ' ' }, ['region']],
    [{ region: 'cn,,us' }, ['region']],
    [{ region: 'cn,' }, ['region']],
    [{ region: 'both,cn' }, ['region']],
    [{ region: 'de' }, ['region']],
    [{ region: 'x'.repeat(65) }, ['region']],
    [{ region: ['cn'] }, ['region']],
    [{ region: 5 }, ['region']],
    [{ send_notification: null }, ['send_notification']],
    [{ send_notification: 'perhaps' }, ['send_notification']],
    [{ report_language: 'de', reportLanguage: 5 }, ['report_language', 'reportLanguage']],
    [[], []],
    ['cn', []],
  ]
  for (const [body, places] of bodies) {
    const response = await review(ann, body)
    expect([body, response.status]).toEqual([body, 422])
    const { error, detail } = await response.json<{ error: string; detail: { loc: string[] }[] }>()
    expect(error).toBe('validation_error')
    if (places.length > 0) expect(detail.map(({ loc }) => loc[1])).toEqual(expect.arrayContaining(places))
  }
  const broken = await ann.ask(PATH, { method: 'POST', headers: { 'content-type': 'application/json' } })
  expect([202, 409]).toContain(broken.status)
  const { total } = await ann.json<{ total: number }>('/api/v1/analysis/tasks')
  expect(total).toBeLessThanOrEqual(1)
  const stranger = await client({ scopes: ['conversations'] })
  expect((await review(stranger)).status).toBe(403)
})
