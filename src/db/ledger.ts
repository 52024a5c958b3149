// The ledger of advice: rows are added and never changed, which the database itself refuses.

import { FIRST_HASH, type Link, linkHash } from '../lib/hash-chain.ts'

export type LedgerEntry = {
  owner: string
  queryId: string
  /** Canonical JSON. */
  content: string
  unscorable: string | null
}

export type LedgerRow = Link & { queryId: string; unscorable: string | null }

const ROW = 'place, query_id AS "queryId", content, unscorable, previous_hash AS "previousHash", hash'
/** Each time another report of the same owner came first. */
const MOST_TRIES = 20

/** Adds the entry once, however often it is called for one report. */
export async function appendEntry(db: D1Database, { owner, queryId, content, unscorable }: LedgerEntry): Promise<void> {
  for (let i = 0; i < MOST_TRIES; i++) {
    const head = await db
      .prepare('SELECT place, hash FROM advice_ledger WHERE owner = ? ORDER BY place DESC LIMIT 1')
      .bind(owner)
      .first<{ place: number; hash: string }>()
    const [place, previous] = [(head?.place ?? 0) + 1, head?.hash ?? FIRST_HASH]
    const { meta } = await db
      .prepare(
        `INSERT INTO advice_ledger (owner, place, query_id, content, unscorable, previous_hash, hash)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      )
      .bind(owner, place, queryId, content, unscorable, previous, await linkHash(previous, content))
      .run()
    if (meta.changes > 0 || (await hasEntry(db, owner, queryId))) return
  }
  throw new Error(`no place in the ledger for ${queryId}`)
}

async function hasEntry(db: D1Database, owner: string, queryId: string): Promise<boolean> {
  const query = 'SELECT 1 AS found FROM advice_ledger WHERE owner = ? AND query_id = ?'
  return (await db.prepare(query).bind(owner, queryId).first<number>('found')) !== null
}

/** Rows in their order, from the place after `after`. */
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

/** How many rows there are by why they cannot be scored; under null those that can. */
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
