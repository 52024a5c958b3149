import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { walkOf } from '../../scripts/evaluate/walks.ts'
import { parseCode } from '../../src/market/instruments.ts'
import { listSamples } from '../../src/market/providers/sample.ts'
import { refreshEvidence } from '../../src/schedule/evidence.ts'
import { client } from '../helpers/app.ts'

type Row = { measure: string; group: string; market: string; regime: string; verdict: string; count: number }
type Evidence = {
  data: string
  method_version: string | null
  series: number
  left_out: number
  total: number
  rows: Row[]
}

test('the evidence is computed from the bars that are stored, filtered and paged', async () => {
  const ann = await client()
  const path = '/api/v1/analysis/evidence'
  const { bars } = walkOf({ seed: 5, bars: 400, drift: 0 })
  const keep = (key: string, body: string) =>
    env.DB.prepare(
      "INSERT OR REPLACE INTO market_answers (need, key, body, provider, kept_at) VALUES ('daily_data', ?, ?, 'test', 1)",
    ).bind(key, body)
  await env.DB.batch([
    keep('MSFT', JSON.stringify(bars)),
    keep('NVDA', JSON.stringify(bars.map((bar, i) => (i === 200 ? { ...bar, high: bar.low / 2 } : bar)))),
    keep('TSLA', '[]'),
  ])
  await refreshEvidence(env.DB, Date.parse('2026-08-14T08:00:00Z'))

  const all = await ann.json<Evidence>(`${path}?limit=500`)
  expect(all).toMatchObject({ data: 'market', method_version: '3', computed_at: '2026-08-14T08:00:00.000000Z' })
  expect(all.series).toBeGreaterThanOrEqual(1)
  expect(all.left_out).toBeGreaterThanOrEqual(1)
  expect(all.rows.length).toBe(all.total)
  const american = await ann.json<Evidence>(`${path}?market=us&measure=sessions_5&regime=all&group=buy`)
  expect(american.rows).toHaveLength(1)
  expect(american.rows[0]).toMatchObject({ group: 'buy', regime: 'all' })
  const page = await ann.json<Evidence>(`${path}?limit=2&offset=1`)
  expect(page.rows).toEqual(all.rows.slice(1, 3))
  const stocks = listSamples().filter(({ key }) => {
    const parsed = parseCode(key)
    return parsed.ok && parsed.instrument.kind !== 'index'
  })
  const samples = await ann.json<Evidence>(`${path}?data=sample&limit=1`)
  expect(samples).toMatchObject({
    data: 'sample',
    series: stocks.length,
    left_out: listSamples().length - stocks.length,
  })
  expect((await ann.json<Evidence>(`${path}?verdict=edge&data=sample`)).total).toBe(0)
  for (const wrong of ['limit=0', 'limit=501', 'market=mars', 'group=all', 'data=mine'])
    expect((await ann.ask(`${path}?${wrong}`)).status).toBe(422)
})
