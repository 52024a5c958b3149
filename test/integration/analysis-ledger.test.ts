import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { appendEntry } from '../../src/db/evidence.ts'
import { FIRST_HASH, linkHash } from '../../src/lib/crypto.ts'
import { isTradingDay } from '../../src/market/calendar.ts'
import { client } from '../helpers/app.ts'

type Row = {
  place: number
  content: string
  previous_hash: string
  hash: string
  advice: Record<string, unknown>
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
  await Promise.all([...entries, ...entries].map((each) => appendEntry(env.DB, each)))
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
  for (const one of [scored(1, 'LDGR', 5), scored(2, 'LDGR', 55), scored(3, 'NONE', 5)]) await appendEntry(env.DB, one)
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
  for (const n of [1, 2]) await appendEntry(env.DB, entry(ann.owner, n))
  const change = env.DB.prepare("UPDATE advice_ledger SET content = '{}' WHERE owner = ?").bind(ann.owner)
  await expect(change.run()).rejects.toThrow('only ever added to')
  const drop = env.DB.prepare('DELETE FROM advice_ledger WHERE owner = ?').bind(ann.owner)
  await expect(drop.run()).rejects.toThrow('only ever added to')
  const { content, queryId } = entry(ann.owner, 3)
  await env.DB.prepare(
    'INSERT INTO advice_ledger (owner, place, query_id, content, previous_hash, hash) VALUES (?, 3, ?, ?, ?, ?)',
  )
    .bind(ann.owner, queryId, content, FIRST_HASH, await linkHash(FIRST_HASH, content))
    .run()
  expect(await ann.json<Ledger>(path)).toMatchObject({ is_whole: false, broken_at: 3 })
  expect(await ann.json<Ledger>(`${path}?after_place=1&limit=1`)).toMatchObject({ is_whole: true, broken_at: null })
})
