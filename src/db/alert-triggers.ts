// The results of alerts: triggers, the state of their messages, the market lights, and the signals that rules check.

import type { NewTrigger, Page, Paged } from './alerts.ts'

export type Trigger = Omit<NewTrigger, 'status'> & {
  id: number
  owner: string
  ruleId: number
  ruleName: string
  type: string
  severity: string
  status: string
  triggeredAt: string
}

const TRIGGER = `t.id, t.uid, t.owner, t.rule_id AS "ruleId", t.rule_name AS "ruleName", t.alert_type AS "type", t.severity,
  t.target, t.status, t.observed, t.threshold, t.facts, t.data_source AS "dataSource", t.data_timestamp AS "dataTimestamp",
  t.triggered_at AS "triggeredAt", t.notice, t.held`

export type TriggerFilter = { ruleId: number | null; target: string | null; status: string | null }

/** The newest first. */
export async function listTriggers(
  db: D1Database,
  owner: string,
  { ruleId, target, status }: TriggerFilter,
  { limit, offset }: Page,
): Promise<Paged<Trigger>> {
  const where = `FROM alert_triggers t WHERE t.owner = ?1 AND (?2 IS NULL OR t.rule_id = ?2)
    AND (?3 IS NULL OR t.target = ?3) AND (?4 IS NULL OR t.status = ?4)`
  const asked = [owner, ruleId, target, status]
  const [page, count] = await db.batch<Trigger & { n: number }>([
    db.prepare(`SELECT ${TRIGGER} ${where} ORDER BY t.id DESC LIMIT ?5 OFFSET ?6`).bind(...asked, limit, offset),
    db.prepare(`SELECT COUNT(*) AS n ${where}`).bind(...asked),
  ])
  return { items: page?.results ?? [], total: count?.results[0]?.n ?? 0 }
}

/** Those that were not sent to a stream yet, the oldest first. */
export async function triggersToStream(db: D1Database, limit: number): Promise<Trigger[]> {
  const query = `SELECT ${TRIGGER} FROM alert_triggers t WHERE t.streamed = 0 ORDER BY t.id LIMIT ?`
  return (await db.prepare(query).bind(limit).all<Trigger>()).results
}

export async function noteStreamed(db: D1Database, ids: readonly number[]): Promise<void> {
  await db
    .prepare('UPDATE alert_triggers SET streamed = 1 WHERE id IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(ids))
    .run()
}

/** Deletes triggers that are older than `before`. */
export async function pruneTriggers(db: D1Database, before: string): Promise<number> {
  const { meta } = await db.prepare('DELETE FROM alert_triggers WHERE triggered_at < ?').bind(before).run()
  return meta.changes
}

/** The state of a trigger's message at one channel, or why none was sent. */
export type AlertNotification = {
  id: number
  triggerId: number
  channel: string
  attempt: number
  /** pending, delivered, uncertain or failed; if nothing was sent: cooldown, quiet_hours or no_channel. */
  state: string
  error: string | null
  /** JSON or text: until when the message waits. */
  held: string | null
  latencyMs: number | null
  createdAt: string
}

export type NotificationFilter = { triggerId: number | null; channel: string | null; success: boolean | null }

/** Channels whose messages were not sent, in the form that the existing page knows. */
const NOTIFICATIONS = `SELECT d.seq AS id, t.id AS "triggerId", d.channel_id AS channel, d.attempts + 1 AS attempt, d.state, d.error,
    NULL AS held, CASE d.state WHEN 'delivered' THEN (SELECT MAX(p.settled_at - p.started_at) FROM delivery_parts p
      WHERE p.delivery_id = d.id) END AS "latencyMs", d.created_at AS "createdAt"
  FROM alert_triggers t JOIN deliveries d ON d.owner = t.owner AND d.subject = t.notice
  WHERE t.owner = ?1 AND t.notice IS NOT NULL
  UNION ALL
  SELECT -t.id, t.id, CASE WHEN t.held = 'cooldown' THEN '__cooldown__' WHEN n.key IS NOT NULL AND t.held IS NOT NULL
      THEN '__quiet_hours__' WHEN n.key IS NOT NULL THEN '__dispatch__' ELSE '__no_channel__' END, 1,
    CASE WHEN t.held = 'cooldown' THEN 'cooldown_active' WHEN n.key IS NOT NULL AND t.held IS NOT NULL THEN 'quiet_hours'
      WHEN n.key IS NOT NULL THEN 'pending' ELSE 'no_channel' END, NULL, t.held, NULL, t.triggered_at
  FROM alert_triggers t LEFT JOIN untold_notices n ON n.key = t.notice
  WHERE t.owner = ?1 AND t.status = 'triggered' AND NOT EXISTS (SELECT 1 FROM deliveries d
    WHERE d.owner = t.owner AND d.subject = t.notice)`

export async function listAlertNotifications(
  db: D1Database,
  owner: string,
  { triggerId, channel, success }: NotificationFilter,
  { limit, offset }: Page,
): Promise<Paged<AlertNotification>> {
  const where = `FROM (${NOTIFICATIONS}) WHERE (?2 IS NULL OR "triggerId" = ?2) AND (?3 IS NULL OR channel = ?3)
    AND (?4 IS NULL OR (state = 'delivered') = ?4)`
  const asked = [owner, triggerId, channel, success === null ? null : success ? 1 : 0]
  const [page, count] = await db.batch<AlertNotification & { n: number }>([
    db
      .prepare(`SELECT * ${where} ORDER BY "createdAt" DESC, "triggerId" DESC, id DESC LIMIT ?5 OFFSET ?6`)
      .bind(...asked, limit, offset),
    db.prepare(`SELECT COUNT(*) AS n ${where}`).bind(...asked),
  ])
  return { items: page?.results ?? [], total: count?.results[0]?.n ?? 0 }
}

// The market lights, computed once for all owners.

export type StoredLight = { session: string; status: string; score: number; quality: string }

/** The lights of that session and of earlier ones, the newest first. */
export async function marketLights(db: D1Database, market: string, session: string): Promise<StoredLight[]> {
  const query = `SELECT session, status, score, quality FROM market_lights WHERE market = ? AND session <= ?
    ORDER BY session DESC LIMIT 2`
  return (await db.prepare(query).bind(market, session).all<StoredLight>()).results
}

export async function saveLight(
  db: D1Database,
  market: string,
  { session, status, score, quality }: StoredLight,
  now: number,
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO market_lights (market, session, status, score, quality, made_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (market, session) DO NOTHING`,
    )
    .bind(market, session, status, score, quality, now)
    .run()
}

// The owner's signals that alert rules check.

export type AdviceRow = {
  id: number
  key: string
  action: string
  actionLabel: string | null
  price: number | null
  unscorable: string | null
  createdAt: string
}

/** Signals after that one, the oldest first. */
export async function advicesAfter(db: D1Database, owner: string, after: number): Promise<AdviceRow[]> {
  const query = `SELECT id, key, action, action_label AS "actionLabel", price, unscorable, created_at AS "createdAt"
    FROM decision_signals WHERE owner = ? AND id > ? ORDER BY id LIMIT 500`
  return (await db.prepare(query).bind(owner, after).all<AdviceRow>()).results
}

/** The newest active signal with a price level of each listing. */
export async function activeLevels(db: D1Database, owner: string) {
  const query = `SELECT key, entry_low AS "entryLow", entry_high AS "entryHigh", stop_loss AS "stopLoss",
      target_price AS "targetPrice" FROM decision_signals
    WHERE id IN (SELECT MAX(id) FROM decision_signals WHERE owner = ?1 AND status = 'active' GROUP BY key)
      AND unscorable IS NULL`
  type Row = Record<'entryLow' | 'entryHigh' | 'stopLoss' | 'targetPrice', number | null> & { key: string }
  return (await db.prepare(query).bind(owner).all<Row>()).results
}
