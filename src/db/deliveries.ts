// The outbox of notifications: each delivery, its parts and their state.

import { isoMicros } from '../lib/clock.ts'
import { hexId } from '../lib/crypto.ts'
import type { Claim, ClaimedPart, DeliveryStore, NewDelivery, PartState } from '../notify/delivery.ts'
import type { NewsStore, Notice } from '../notify/notice.ts'
import { channelStarts } from './channels.ts'

/** The lease of a claim; the claimer renews it every 5 s. */
export const LEASE_MS = 20_000
const MOST_CLAIMED = 40

type ClaimRow = Omit<Claim, 'parts' | 'token'> & { seq: number }
type PartRow = ClaimedPart & { id: string }

/** Deliveries of one channel keep their order: one that waits or is claimed holds those after it. */
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
    // That a part was taken is true whoever holds the delivery by now.
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
    // The record of the run that the report came from says so too.
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

// Notices about reports that were made outside the queue. A notice is written with its report, so that neither exists
// without the other, and the next call of the sender finds it.

const MOST_AT_ONCE = 20

/** To be run in one batch with what it tells of. */
export function noteNotice(db: D1Database, notice: Notice, now: number): D1PreparedStatement {
  return db
    .prepare('INSERT INTO untold_notices (key, body, noted_at) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING')
    .bind(notice.key, JSON.stringify(notice), now)
}

export function untoldNotices(db: D1Database): NewsStore {
  return {
    untold: async () => {
      const query = `SELECT body FROM untold_notices ORDER BY noted_at LIMIT ${MOST_AT_ONCE}`
      const { results } = await db.prepare(query).all<{ body: string }>()
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
