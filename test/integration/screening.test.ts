// Screening: filters over kept figures, saved screens, and the wire of the existing analysis page.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { previousTradingDay } from '../../src/market/calendar.ts'
import { FIELDS } from '../../src/screening/fields.ts'
import { settledSession } from '../../src/screening/figures.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { english, keepFigures, SCREENING } from '../helpers/screening.ts'

const LAST = settledSession('cn', Date.now())
const daysBack = (count: number) => {
  let day = LAST
  for (let i = 0; i < count; i += 1) day = previousTradingDay('cn', day)
  return day
}

await keepFigures([
  {
    key: '600001',
    name: '甲',
    industry: '银行',
    close: { price: 10, change_pct: 1, pe_ratio: 5, pb_ratio: 0.5, market_value: 9e10 },
    bars: { ma20: 9, rsi_12: 40, volatility_60d_pct: 20 },
  },
  {
    key: '600002',
    name: '乙',
    industry: '银行',
    close: { price: 20, change_pct: -2, pe_ratio: 12, pb_ratio: 1.5, market_value: 5e10 },
    bars: { ma20: 22, rsi_12: 75 },
  },
  {
    key: '600003',
    name: '丙',
    industry: '白酒',
    close: { price: 30, change_pct: 3, pe_ratio: -8, pb_ratio: 3 },
    bars: { ma20: 28, rsi_12: 55 },
  },
  { key: '600004', name: '丁', industry: '银行', close: { price: 40, change_pct: 2, pb_ratio: 1 } },
  { key: '600005', name: '戊', close: { price: 50, pe_ratio: 6, pb_ratio: 0.9 }, session: daysBack(9) },
  {
    key: '600006',
    name: '*ST己',
    close: { price: 3, change_pct: 5, pe_ratio: 9, pb_ratio: 0.7 },
    barsSession: daysBack(2),
    bars: { ma20: 2, rsi_12: 30 },
    marks: ['volume_units'],
  },
  { key: '510300', name: '沪深300ETF', close: { price: 4, change_pct: 0.5 } },
])
// A listing that is known by name alone.
await env.DB.prepare(
  `INSERT INTO stock_figures (key, market, exchange, kind, name, en, risk_warned, active)
   VALUES ('600007', 'cn', 'SH', 'stock', '庚', '', 0, 1), ('600008', 'cn', 'SH', 'stock', '辛', '', 0, 0)`,
).run()

type Listing = {
  code: string
  figures: Record<string, number | null>
  age_sessions: number
  bars_age_sessions: number
  marks: object[]
}
type ScreenResult = { items: Listing[]; total: number; counts: Record<string, unknown>; message: string | null }

const run = (who: Client, body: object, query = '') =>
  who.json<ScreenResult>(`${SCREENING}/run${query}`, { method: 'POST', body, headers: english })
const codes = ({ items }: ScreenResult) => items.map(({ code }) => code)
const is = (field: string, op: string, value: unknown) => ({ field, op, value })

test('a filter finds what passes, and says how many could not be looked at and why', async () => {
  const ann = await client()
  const all = await run(ann, {})
  expect(codes(all)).toEqual(['600001', '600002', '600003', '600004', '600006'])
  expect(all).toMatchObject({
    total: 5,
    counts: { listings: 7, with_figures: 6, too_old: 1, unknown: 0, matched: 5, unknown_by_field: {} },
  })
  expect(all.message).toContain('sample data')
  const cheap = await run(ann, { where: is('pe_ratio', 'between', [0, 10]) })
  expect(codes(cheap)).toEqual(['600001', '600006'])
  // 600004 has no ratio: it does not match, and it is counted.
  expect(cheap.counts).toMatchObject({ unknown: 1, unknown_by_field: { pe_ratio: 1 }, matched: 2 })
  expect(codes(await run(ann, { where: { not: is('pe_ratio', 'between', [0, 10]) } }))).toEqual(['600002', '600003'])
  // What is unknown in one part does not matter where another part decides.
  const either = await run(ann, { where: { or: [is('pe_ratio', 'lt', 10), is('pb_ratio', 'lte', 1)] } })
  expect(codes(either)).toEqual(['600001', '600003', '600004', '600006'])
  expect(either.counts).toMatchObject({ unknown: 0 })
  expect(codes(await run(ann, { where: is('industry', 'in', ['银行']) }))).toEqual(['600001', '600002', '600004'])
  expect((await run(ann, { where: is('industry', 'not_in', ['银行']) })).counts).toMatchObject({
    matched: 1,
    unknown: 1,
  })
  expect(codes(await run(ann, { where: is('risk_warned', 'is', true) }))).toEqual(['600006'])
  expect(codes(await run(ann, { kinds: ['etf'] }))).toEqual(['510300'])
  expect(codes(await run(ann, { where: is('price', 'eq', 30) }))).toEqual(['600003'])
})

test('figures of two days are not compared, old ones are unknown, and each says how old it is', async () => {
  const ann = await client()
  const above = await run(ann, { where: is('price', 'gt', { field: 'ma20' }) })
  // The averages of 600006 are two sessions older than its close.
  expect(codes(above)).toEqual(['600001', '600003'])
  expect(above.counts).toMatchObject({ matched: 2, unknown: 2 })
  const [st] = (await run(ann, { where: is('rsi_12', 'lte', 30) })).items
  expect(st).toMatchObject({ code: '600006', age_sessions: 0, bars_age_sessions: 2, figures: { rsi_12: 30, price: 3 } })
  expect(st?.marks).toEqual([{ check: 'volume_units', text: 'units of volume' }])
  const strict = await run(ann, { where: is('risk_warned', 'is', true), max_age_sessions: 1 })
  expect(strict.items[0]?.figures).toMatchObject({ price: 3, rsi_12: null, ma20: null })
  expect((await run(ann, { where: is('rsi_12', 'lte', 30), max_age_sessions: 1 })).counts).toMatchObject({
    matched: 0,
    unknown: 2,
  })
  expect(codes(await run(ann, { max_age_sessions: 9, where: is('price', 'gte', 50) }))).toEqual(['600005'])
})

test('results are sorted with the unknown last, limited and paged', async () => {
  const ann = await client()
  const sorted = { sort: [{ field: 'pe_ratio', order: 'asc' }] }
  expect(codes(await run(ann, sorted))).toEqual(['600003', '600001', '600006', '600002', '600004'])
  expect(codes(await run(ann, { sort: [{ field: 'pe_ratio' }] }))).toEqual([
    '600002',
    '600006',
    '600001',
    '600003',
    '600004',
  ])
  const limited = { ...sorted, limit: 3 }
  expect(await run(ann, limited, '?page_size=2')).toMatchObject({ total: 3, counts: { matched: 5 } })
  expect(codes(await run(ann, limited, '?page_size=2&page=2'))).toEqual(['600006'])
  expect(codes(await run(ann, limited, '?page_size=2&page=3'))).toEqual([])
  // Numbers and switches may come as texts, as everywhere.
  const texts = { ...sorted, limit: '3', max_age_sessions: '3' }
  expect(await run(ann, texts)).toMatchObject({ total: 3, counts: { matched: 5 } })
  const body = { name: 'Texts', screen: texts, enabled: 'no' }
  const saved = await ann.ask(`${SCREENING}/screens`, { method: 'POST', body, headers: english })
  expect([saved.status, await saved.json()]).toEqual([
    200,
    expect.objectContaining({ enabled: false, screen: expect.objectContaining({ limit: 3, max_age_sessions: 3 }) }),
  ])
})

test('what is wrong with a filter is said with the place of it', async () => {
  const ann = await client()
  const where = (given: unknown) => ({ where: given })
  let deep: unknown = is('price', 'gt', 1)
  for (let i = 0; i < 50; i += 1) deep = { not: deep }
  const wrong: [said: string, body: object, status: number][] = [
    ['where.field: there is no figure moon', where(is('moon', 'gt', 1)), 400],
    ['where.and[1].op: for price one of gt', where({ and: [is('price', 'gt', 1), is('price', 'like', 1)] }), 400],
    ['where.value: for pe_ratio a number', where(is('pe_ratio', 'lt', 'ten')), 400],
    ['where.value: for pe_ratio a number', where(is('pe_ratio', 'lt', null)), 400],
    ['where.value: the number for price is too large', where(is('price', 'lt', 1e19)), 400],
    ['where.value: for price two numbers', where(is('price', 'between', [5, 1])), 400],
    ['where.value[1]: for price a number', where(is('price', 'between', [5, 'x'])), 400],
    ['where.value: price and rsi_12 are of different units', where(is('price', 'gt', { field: 'rsi_12' })), 400],
    ['where.value.field: there is no figure moon', where(is('price', 'gt', { field: 'moon' })), 400],
    ['where.value: for market only cn', where(is('market', 'in', ['mars'])), 400],
    ['where.value: for industry a list', where(is('industry', 'in', 'bank')), 400],
    ['where.value: for risk_warned true or false', where(is('risk_warned', 'is', 1)), 400],
    ['where.or: at least one', where({ or: [] }), 400],
    ['where: {field, op, value}', where({ and: [is('price', 'gt', 1)], or: [] }), 400],
    ['where: {field, op, value}', where({ ...is('price', 'gt', 1), extra: 1 }), 400],
    ['where: {field, op, value}', where({}), 400],
    ['nested more than 6', where(deep), 400],
    ['more than 30 conditions', where({ or: Array.from({ length: 31 }, () => is('price', 'gt', 1)) }), 400],
    ['sort[0].field', { sort: [{ field: 'price; DROP TABLE stock_figures --' }] }, 400],
    ['markets: figures are kept of cn only', { markets: ['us'] }, 400],
    ['filters', { filters: [] }, 422],
    ['markets', { markets: ['moon'] }, 422],
    ['max_age_sessions', { max_age_sessions: 21 }, 422],
    ['limit', { limit: 0 }, 422],
    ['where', { where: [1] }, 422],
  ]
  for (const [said, body, status] of wrong) {
    const answer = await ann.ask(`${SCREENING}/run`, { method: 'POST', body, headers: english })
    expect([said, answer.status, await answer.text()]).toEqual([said, status, expect.stringContaining(said)])
  }
  // JSON has no infinity, but a reader makes one of this.
  const infinite = await request(`${SCREENING}/run`, {
    method: 'POST',
    headers: { 'x-session-api-key': ann.key, 'content-type': 'application/json', ...english },
    body: '{"where":{"field":"price","op":"lt","value":1e999}}',
  })
  expect([infinite.status, await infinite.text()]).toEqual([400, expect.stringContaining('where.value')])
  const many = { or: Array.from({ length: 30 }, (_, i) => is(i % 2 ? 'price' : 'ma20', 'between', [i, i + 1])) }
  expect((await run(ann, where(many))).counts).toMatchObject({ listings: 7 })
})

test('every field is a column of the kept figures, with title, meaning and unit in each language', async () => {
  const ann = await client()
  const { results } = await env.DB.prepare("SELECT name FROM pragma_table_info('stock_figures')").all<{
    name: string
  }>()
  expect(results.map(({ name }) => name)).toEqual(expect.arrayContaining(FIELDS.map(({ name }) => name)))
  for (const language of ['en', 'zh', 'ko']) {
    const headers = { 'accept-language': language }
    const told = await ann.json<{ fields: { name: string; title: string; meaning: string; ops: string[] }[] }>(
      `${SCREENING}/fields`,
      { headers },
    )
    expect(told.fields.map(({ name }) => name)).toEqual(FIELDS.map(({ name }) => name))
    expect(told.fields.filter(({ title, meaning, ops }) => title === '' || meaning === '' || ops.length === 0)).toEqual(
      [],
    )
    const { strategies } = await ann.json<{ strategies: { id: string; title: string; screen: object }[] }>(
      `${SCREENING}/strategies`,
      { headers },
    )
    for (const { screen } of strategies) expect((await run(ann, screen)).counts).toMatchObject({ listings: 7 })
  }
  expect(await ann.json(`${SCREENING}/state`, { headers: english })).toMatchObject({
    markets: [
      { market: 'cn', listings: 8, closes: { count: 7, newest: LAST, oldest: daysBack(9) }, bars: { count: 4 } },
    ],
    message: expect.stringContaining('sample data'),
  })
})

type Saved = { id: number; name: string; matched: number | null; next_run_at: string | null; enabled: boolean }
const CHEAP = { markets: ['cn'], where: is('pe_ratio', 'between', [0, 10]) }

test('a screen is saved, listed, changed, run and deleted; nobody else can see it', async () => {
  const [ann, bob] = [await client(), await client()]
  const LIST = `${SCREENING}/screens`
  const body = { name: 'Cheap', screen: CHEAP, schedule: { after_close_minutes: 60 } }
  const made = await ann.json<Saved>(LIST, { method: 'POST', body })
  expect(made).toMatchObject({
    name: 'Cheap',
    enabled: true,
    matched: null,
    channels: null,
    screen: { ...CHEAP, limit: null },
  })
  expect(Date.parse(made.next_run_at ?? '')).toBeGreaterThan(Date.now())
  const one = `${LIST}/${made.id}`
  for (const [path, method] of [
    ['', 'GET'],
    ['', 'PATCH'],
    ['', 'DELETE'],
    ['/run', 'POST'],
    ['/runs', 'GET'],
  ] as const) {
    const more = method === 'PATCH' ? { body: { name: 'Mine' } } : {}
    const foreign = await bob.ask(`${one}${path}`, { method, ...more })
    const never = await bob.ask(`${LIST}/999999999${path}`, { method, ...more })
    expect([foreign.status, await foreign.text()]).toEqual([never.status, await never.text()])
    expect(foreign.status).toBe(404)
  }
  expect(await bob.json(LIST)).toMatchObject({ items: [], total: 0 })
  expect(await bob.json(LIST, { method: 'DELETE' })).toEqual({ deleted: 0 })
  expect(await ann.json(`${one}/run`, { method: 'POST' })).toMatchObject({ total: 2, is_first: true, new_codes: [] })
  await env.DB.prepare('UPDATE saved_screens SET members = ? WHERE id = ?').bind('["600001"]', made.id).run()
  expect(await ann.json(`${one}/run`, { method: 'POST' })).toMatchObject({ is_first: false, new_codes: ['600006'] })
  expect(await ann.json(one, { method: 'PATCH', body: { name: 'Cheaper' } })).toMatchObject({
    name: 'Cheaper',
    matched: 1,
  })
  // Another filter has nothing to compare with.
  const other = { screen: { where: is('pe_ratio', 'lt', 7) } }
  expect(await ann.json(one, { method: 'PATCH', body: other })).toMatchObject({ matched: null })
  expect(await ann.json(one, { method: 'PATCH', body: { enabled: false } })).toMatchObject({
    next_run_at: null,
    enabled: false,
  })
  expect(await ann.json(`${LIST}?page_size=1`)).toMatchObject({ total: 1, page: 1, page_size: 1 })
  expect(await ann.json(one, { method: 'DELETE' })).toEqual({ deleted: 1 })
  expect((await ann.ask(one)).status).toBe(404)
  await ann.json(LIST, { method: 'POST', body })
  expect(await ann.json(LIST, { method: 'DELETE' })).toMatchObject({ deleted: 1 })
  const { results } = await env.DB.prepare(
    'SELECT owner FROM saved_screens UNION SELECT owner FROM screening_owners',
  ).all()
  expect(results.map(({ owner }) => owner)).not.toContain(ann.owner)
})

test('what is wrong with a saved screen is said, nothing of it is stored, and there is an end to their number', async () => {
  const ann = await client()
  const LIST = `${SCREENING}/screens`
  const right = { name: 'Cheap', screen: CHEAP }
  const wrong: [said: string, body: object, status: number][] = [
    ['name', { ...right, name: 'a\u0000b' }, 400],
    ['name', { ...right, name: ' ' }, 422],
    ['name', { ...right, name: 'x'.repeat(65) }, 422],
    ['where.field', { ...right, screen: { where: is('moon', 'gt', 1) } }, 400],
    ['channels', { ...right, channels: ['nobodys'] }, 400],
    ['schedule', { ...right, schedule: { times: ['25:00'], zone: 'Asia/Shanghai' } }, 422],
    ['schedule', { ...right, schedule: { times: ['09:00'], zone: 'CST' } }, 400],
    ['schedules', { ...right, schedules: null }, 422],
    ['screen', { name: 'x' }, 422],
  ]
  for (const [said, body, status] of wrong) {
    const answer = await ann.ask(LIST, { method: 'POST', body, headers: english })
    expect([said, answer.status, await answer.text()]).toEqual([said, status, expect.stringContaining(said)])
  }
  expect(await ann.json(LIST)).toMatchObject({ total: 0 })
  const stored = (i: number) =>
    `('${ann.owner}', 'n${i}', '{}', 1, 'en', 1, 0, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')`
  await env.DB.prepare(
    `INSERT INTO saved_screens (owner, name, screen, enabled, language, revision, version, created_at, updated_at)
     VALUES ${Array.from({ length: 100 }, (_, i) => stored(i)).join(', ')}`,
  ).run()
  const full = await ann.ask(LIST, { method: 'POST', body: right, headers: english })
  expect([full.status, await full.text()]).toEqual([400, expect.stringContaining('100')])
})

test('the analysis page: hidden until its owner switches it on, then strategies, candidates and topics of the day', async () => {
  const [ann, bob] = [await client(), await client()]
  const live = { MARKET_DATA: 'tencent' }
  const asks = async (who: Client, path: string, init: { method?: string; body?: unknown } = {}) => {
    const headers = { 'x-session-api-key': who.key, 'content-type': 'application/json', 'accept-language': 'en' }
    const sent = {
      method: init.method ?? 'GET',
      headers,
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    }
    const answer = await request(`/api/v1/${path}`, sent, live)
    return { status: answer.status, body: await answer.json<Record<string, unknown>>() }
  }
  const shows = async (value: string) => {
    const { config_version } = await ann.json<{ config_version: string }>('/api/v1/system/config')
    const items = [{ key: 'ALPHASIFT_ENABLED', value }]
    return asks(ann, 'system/config', { method: 'PUT', body: { config_version, items } })
  }
  expect((await asks(ann, 'alphasift/status')).body).toMatchObject({ enabled: false, available: true })
  expect(await asks(ann, 'alphasift/strategies')).toMatchObject({ status: 403, body: { error: 'alphasift_disabled' } })
  expect((await shows('true')).status).toBe(200)
  expect((await asks(ann, 'alphasift/status')).body).toEqual({
    enabled: true,
    available: true,
    diagnostics: { reason: null },
  })
  expect((await asks(bob, 'alphasift/status')).body).toMatchObject({ enabled: false })
  // Sample data alone: the page is told that there can be no figures.
  expect(await ann.json('/api/v1/alphasift/status')).toMatchObject({ enabled: true, available: false })
  const { strategies } = (await asks(ann, 'alphasift/strategies')).body as { strategies: { id: string }[] }
  expect(strategies.map(({ id }) => id)).toEqual(expect.arrayContaining(['dual_low', 'capital_heat', 'balanced_alpha']))
  const begun = await asks(ann, 'alphasift/screen/tasks', {
    method: 'POST',
    body: { strategy: 'dual_low', max_results: 3 },
  })
  expect(begun.status).toBe(202)
  const path = `alphasift/screen/tasks/${begun.body.task_id}`
  const { body } = await asks(ann, path)
  expect(body).toMatchObject({
    status: 'completed',
    progress: 100,
    result: { after_filter_count: 2, snapshot_count: 6, candidate_count: 2 },
  })
  const { candidates } = body.result as {
    candidates: { code: string; raw: object; risk_level: string; score: number }[]
  }
  // The cheapest by both ratios; the one with a risk warning is not among them.
  expect(candidates.map(({ code, score, risk_level }) => [code, score, risk_level])).toEqual([
    ['600001', 100, 'low'],
    ['600002', 0, 'unknown'],
  ])
  expect(candidates[0]?.raw).toMatchObject({ session: LAST })
  expect(await asks(bob, path)).toMatchObject({ status: 403 })
  expect(await asks(ann, 'alphasift/screen/tasks/never')).toMatchObject({
    status: 404,
    body: { error: 'alphasift_screen_task_not_found' },
  })
  const refused = await asks(ann, 'alphasift/screen/tasks', { method: 'POST', body: { strategy: 'moon' } })
  expect(refused).toMatchObject({ status: 400, body: { error: 'alphasift_screen_rejected' } })
  const topics = (await asks(ann, 'alphasift/hotspots?provider=akshare&top=12&refresh=true')).body
  expect(topics).toMatchObject({
    hotspot_count: 1,
    stale: false,
    hotspots: [{ topic: '银行', change_pct: 0.33, heat_score: 67, sample_stock_count: 3, leaders: ['丁', '甲'] }],
  })
  const detail = await asks(ann, `alphasift/hotspots/${encodeURIComponent('银行')}`)
  expect(detail.body).toMatchObject({
    stock_count: 3,
    quality_status: 'partial',
    stocks: [{ code: '600004' }, { code: '600001' }, { code: '600002' }],
  })
  expect(await asks(ann, 'alphasift/hotspots/nothing')).toMatchObject({ status: 404 })
  expect((await shows('false')).status).toBe(200)
  expect((await asks(ann, path)).body).toMatchObject({ error: 'alphasift_disabled' })
})
