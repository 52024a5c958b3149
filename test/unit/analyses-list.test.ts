// The history asks an index for every filter: no sort, no walk over rows that are not shown, however many reports there are.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { listAnalyses, listQueries } from '../../src/db/analyses.ts'

const COUNT = 2_000
const EVERYTHING = { key: null, reportType: null, from: null, until: null, limit: 20, offset: 0 }
const FILTERS = {
  none: {},
  'a listing': { key: 'K7' },
  'a listing without reports': { key: 'NONE' },
  'all days': { from: '2020-01-01T00:00:00Z' },
  'the oldest days': { until: '2026-01-02T00:00:00Z' },
  'no day': { from: '2030-01-01T00:00:00Z', until: '2031-01-01T00:00:00Z' },
  'some days': { from: '2026-01-01T08:00:00Z', until: '2026-01-01T16:00:00Z' },
  'a kind': { reportType: 'market_review' },
  'a listing and days': { key: 'K7', from: '2026-01-01T08:00:00Z', until: '2026-01-01T16:00:00Z' },
  'a listing and a kind': { key: 'K7', reportType: 'full' },
}

/** One report a minute, of twenty listings; every hundredth is a review. */
async function seeded(): Promise<string> {
  const owner = crypto.randomUUID()
  await env.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
     INSERT INTO analyses (owner, query_id, key, stock_code, report_type, report_language, analysis_phase, created_at, report)
     SELECT ?1, ?1 || i, 'K' || (i % 20), 'K', iif(i % 100 = 0, 'market_review', 'full'), 'zh', 'auto',
       strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i * 60, 'unixepoch'), '{}' FROM n`,
  )
    .bind(owner, COUNT)
    .run()
  return owner
}

test('no filter reads more rows than the list without one, and none is answered by a sort or a walk', async () => {
  const owner = await seeded()
  const read: Record<string, number> = {}
  for (const [name, filter] of Object.entries(FILTERS)) {
    const { count, page } = listQueries({ owner, ...EVERYTHING, ...filter })
    for (const { text, bindings } of [count, page]) {
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${text}`)
        .bind(...bindings)
        .all<{ detail: string }>()
      const plan = results.map(({ detail }) => detail).join('; ')
      expect([name, plan]).toEqual([
        name,
        expect.stringMatching(/^SEARCH a USING (COVERING )?INDEX analyses_by_\w+ \([^;]*\)$/),
      ])
    }
    const [counted, paged] = await env.DB.batch([
      env.DB.prepare(count.text).bind(...count.bindings),
      env.DB.prepare(page.text).bind(...page.bindings),
    ])
    read[name] = (counted?.meta.rows_read ?? 0) + (paged?.meta.rows_read ?? 0)
  }
  const { none = 0, ...filtered } = read
  expect(none).toBeGreaterThanOrEqual(COUNT)
  for (const [name, rows] of Object.entries(filtered)) expect([name, rows <= none * 1.1]).toEqual([name, true])
})

test('every filter finds what a look at each row finds, the newest first', async () => {
  const owner = await seeded()
  const all = await listAnalyses(env.DB, { owner, ...EVERYTHING, limit: COUNT })
  expect([all.total, all.items.length]).toEqual([COUNT, COUNT])
  for (const [name, filter] of Object.entries(FILTERS)) {
    const { key, reportType, from, until } = { ...EVERYTHING, ...filter }
    const wanted = all.items.filter((item) => {
      const isKind = (key === null || item.key === key) && (reportType === null || item.reportType === reportType)
      return isKind && (from === null || item.createdAt >= from) && (until === null || item.createdAt < until)
    })
    const page = await listAnalyses(env.DB, { owner, ...EVERYTHING, ...filter, offset: 3 })
    expect([name, page.total]).toEqual([name, wanted.length])
    expect(page.items.map(({ id }) => id)).toEqual(wanted.slice(3, 23).map(({ id }) => id))
  }
  expect((await listAnalyses(env.DB, { owner: 'nobody', ...EVERYTHING })).total).toBe(0)
})
