import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { NewAnalysis } from '../../src/db/analyses.ts'
import { type LedgerEntry, saveReport } from '../../src/db/evidence.ts'
import { FIRST_HASH, linkHash } from '../../src/lib/crypto.ts'
import { isTradingDay } from '../../src/market/calendar.ts'
import { client } from '../helpers/app.ts'

type Row = {
  place: number
  content: string
  previous_hash: string
  hash: string
  advice: Record<string, unknown> | null
  outcome: object
}
type Ledger = {
  total: number
  scorable: number
  unscorable: { reason: string; count: number }[]
  is_whole: boolean
  broken_at: number | null
  next_after: number | null
  rows: Row[]
}

const path = '/api/v1/analysis/evidence/ledger'

/** A report of which nothing matters but its owner and its id. */
const reportOf = ({ owner, queryId }: LedgerEntry): NewAnalysis => ({
  ...{ owner, queryId, key: 'AAPL', stockCode: 'AAPL', stockName: null, reportType: 'full', reportLanguage: 'zh' },
  ...{ region: null, analysisPhase: 'auto', originalQuery: null, selectionSource: null, skills: null },
  ...{ trendPrediction: 'x', analysisSummary: 'x', sentimentScore: 67, operationAdvice: 'x', action: 'buy' },
  ...{ actionLabel: 'x', currentPrice: 100, changePct: 0, volumeRatio: null, turnoverRate: null, modelUsed: null },
  ...{ marketPhaseSummary: null, dataNotice: null, dataChecks: null, createdAt: '2026-08-14T08:00:00.000000Z' },
  ...{ report: '{}', contextSnapshot: null, diagnostics: null },
})
const save = (one: LedgerEntry) => saveReport(env.DB, { analysis: reportOf(one), entry: one })
const kept = (owner: string) =>
  env.DB.prepare('SELECT count(*) AS n FROM analyses WHERE owner = ?').bind(owner).first<number>('n')

/** Content as the ledger has it. */
const entry = (owner: string, n: number, unscorable: string | null = null) => ({
  owner,
  queryId: `${owner}-${n}`,
  unscorable,
  content: JSON.stringify({
    query_id: `${owner}-${n}`,
    ...{ key: 'AAPL', created_at: '2026-08-14T08:00:00.000000Z', method_version: '1', session_date: '2026-08-13' },
    ...{
      action: 'buy',
      score: 67,
      price: 100,
      stop_loss: 95,
      take_profit: 112,
      confidence_probability: null,
      unscorable,
    },
  }),
})

test('every saved report is in the ledger once, bound to the one before it, and what cannot be scored is counted', async () => {
  const ann = await client()
  for (const stock_code of ['AAPL', 'MSFT']) {
    const response = await ann.ask('/api/v1/analysis/analyze', { method: 'POST', body: { stock_code } })
    expect(response.status).toBe(200)
  }
  const ledger = await ann.json<Ledger>(path)
  expect(ledger).toMatchObject({ total: 2, scorable: 0, unscorable: [{ reason: 'sample', count: 2 }], is_whole: true })
  const [first, second] = ledger.rows
  expect(first).toMatchObject({ place: 1, previous_hash: FIRST_HASH, advice: { key: 'AAPL', unscorable: 'sample' } })
  expect(second).toMatchObject({ place: 2, previous_hash: first?.hash, advice: { key: 'MSFT' } })
  expect(second?.hash).toBe(await linkHash(second?.previous_hash ?? '', second?.content ?? ''))
  expect(await (await client()).json<Ledger>(path)).toMatchObject({ total: 0, rows: [], is_whole: true })
})

test('the ledger grows by one row a report, however many are saved at once or again, and pages fit together', async () => {
  const ann = await client()
  const entries = Array.from({ length: 8 }, (_, n) => entry(ann.owner, n, n % 4 === 0 ? 'no_price' : null))
  const ids = await Promise.all([...entries, ...entries].map(save))
  expect([new Set(ids).size, await kept(ann.owner)]).toEqual([8, 8])
  const whole = await ann.json<Ledger>(path)
  expect(whole).toMatchObject({ total: 8, scorable: 6, unscorable: [{ reason: 'no_price', count: 2 }], is_whole: true })
  expect(whole.next_after).toBeNull()
  const page = await ann.json<Ledger>(`${path}?limit=3&after_place=3`)
  expect(page).toMatchObject({ is_whole: true, next_after: 6 })
  expect(page.rows).toEqual(whole.rows.slice(3, 6))
  for (const wrong of ['limit=0', 'limit=1001', 'after_place=-1'])
    expect((await ann.ask(`${path}?${wrong}`)).status).toBe(422)
})

test('an advice is scored by the bars that the service keeps, once they reach far enough', async () => {
  const ann = await client()
  const dates: string[] = []
  for (let day = Date.parse('2025-01-06'); dates.length < 60; day += 86_400_000) {
    const date = new Date(day).toISOString().slice(0, 10)
    if (isTradingDay('us', date)) dates.push(date)
  }
  const bars = dates.map((date, i) => {
    const close = Math.round(10_000 * 1.005 ** i) / 100
    return { date, open: close, high: close * 1.01, low: close * 0.99, close, volume: 1_000_000 + i, amount: null }
  })
  const add = env.DB.prepare('INSERT INTO market_answers (need, key, body, provider, kept_at) VALUES (?, ?, ?, ?, ?)')
  await add.bind('daily_data', 'LDGR', JSON.stringify(bars), 'yahoo', Date.now()).run()
  const scored = (n: number, key: string, index: number) => {
    const { content, ...rest } = entry(ann.owner, n)
    return { ...rest, content: JSON.stringify({ ...JSON.parse(content), key, session_date: dates[index] }) }
  }
  for (const one of [scored(1, 'LDGR', 5), scored(2, 'LDGR', 55), scored(3, 'NONE', 5)]) await save(one)
  const ledger = await ann.json<Ledger & { scores: object }>(path)
  expect(ledger.rows.map(({ outcome }) => outcome)).toMatchObject([
    { state: 'scored', reason: null, right: true, return_20_pct: expect.closeTo((1.005 ** 20 - 1) * 100, 1) },
    { state: 'pending', reason: 'too_young', right: null },
    { state: 'no_bars', reason: 'no_bars', right: null },
  ])
  expect(ledger.scores).toMatchObject({ horizon_sessions: 20, actions: [{ action: 'buy', count: 1, right: 1 }] })
})

test('the database refuses to change the ledger, and a row that does not fit is named', async () => {
  const ann = await client()
  for (const n of [1, 2]) await save(entry(ann.owner, n))
  const change = env.DB.prepare("UPDATE advice_ledger SET content = '{}' WHERE owner = ?").bind(ann.owner)
  await expect(change.run()).rejects.toThrow('only ever added to')
  const drop = env.DB.prepare('DELETE FROM advice_ledger WHERE owner = ?').bind(ann.owner)
  await expect(drop.run()).rejects.toThrow('only ever added to')
  const replace = env.DB.prepare(
    `INSERT OR REPLACE INTO advice_ledger SELECT owner, place, query_id, '{}', unscorable, previous_hash, hash
     FROM advice_ledger WHERE owner = ?`,
  ).bind(ann.owner)
  await expect(replace.run()).rejects.toThrow('is there already')
  const { content, queryId } = entry(ann.owner, 3)
  await env.DB.prepare(
    'INSERT INTO advice_ledger (owner, place, query_id, content, previous_hash, hash) VALUES (?, 3, ?, ?, ?, ?)',
  )
    .bind(ann.owner, queryId, content, FIRST_HASH, await linkHash(FIRST_HASH, content))
    .run()
  expect(await ann.json<Ledger>(path)).toMatchObject({ is_whole: false, broken_at: 3 })
  expect(await ann.json<Ledger>(`${path}?after_place=1&limit=1`)).toMatchObject({ is_whole: true, broken_at: null })
})

/** Without the triggers, as somebody has it who can write the file; they stand again before this settles. */
async function asVandal(statement: string, ...values: (string | number)[]): Promise<void> {
  const { results } = await env.DB.prepare(
    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'advice_ledger'",
  ).all<{ name: string; sql: string }>()
  await env.DB.batch([
    ...results.map(({ name }) => env.DB.prepare(`DROP TRIGGER ${name}`)),
    env.DB.prepare(statement).bind(...values),
    ...results.map(({ sql }) => env.DB.prepare(sql)),
  ])
}

test('whatever of a row is changed behind the service, the answer names the row, and counts what cannot be read', async () => {
  const changes = [
    ['content = replace(content, \'"price":100\', \'"price":90\')', 2],
    ["content = 'no JSON'", 2],
    ["content = '{}'", 2],
    // Neither stands in the hashed text, and rows are counted and found by them.
    ["unscorable = 'no_price'", 2],
    ["query_id = 'another'", 2],
    ['hash = previous_hash', 2],
    ['place = 9', 2],
  ] as const
  for (const [change, place] of changes) {
    const ann = await client()
    for (const n of [1, 2, 3]) await save(entry(ann.owner, n))
    await asVandal(`UPDATE advice_ledger SET ${change} WHERE owner = ? AND place = 2`, ann.owner)
    const ledger = await ann.json<Ledger>(path)
    expect([change, ledger]).toMatchObject([change, { total: 3, is_whole: false, broken_at: place }])
    const unread = ledger.rows.find(({ advice }) => advice === null)
    expect(unread?.outcome ?? null).toEqual(
      /content = '/.test(change) ? expect.objectContaining({ state: 'unscorable', reason: 'unreadable' }) : null,
    )
  }
})

test('rows that were taken away are missed: in the middle by the chain, at the end by the reports that they tell of', async () => {
  for (const [gone, broken, lacking] of [
    [1, 1, 0],
    [2, 2, 1],
    [3, null, 1],
  ] as const) {
    const ann = await client()
    for (const n of [1, 2, 3]) await save(entry(ann.owner, n))
    await asVandal('DELETE FROM advice_ledger WHERE owner = ? AND place = ?', ann.owner, gone)
    expect(await ann.json<Ledger>(path)).toMatchObject({
      ...{ total: 2, is_whole: false, broken_at: broken },
      reports_without_row: gone === 1 ? expect.any(Number) : lacking,
    })
  }
  // A report that its owner deletes keeps its row.
  const bob = await client()
  for (const n of [1, 2]) await save(entry(bob.owner, n))
  await env.DB.prepare('DELETE FROM analyses WHERE owner = ? AND query_id = ?').bind(bob.owner, `${bob.owner}-2`).run()
  expect(await bob.json<Ledger>(path)).toMatchObject({ total: 2, is_whole: true, reports_without_row: 0 })
})

test('a report and its row are saved together or not at all, and one that was saved alone gets its row', async () => {
  const ann = await client()
  const one = entry(ann.owner, 1)
  const broken = { ...one, content: null as unknown as string }
  await expect(saveReport(env.DB, { analysis: reportOf(one), entry: broken })).rejects.toThrow()
  expect(await kept(ann.owner)).toBe(0)
  await saveReport(env.DB, { analysis: reportOf(one), entry: null })
  expect(await ann.json<Ledger>(path)).toMatchObject({ total: 0 })
  await save(one)
  expect([await kept(ann.owner), await ann.json<Ledger>(path)]).toMatchObject([1, { total: 1, is_whole: true }])
})
