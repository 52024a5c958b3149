// Rates between currencies, as a public source publishes them.

import { z } from 'zod'
import type { ReferenceDay } from '../portfolio/rates.ts'

const Rates = z.record(z.string(), z.string())

/** The days from one to another, the newest first. */
export async function referenceDays(
  db: D1Database,
  { source, from, to }: { source: string; from: string; to: string },
): Promise<ReferenceDay[]> {
  const { results } = await db
    .prepare('SELECT date, rates FROM reference_rates WHERE source = ? AND date >= ? AND date <= ? ORDER BY date DESC')
    .bind(source, from, to)
    .all<{ date: string; rates: string }>()
  return results.map(({ date, rates }) => ({ date, rates: Rates.parse(JSON.parse(rates)) }))
}

/** The newest stored day; null when there is none. */
export async function newestReference(db: D1Database, source: string): Promise<string | null> {
  const row = await db
    .prepare('SELECT max(date) AS date FROM reference_rates WHERE source = ?')
    .bind(source)
    .first<{ date: string | null }>()
  return row?.date ?? null
}

export async function saveReference(
  db: D1Database,
  { source, days, at }: { source: string; days: readonly ReferenceDay[]; at: number },
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO reference_rates (source, date, rates, fetched_at)
       SELECT ?1, value ->> '$.date', value -> '$.rates', ?3 FROM json_each(?2) WHERE true
       ON CONFLICT (source, date) DO UPDATE SET rates = excluded.rates, fetched_at = excluded.fetched_at`,
    )
    .bind(source, JSON.stringify(days), at)
    .run()
}
