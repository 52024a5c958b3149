// What the owner may see of the outbox, and do about it.

import type { DeliveryState, PartState } from '../notify/delivery.ts'
import type { Mode } from '../notify/notice.ts'

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
  /** Not tried before, epoch ms. */
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

/** A delivery waits for those of its channel before it as well as for its own time. */
const NEXT_AT = `CASE d.state WHEN 'pending' THEN max(d.next_at, coalesce((SELECT max(e.next_at) FROM deliveries e
  WHERE e.owner = d.owner AND e.channel_id = d.channel_id AND e.state = 'pending' AND e.seq < d.seq), 0))
  ELSE d.next_at END`

const SELECT = `SELECT d.seq, d.id, d.subject, d.channel_id AS "channelId", d.kind, d.mode, d.title, d.state, d.attempts,
    d.error, ${NEXT_AT} AS "nextAt", d.created_at AS "createdAt", d.finished_at AS "finishedAt",
    count(p.n) AS parts, coalesce(sum(p.state = 'sent'), 0) AS sent, coalesce(sum(p.state = 'unknown'), 0) AS unknown
  FROM deliveries d LEFT JOIN delivery_parts p ON p.delivery_id = d.id`

export type DeliveryQuery = {
  owner: string
  /** Rows after this one, which are older; null for the newest. */
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
 * Lets a delivery that failed, or of which something is in doubt, go out again: all parts that are not known to have
 * arrived. False when there is none in such a state, or it has nothing to send.
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

/** What is over and older than that. */
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
