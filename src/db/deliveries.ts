// The outbox of notifications: each delivery, its parts and their state.

import { isoMicros, systemClock } from '../lib/clock.ts'
import { hexId } from '../lib/crypto.ts'
import type {
  Claim,
  ClaimedPart,
  DeliveryState,
  DeliveryStore,
  Mode,
  NewDelivery,
  NewsStore,
  Notice,
  PartState,
} from '../notify/delivery.ts'
import { channelStarts } from './channels.ts'

/** The lease of a claim; the claimer renews it every 5 s. */
export const LEASE_MS = 20_000
const MOST_CLAIMED = 40

type ClaimRow = Omit<Claim, 'parts' | 'token'> & { seq: number }
type PartRow = ClaimedPart & { id: string }

/** Deliveries of one channel keep their order: a waiting or claimed one holds back later ones. */
const IS_HELD = `EXISTS (SELECT 1 FROM deliveries e WHERE e.owner = d.owner AND e.channel_id = d.channel_id
  AND e.state = 'pending' AND e.seq < d.seq AND (e.next_at > ?1 OR e.lease_until > ?1))`

const IS_FIRST = `NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.owner = d.owner AND e.channel_id = d.channel_id
  AND e.state = 'pending' AND e.seq < d.seq)`

const IS_MINE = 'EXISTS (SELECT 1 FROM deliveries WHERE id = ?1 AND lease_token = ?2)'

export function deliveryStore(db: D1Database): DeliveryStore {
  return {
    create: async (deliveries, now) => {
      const statements = deliveries.flatMap((delivery) => insertion(db, delivery, now))
      if (statements.length > 0) await db.batch(statements)
    },
    claim: (now) => claim(db, now),
    renew: async ({ token }, now) => {
      await db
        .prepare("UPDATE deliveries SET lease_until = ? WHERE state = 'pending' AND lease_token = ?")
        .bind(now + LEASE_MS, token)
        .run()
    },
    startsSince: ({ owner, channelId }, since) => channelStarts(db, { owner, channelId, since }),
    begin: (one, n, now) => begin(db, { claim: one, n, now }),
    settle: (one, n, outcome) => settle(db, one, { n, ...outcome }),
    release: (one, until) => release(db, one, until),
    finish: (one, end) => finish(db, one, end),
    nextAt: async () => {
      const query = `SELECT MIN(MAX(next_at, lease_until)) AS "at" FROM deliveries d
        WHERE state = 'pending' AND ${IS_FIRST}`
      return (await db.prepare(query).first<number | null>('at')) ?? null
    },
  }
}

function insertion(db: D1Database, delivery: NewDelivery, now: number): D1PreparedStatement[] {
  const { id, owner, subject, channelId, kind, mode, title, parts, error } = delivery
  const at = isoMicros(now)
  const state = error === null ? 'pending' : 'failed'
  return [
    db
      .prepare(
        `INSERT INTO deliveries (id, owner, subject, channel_id, kind, mode, title, state, error, next_at, created_at,
           finished_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, CASE WHEN ?9 IS NULL THEN NULL ELSE ?11 END)
         ON CONFLICT (id) DO NOTHING`,
      )
      .bind(id, owner, subject, channelId, kind, mode, title, state, error, now, at),
    // An existing delivery keeps its own parts.
    db
      .prepare(
        `INSERT INTO delivery_parts (delivery_id, n, owner, channel_id, markdown)
         SELECT ?1, key + 1, ?2, ?3, value FROM json_each(?4) WHERE changes() > 0`,
      )
      .bind(id, owner, channelId, JSON.stringify(parts)),
  ]
}

async function claim(db: D1Database, now: number): Promise<Claim[]> {
  const token = hexId()
  const { results } = await db
    .prepare(
      `UPDATE deliveries SET lease_token = ?2, lease_until = ?3 WHERE seq IN (
         SELECT seq FROM deliveries d WHERE state = 'pending' AND next_at <= ?1 AND lease_until <= ?1 AND NOT ${IS_HELD}
         ORDER BY seq LIMIT ${MOST_CLAIMED})
       RETURNING seq, id, owner, channel_id AS "channelId", kind, title, attempts`,
    )
    .bind(now, token, now + LEASE_MS)
    .all<ClaimRow>()
  if (results.length === 0) return []
  const ids = JSON.stringify(results.map(({ id }) => id))
  const parts = await db
    .prepare(
      `SELECT delivery_id AS id, n, markdown, state FROM delivery_parts
       WHERE delivery_id IN (SELECT value FROM json_each(?)) ORDER BY delivery_id, n`,
    )
    .bind(ids)
    .all<PartRow>()
  const byDelivery = Map.groupBy(parts.results, ({ id }) => id)
  return results
    .sort((a, b) => a.seq - b.seq)
    .map(({ seq: _, ...row }) => ({
      ...row,
      token,
      parts: (byDelivery.get(row.id) ?? []).map(({ n, markdown, state }) => ({ n, markdown, state })),
    }))
}

async function begin(db: D1Database, { claim, n, now }: { claim: Claim; n: number; now: number }): Promise<boolean> {
  const { id, token } = claim
  const [, noted] = await db.batch([
    db
      .prepare('UPDATE deliveries SET lease_until = ?3 WHERE id = ?1 AND lease_token = ?2')
      .bind(id, token, now + LEASE_MS),
    db
      .prepare(
        `UPDATE delivery_parts SET state = 'sending', started_at = ?4, attempts = attempts + 1
         WHERE delivery_id = ?1 AND n = ?3 AND state IN ('waiting', 'sending') AND ${IS_MINE}`,
      )
      .bind(id, token, n, now),
  ])
  return (noted?.meta.changes ?? 0) > 0
}

async function settle(
  db: D1Database,
  { id, token }: Claim,
  { n, state, now }: { n: number; state: PartState; now: number },
): Promise<void> {
  await db.batch([
    // A part that was sent is marked as sent, even if another caller holds the delivery now.
    db
      .prepare(
        `UPDATE delivery_parts SET state = ?4, settled_at = ?5
         WHERE delivery_id = ?1 AND n = ?3 AND state <> 'sent' AND (?4 = 'sent' OR ${IS_MINE})`,
      )
      .bind(id, token, n, state, now),
    db
      .prepare(`UPDATE deliveries SET attempts = 0, error = NULL WHERE id = ?1 AND lease_token = ?2 AND ?3 = 'sent'`)
      .bind(id, token, state),
  ])
}

async function release(
  db: D1Database,
  { id, token }: Claim,
  { nextAt, error }: Parameters<DeliveryStore['release']>[1],
): Promise<void> {
  await db
    .prepare(
      `UPDATE deliveries SET lease_token = NULL, lease_until = 0, next_at = ?3,
         attempts = attempts + (?4 IS NOT NULL), error = COALESCE(?4, error)
       WHERE id = ?1 AND lease_token = ?2 AND state = 'pending'`,
    )
    .bind(id, token, nextAt, error)
    .run()
}

async function finish(
  db: D1Database,
  { id, token, channelId }: Claim,
  { state, error, now }: Parameters<DeliveryStore['finish']>[1],
): Promise<void> {
  const run = { channel: channelId, success: state === 'delivered', status: state, error_message_sanitized: error }
  await db.batch([
    db
      .prepare(
        `UPDATE deliveries SET state = ?3, error = ?4, finished_at = ?5, lease_token = NULL, lease_until = 0
         WHERE id = ?1 AND lease_token = ?2 AND state = 'pending'`,
      )
      .bind(id, token, state, error, isoMicros(now)),
    // The result is also noted in the record of the run that made the report.
    db
      .prepare(
        `UPDATE analysis_snapshots SET diagnostics = json_insert(diagnostics, '$.notification_runs[#]', json(?2))
         WHERE changes() > 0 AND diagnostics IS NOT NULL AND analysis_id = (
           SELECT a.id FROM analyses a JOIN deliveries d ON d.owner = a.owner AND d.subject = 'report:' || a.query_id
           WHERE d.id = ?1)`,
      )
      .bind(id, JSON.stringify(run)),
  ])
}

// Notices about reports that were made outside the queue. A notice is written in one transaction with its report, and
// the sender's next call finds it.

const MOST_AT_ONCE = 20

/** To be run in one batch with the event that it reports. */
export function noteNotice(db: D1Database, notice: Notice, now: number): D1PreparedStatement {
  return db
    .prepare('INSERT INTO untold_notices (key, body, noted_at) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING')
    .bind(notice.key, JSON.stringify(notice), now)
}

export function untoldNotices(db: D1Database): NewsStore {
  return {
    untold: async () => {
      const query = `SELECT body FROM untold_notices WHERE not_before <= ? ORDER BY noted_at LIMIT ${MOST_AT_ONCE}`
      const { results } = await db.prepare(query).bind(systemClock()).all<{ body: string }>()
      return results.map(({ body }) => JSON.parse(body) as Notice)
    },
    drop: async (keys) => {
      await db
        .prepare('DELETE FROM untold_notices WHERE key IN (SELECT value FROM json_each(?))')
        .bind(JSON.stringify(keys))
        .run()
    },
  }
}

// What the owner may see of the outbox, and change in it.

export type DeliveryItem = {
  seq: number
  id: string
  subject: string
  channelId: string
  kind: string
  mode: Mode
  title: string
  state: DeliveryState
  attempts: number
  error: string | null
  /** The earliest next try, epoch ms. */
  nextAt: number
  createdAt: string
  finishedAt: string | null
  parts: number
  sent: number
  unknown: number
}

export type DeliveryDetail = DeliveryItem & {
  partList: { n: number; state: PartState; attempts: number; startedAt: number | null; settledAt: number | null }[]
}

/** A delivery waits for its own time and for earlier deliveries of its channel. */
const NEXT_AT = `CASE d.state WHEN 'pending' THEN max(d.next_at, coalesce((SELECT max(e.next_at) FROM deliveries e
  WHERE e.owner = d.owner AND e.channel_id = d.channel_id AND e.state = 'pending' AND e.seq < d.seq), 0))
  ELSE d.next_at END`

const SELECT = `SELECT d.seq, d.id, d.subject, d.channel_id AS "channelId", d.kind, d.mode, d.title, d.state, d.attempts,
    d.error, ${NEXT_AT} AS "nextAt", d.created_at AS "createdAt", d.finished_at AS "finishedAt",
    count(p.n) AS parts, coalesce(sum(p.state = 'sent'), 0) AS sent, coalesce(sum(p.state = 'unknown'), 0) AS unknown
  FROM deliveries d LEFT JOIN delivery_parts p ON p.delivery_id = d.id`

export type DeliveryQuery = {
  owner: string
  /** The page begins after this row, with older ones; null for the newest. */
  before: number | null
  limit: number
  state: string | null
  channelId: string | null
  subject: string | null
}

/** Newest first. */
export async function listDeliveries(db: D1Database, query: DeliveryQuery): Promise<DeliveryItem[]> {
  const { owner, before, limit, state, channelId, subject } = query
  const { results } = await db
    .prepare(
      `${SELECT} WHERE d.owner = ?1 AND (?2 IS NULL OR d.seq < ?2) AND (?3 IS NULL OR d.state = ?3)
         AND (?4 IS NULL OR d.channel_id = ?4) AND (?5 IS NULL OR d.subject = ?5)
       GROUP BY d.seq ORDER BY d.seq DESC LIMIT ?6`,
    )
    .bind(owner, before, state, channelId, subject, limit)
    .all<DeliveryItem>()
  return results
}

export async function findDelivery(db: D1Database, owner: string, id: string): Promise<DeliveryDetail | null> {
  const item = await db
    .prepare(`${SELECT} WHERE d.owner = ? AND d.id = ? GROUP BY d.seq`)
    .bind(owner, id)
    .first<DeliveryItem>()
  if (item === null) return null
  const { results } = await db
    .prepare(
      `SELECT n, state, attempts, started_at AS "startedAt", settled_at AS "settledAt"
       FROM delivery_parts WHERE delivery_id = ? ORDER BY n`,
    )
    .bind(id)
    .all<DeliveryDetail['partList'][number]>()
  return { ...item, partList: results }
}

/**
 * Retries a delivery that failed or whose outcome is uncertain: all parts that are not known to have arrived. False
 * when there is no such delivery, or it has nothing to send.
 */
export async function retryDelivery(
  db: D1Database,
  owner: string,
  { id, now }: { id: string; now: number },
): Promise<boolean> {
  const [opened] = await db.batch([
    db
      .prepare(
        `UPDATE deliveries SET state = 'pending', attempts = 0, error = NULL, next_at = ?3, finished_at = NULL
         WHERE owner = ?1 AND id = ?2 AND state IN ('failed', 'uncertain')
           AND EXISTS (SELECT 1 FROM delivery_parts WHERE delivery_id = ?2)`,
      )
      .bind(owner, id, now),
    db
      .prepare(
        `UPDATE delivery_parts SET state = 'waiting' WHERE changes() > 0 AND delivery_id = ? AND state <> 'sent'`,
      )
      .bind(id),
  ])
  return (opened?.meta.changes ?? 0) > 0
}

/** Deletes finished deliveries that are older than `before`. */
export async function pruneDeliveries(db: D1Database, before: string): Promise<number> {
  const [, removed] = await db.batch([
    db
      .prepare(
        `DELETE FROM delivery_parts WHERE delivery_id IN
           (SELECT id FROM deliveries WHERE created_at < ? AND state <> 'pending')`,
      )
      .bind(before),
    db.prepare(`DELETE FROM deliveries WHERE created_at < ? AND state <> 'pending'`).bind(before),
  ])
  return removed?.meta.changes ?? 0
}
