// Counts of isolates, and the numbers of connections.

import { errorFields, log } from '../lib/log.ts'
import { storeTotals, type TotalsRow } from '../lib/metrics.ts'

/** Replaces the row unless the stored one is newer. */
async function storeRow(db: D1Database, { id, seq, totals, at }: TotalsRow): Promise<void> {
  await db
    .prepare(
      `INSERT INTO metric_rows (id, seq, totals, stored_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, totals = excluded.totals, stored_at = excluded.stored_at
       WHERE excluded.seq > metric_rows.seq`,
    )
    .bind(id, seq, JSON.stringify(Object.fromEntries(totals)), at)
    .run()
}

/** Stores the counts of this isolate. A failure is logged, and the next call retries. */
export async function storeCounts(db: D1Database): Promise<void> {
  try {
    await storeTotals((row) => storeRow(db, row))
  } catch (error) {
    log.warn('metrics.not_stored', errorFields(error))
  }
}

/** The sum over all isolates so far. */
export async function metricTotals(db: D1Database): Promise<Map<string, number>> {
  const { results } = await db
    .prepare(
      `SELECT series, SUM(value) AS value FROM (
         SELECT series, value FROM metric_totals
         UNION ALL SELECT one.key, one.value FROM metric_rows, json_each(metric_rows.totals) AS one
       ) GROUP BY series`,
    )
    .all<{ series: string; value: number }>()
  return new Map(results.map(({ series, value }) => [series, value]))
}

/** Adds rows that were not stored since `before` to the total row, in one transaction. Returns how many there were. */
export async function foldMetricRows(db: D1Database, before: number): Promise<number> {
  const [, dropped] = await db.batch([
    db
      .prepare(
        `INSERT INTO metric_totals (series, value)
         SELECT one.key, SUM(one.value) FROM metric_rows, json_each(metric_rows.totals) AS one
         WHERE metric_rows.stored_at < ? GROUP BY one.key
         ON CONFLICT (series) DO UPDATE SET value = value + excluded.value`,
      )
      .bind(before),
    db.prepare('DELETE FROM metric_rows WHERE stored_at < ?').bind(before),
  ])
  return dropped?.meta.changes ?? 0
}

/** Stores the number of runners of the owner with this object. */
export async function tellRunners(db: D1Database, ownerObject: string, runners: number): Promise<void> {
  const statement =
    runners === 0
      ? db.prepare('DELETE FROM connected_runners WHERE owner_object = ?').bind(ownerObject)
      : db.prepare('INSERT OR REPLACE INTO connected_runners VALUES (?, ?)').bind(ownerObject, runners)
  await statement.run()
}

export async function connections(db: D1Database): Promise<{ sockets: number; runners: number }> {
  const row = await db
    .prepare(
      `SELECT (SELECT SUM(num_connections) FROM conversations WHERE num_connections > 0) AS sockets,
         (SELECT SUM(runners) FROM connected_runners) AS runners`,
    )
    .first<{ sockets: number | null; runners: number | null }>()
  return { sockets: row?.sockets ?? 0, runners: row?.runners ?? 0 }
}
