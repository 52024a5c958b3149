// The results of replaying the method. They have no owner, because they are computed from market bars only.

import { FIRST_HASH, type Link, linkHash } from '../lib/crypto.ts'
import { type NewAnalysis, saveAnalysis } from './analyses.ts'

/** Market data, or the packaged samples. */
export const EVIDENCE_DATA = ['market', 'sample'] as const
export type EvidenceData = (typeof EVIDENCE_DATA)[number]

export type EvidenceRun = {
  data: EvidenceData
  methodVersion: string
  /** ISO 8601 in UTC. */
  computedAt: string
  /** The first and the last session on which advice was measured. */
  from: string | null
  to: string | null
  series: number
  bars: number
  days: number
  leftOut: number
}

/** A row of the table with its key columns; `body` is JSON. */
export type StoredRow = { measure: string; part: string; market: string; regime: string; verdict: string; body: string }

const RUN = `data, method_version AS "methodVersion", computed_at AS "computedAt", from_date AS "from", to_date AS "to",
  series, bars, days, left_out AS "leftOut"`

/** Replaces the former results, all at once. */
export async function saveEvidence(db: D1Database, run: EvidenceRun, rows: readonly StoredRow[]): Promise<void> {
  await db.batch([
    db.prepare('DELETE FROM evidence_rows WHERE data = ?').bind(run.data),
    db
      .prepare(
        `INSERT INTO evidence_rows (data, place, measure, part, market, regime, verdict, body)
         SELECT ?1, key, json_extract(value, '$.measure'), json_extract(value, '$.part'),
           json_extract(value, '$.market'), json_extract(value, '$.regime'), json_extract(value, '$.verdict'),
           json_extract(value, '$.body') FROM json_each(?2)`,
      )
      .bind(run.data, JSON.stringify(rows)),
    db
      .prepare(
        `INSERT OR REPLACE INTO evidence_runs
           (data, method_version, computed_at, from_date, to_date, series, bars, days, left_out)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(
        ...[run.data, run.methodVersion, run.computedAt, run.from, run.to, run.series, run.bars, run.days, run.leftOut],
      ),
  ])
}

export async function evidenceRun(db: D1Database, data: EvidenceData): Promise<EvidenceRun | null> {
  return db.prepare(`SELECT ${RUN} FROM evidence_runs WHERE data = ?`).bind(data).first<EvidenceRun>()
}

export type EvidenceQuery = {
  data: EvidenceData
  measure: string | null
  part: string | null
  market: string | null
  regime: string | null
  verdict: string | null
  limit: number
  offset: number
}

const MATCHES = `data = ?1 AND (?2 IS NULL OR measure = ?2) AND (?3 IS NULL OR part = ?3)
  AND (?4 IS NULL OR market = ?4) AND (?5 IS NULL OR regime = ?5) AND (?6 IS NULL OR verdict = ?6)`

/** JSON texts in the order of the table, and the total number. */
export async function evidenceRows(
  db: D1Database,
  { data, measure, part, market, regime, verdict, limit, offset }: EvidenceQuery,
): Promise<{ total: number; rows: string[] }> {
  const matching = [data, measure, part, market, regime, verdict]
  const [counted, found] = await db.batch<{ total: number; body: string }>([
    db.prepare(`SELECT count(*) AS total FROM evidence_rows WHERE ${MATCHES}`).bind(...matching),
    db
      .prepare(`SELECT body FROM evidence_rows WHERE ${MATCHES} ORDER BY place LIMIT ?7 OFFSET ?8`)
      .bind(...matching, limit, offset),
  ])
  return { total: counted?.results[0]?.total ?? 0, rows: (found?.results ?? []).map(({ body }) => body) }
}

/** The stored daily bars of one listing, as JSON text; null when there are none. */
export async function keptBars(db: D1Database, key: string): Promise<string | null> {
  const query = "SELECT body FROM market_answers WHERE need = 'daily_data' AND key = ? ORDER BY kept_at DESC LIMIT 1"
  return db.prepare(query).bind(key).first<string>('body')
}

/** The newest stored series of daily bars, as JSON texts by listing. */
export async function keptSeries(db: D1Database, limit: number): Promise<{ key: string; body: string }[]> {
  const { results } = await db
    .prepare("SELECT key, body FROM market_answers WHERE need = 'daily_data' ORDER BY kept_at DESC, key LIMIT ?")
    .bind(limit)
    .all<{ key: string; body: string }>()
  return results
}

// The ledger of advice: rows are only added; the database itself refuses changes.

export type LedgerEntry = {
  owner: string
  queryId: string
  /** Canonical JSON. */
  content: string
  unscorable: string | null
}

export type LedgerRow = Link & { queryId: string; unscorable: string | null }

const ROW = 'place, query_id AS "queryId", content, unscorable, previous_hash AS "previousHash", hash'
/** The number of tries when another report of the same owner is inserted first. */
const MOST_TRIES = 60

/**
 * Stores a report and its entry in the ledger in one transaction, each exactly once, however often this is called.
 * Returns the report's row id.
 */
export async function saveReport(
  db: D1Database,
  { analysis, entry, beside = [] }: { analysis: NewAnalysis; entry: LedgerEntry | null; beside?: ExtraStatements },
): Promise<number> {
  if (entry === null || (await hasEntry(db, entry))) return saveAnalysis(db, analysis, beside)
  for (let i = 0; i < MOST_TRIES; i++) {
    try {
      return await saveAnalysis(db, analysis, [...beside, await nextRow(db, entry)])
    } catch (error) {
      if (!isPlaceTaken(error)) throw error
      if (await hasEntry(db, entry)) return saveAnalysis(db, analysis, beside)
    }
  }
  throw new Error(`no place in the ledger for ${entry.queryId}`)
}

type ExtraStatements = readonly D1PreparedStatement[]

/** Fails if another report took the position meanwhile. */
async function nextRow(db: D1Database, { owner, queryId, content, unscorable }: LedgerEntry) {
  const head = await db
    .prepare('SELECT place, hash FROM advice_ledger WHERE owner = ? ORDER BY place DESC LIMIT 1')
    .bind(owner)
    .first<{ place: number; hash: string }>()
  const [place, previous] = [(head?.place ?? 0) + 1, head?.hash ?? FIRST_HASH]
  return db
    .prepare(
      `INSERT INTO advice_ledger (owner, place, query_id, content, unscorable, previous_hash, hash)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .bind(owner, place, queryId, content, unscorable, previous, await linkHash(previous, content))
}

const isPlaceTaken = (error: unknown): boolean =>
  error instanceof Error && /advice_ledger: this place or this report is there/.test(error.message)

async function hasEntry(db: D1Database, { owner, queryId }: LedgerEntry): Promise<boolean> {
  const query = 'SELECT 1 AS found FROM advice_ledger WHERE owner = ? AND query_id = ?'
  return (await db.prepare(query).bind(owner, queryId).first<number>('found')) !== null
}

/** Rows in order, from the position after `after`. */
export async function ledgerRows(
  db: D1Database,
  { owner, after, limit }: { owner: string; after: number; limit: number },
): Promise<LedgerRow[]> {
  const { results } = await db
    .prepare(`SELECT ${ROW} FROM advice_ledger WHERE owner = ? AND place > ? ORDER BY place LIMIT ?`)
    .bind(owner, after, limit)
    .all<LedgerRow>()
  return results
}

/**
 * The number of the owner's reports, since the first row's time, without a row: their rows were removed. A deleted
 * report keeps its row, so it is not counted.
 */
export async function reportsWithoutEntry(db: D1Database, owner: string): Promise<number> {
  const query = `SELECT count(*) AS count FROM analyses AS a
    WHERE a.owner = ?1 AND a.report_type <> 'market_review'
      AND a.created_at >= (SELECT json_extract(content, '$.created_at') FROM advice_ledger
        WHERE owner = ?1 AND json_valid(content) ORDER BY place LIMIT 1)
      AND NOT EXISTS (SELECT 1 FROM advice_ledger AS l WHERE l.owner = ?1 AND l.query_id = a.query_id)`
  return (await db.prepare(query).bind(owner).first<number>('count')) ?? 0
}

/** The number of rows by the reason why they cannot be scored; under null the rows that can. */
export async function ledgerCounts(
  db: D1Database,
  owner: string,
): Promise<{ unscorable: string | null; count: number }[]> {
  const { results } = await db
    .prepare('SELECT unscorable, count(*) AS count FROM advice_ledger WHERE owner = ? GROUP BY unscorable ORDER BY 1')
    .bind(owner)
    .all<{ unscorable: string | null; count: number }>()
  return results
}
