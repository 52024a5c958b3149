// The database part of deleting an owner with all data: the order, the tables with rows of owners, and how these rows
// are found. The triggers of migration 0034 prevent new rows while the order exists.

import { z } from 'zod'
import { isoMicros } from '../lib/clock.ts'

const Counts = z.object({ conversations: z.int(), files: z.int(), rows: z.int(), tasks: z.int() })
export type ErasureCounts = z.infer<typeof Counts>

export const NO_COUNTS: ErasureCounts = { conversations: 0, files: 0, rows: 0, tasks: 0 }

/** `waiting`: everything is deleted, and requests that were running are given time to end. */
export const ERASURE_PHASES = ['deleting', 'waiting', 'ending'] as const
export type ErasurePhase = (typeof ERASURE_PHASES)[number]

export type Erasure = {
  owner: string
  actor: string
  /** The owner of the key that ordered it. */
  askedBy: string
  beganAt: number
  phase: ErasurePhase
  /** Epoch ms; null before the first complete deletion. */
  quietAt: number | null
  counts: ErasureCounts
  problem: string | null
}

export type OwnedTable = {
  readonly name: string
  /** The columns that identify a row. */
  readonly key: string
  /** The condition for rows of the owner ?1. */
  readonly whose: string
}

const OWN = 'owner = ?1'
const owned = (name: string, key: string, whose: string = OWN): OwnedTable => ({ name, key, whose })
const below = (column: string, parent: string) => `${column} IN (SELECT id FROM ${parent} WHERE ${OWN})`

/**
 * Every table with rows of owners, except the three of `endErasure` and the ledger of advice. Rows that are found
 * through another table come before that table.
 */
export const OWNED_TABLES: readonly OwnedTable[] = [
  owned('untold_notices', 'key', "CASE WHEN json_valid(body) THEN json_extract(body, '$.owner') END = ?1"),
  owned('delivery_parts', 'delivery_id, n'),
  owned('deliveries', 'seq'),
  owned('channel_tests', 'rowid'),
  owned('notification_channels', 'owner, id'),
  owned('alert_states', 'rule_id', below('rule_id', 'alert_rules')),
  owned('alert_triggers', 'id'),
  owned('alert_rules', 'id'),
  owned('screen_runs', 'id'),
  owned('saved_screens', 'id'),
  owned('page_screenings', 'id'),
  owned('screening_owners', 'owner'),
  owned('schedule_runs', 'schedule_id, slot'),
  owned('schedules', 'id'),
  owned('watchlist_stocks', 'watchlist_id, key', below('watchlist_id', 'watchlists')),
  owned('watchlists', 'id'),
  owned('signal_feedback', 'owner, signal_id'),
  owned('decision_signals', 'id'),
  owned('analysis_snapshots', 'analysis_id', below('analysis_id', 'analyses')),
  owned('analyses', 'id'),
  owned('portfolio_events', 'owner, id'),
  owned('portfolio_accounts', 'owner, id'),
  owned('portfolio_rates', 'owner, currency, quote, date'),
  owned('portfolio_books', 'owner'),
  owned('shares', 'id'),
  owned('feedback', 'id'),
  owned('chat_sessions', 'owner, session'),
  owned('conversations', 'owner, id'),
  owned('model_calls', 'id'),
  owned('security_preferences', 'owner'),
  owned('provider_tokens', 'owner, provider'),
  owned('secrets', 'owner, name'),
  owned('settings', 'owner, field'),
  owned('audit_log', 'id'),
]

/** Small batches, so that no statement takes long. */
const ROWS_AT_ONCE = 500

/** Orders the deletion; an earlier order stays as it is and continues. */
export async function beginErasure(
  db: D1Database,
  { owner, actor, askedBy }: Pick<Erasure, 'owner' | 'actor' | 'askedBy'>,
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO erasures (owner, actor, asked_by, begun_at, phase, counts) VALUES (?, ?, ?, ?, 'deleting', ?)
       ON CONFLICT (owner) DO NOTHING`,
    )
    .bind(owner, actor, askedBy, Date.now(), JSON.stringify(NO_COUNTS))
    .run()
}

type Row = {
  owner: string
  actor: string
  asked_by: string
  begun_at: number
  phase: ErasurePhase
  quiet_at: number | null
  counts: string
  problem: string | null
}

/** Null for an owner who is not being deleted. */
export async function erasureOf(db: D1Database, owner: string): Promise<Erasure | null> {
  const row = await db.prepare('SELECT * FROM erasures WHERE owner = ?').bind(owner).first<Row>()
  if (row === null) return null
  const { actor, asked_by: askedBy, begun_at: beganAt, phase, quiet_at: quietAt, counts, problem } = row
  return { owner, actor, askedBy, beganAt, phase, quietAt, counts: Counts.parse(JSON.parse(counts)), problem }
}

export async function isLeaving(db: D1Database, owner: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM erasures WHERE owner = ?').bind(owner).first()) !== null
}

export async function leavingOwners(db: D1Database, limit: number): Promise<string[]> {
  const query = 'SELECT owner FROM erasures ORDER BY begun_at LIMIT ?'
  return (await db.prepare(query).bind(limit).all<{ owner: string }>()).results.map(({ owner }) => owner)
}

export async function noteErasure(
  db: D1Database,
  { owner, phase, quietAt, counts, problem }: Omit<Erasure, 'actor' | 'askedBy' | 'beganAt'>,
): Promise<void> {
  await db
    .prepare('UPDATE erasures SET phase = ?2, quiet_at = ?3, counts = ?4, problem = ?5 WHERE owner = ?1')
    .bind(owner, phase, quietAt, JSON.stringify(counts), problem)
    .run()
}

/** Deletes some of the owner's rows of one table; returns how many. */
export async function deleteOwnedRows(
  db: D1Database,
  owner: string,
  { name, key, whose }: OwnedTable,
): Promise<number> {
  const statement = db
    .prepare(
      `DELETE FROM ${name} WHERE (${key}) IN (SELECT ${key} FROM ${name} WHERE ${whose} LIMIT ${ROWS_AT_ONCE})
       RETURNING 1`,
    )
    .bind(owner)
  let deleted = 0
  for (;;) {
    const { results } = await statement.all()
    deleted += results.length
    if (results.length < ROWS_AT_ONCE) return deleted
  }
}

/** The ids of all keys that the owner ever had. */
export async function keyIdsOf(db: D1Database, owner: string): Promise<string[]> {
  const { results } = await db.prepare('SELECT id FROM api_keys WHERE owner = ?').bind(owner).all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** The conversations that any table names, including talks about reports. */
export async function namedConversations(db: D1Database, owner: string): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT id FROM conversations WHERE owner = ?1
       UNION SELECT conversation FROM chat_sessions WHERE owner = ?1`,
    )
    .bind(owner)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** The number of ledger rows of the owner; nothing can delete these. */
export async function ledgerRowsOf(db: D1Database, owner: string): Promise<number> {
  const query = 'SELECT count(*) AS n FROM advice_ledger WHERE owner = ?'
  return (await db.prepare(query).bind(owner).first<{ n: number }>())?.n ?? 0
}

/** The last step, in one transaction: deletes the keys and the order. The audit log of the admin records it. */
export async function endErasure(db: D1Database, owner: string): Promise<void> {
  const entry = db
    .prepare(
      `INSERT INTO audit_log (owner, at, actor, action, subject, fields)
       SELECT asked_by, ?2, actor, 'owner.deleted', owner, '[]' FROM erasures WHERE owner = ?1 AND asked_by <> ?1`,
    )
    .bind(owner, isoMicros(Date.now()))
  const gone = [
    'DELETE FROM ended_sessions WHERE key_id IN (SELECT id FROM api_keys WHERE owner = ?)',
    'DELETE FROM api_keys WHERE owner = ?',
    'DELETE FROM audit_log WHERE owner = ?',
    'DELETE FROM erasures WHERE owner = ?',
  ]
  await db.batch([entry, ...gone.map((statement) => db.prepare(statement).bind(owner))])
}
