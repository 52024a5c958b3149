// Alert rules, the state that each remembers, and what fired. A check of a rule stores its state and its results in one
// batch: triggers, and a notice for the message about them, which is sent later.

import type { Notice } from '../notify/delivery.ts'

export type AlertRule = {
  id: number
  owner: string
  name: string
  scope: string
  target: string
  type: string
  /** JSON. */
  parameters: string
  severity: string
  isEnabled: boolean
  source: string
  language: string
  cooldownSeconds: number
  /** JSON. */
  notification: string
  expiresAt: string | null
  /** Epoch ms. */
  armedAt: number
  revision: number
  /** JSON. */
  status: string
  lastTriggeredAt: string | null
  cooldownUntil: string | null
  createdAt: string
  updatedAt: string
}

type Raw = Omit<AlertRule, 'isEnabled'> & { enabled: number }

const RULE = `r.id, r.owner, r.name, r.target_scope AS "scope", r.target, r.alert_type AS "type", r.parameters, r.severity,
  r.enabled, r.source, r.language, r.cooldown_seconds AS "cooldownSeconds", r.notification, r.expires_at AS "expiresAt",
  r.armed_at AS "armedAt", r.revision, r.status, r.last_triggered_at AS "lastTriggeredAt",
  r.cooldown_until AS "cooldownUntil", r.created_at AS "createdAt", r.updated_at AS "updatedAt"`

const ruleOf = ({ enabled, ...rest }: Raw): AlertRule => ({ ...rest, isEnabled: enabled === 1 })

export type RuleFilter = {
  enabled: boolean | null
  type: string | null
  scope: string | null
  target: string | null
  source: string | null
}

export type Page = { limit: number; offset: number }
export type Paged<T> = { items: T[]; total: number }

/** The last changed first. */
export async function listRules(
  db: D1Database,
  owner: string,
  { enabled, type, scope, target, source }: RuleFilter,
  { limit, offset }: Page,
): Promise<Paged<AlertRule>> {
  const where = `FROM alert_rules r WHERE r.owner = ?1 AND (?2 IS NULL OR r.enabled = ?2) AND (?3 IS NULL OR r.alert_type = ?3)
    AND (?4 IS NULL OR r.target_scope = ?4) AND (?5 IS NULL OR r.target = ?5) AND (?6 IS NULL OR r.source = ?6)`
  const asked = [owner, enabled === null ? null : enabled ? 1 : 0, type, scope, target, source]
  const order = 'ORDER BY r.updated_at DESC, r.id DESC LIMIT ?7 OFFSET ?8'
  const [page, count] = await db.batch<Raw & { n: number }>([
    db.prepare(`SELECT ${RULE} ${where} ${order}`).bind(...asked, limit, offset),
    db.prepare(`SELECT COUNT(*) AS n ${where}`).bind(...asked),
  ])
  return { items: (page?.results ?? []).map(ruleOf), total: count?.results[0]?.n ?? 0 }
}

export async function findRule(db: D1Database, owner: string, id: number): Promise<AlertRule | null> {
  const query = `SELECT ${RULE} FROM alert_rules r WHERE r.owner = ? AND r.id = ?`
  const raw = await db.prepare(query).bind(owner, id).first<Raw>()
  return raw && ruleOf(raw)
}

export type NewRule = Pick<
  AlertRule,
  | 'owner'
  | 'name'
  | 'scope'
  | 'target'
  | 'type'
  | 'parameters'
  | 'severity'
  | 'isEnabled'
  | 'source'
  | 'language'
  | 'cooldownSeconds'
  | 'notification'
  | 'expiresAt'
>

/** The id of the rule; null when the owner has the maximum number. */
export async function addRule(
  db: D1Database,
  rule: NewRule,
  { now, at, most }: { now: number; at: string; most: number },
): Promise<number | null> {
  const { owner, name, scope, target, type, parameters, severity, isEnabled, source, language } = rule
  const { cooldownSeconds, notification, expiresAt } = rule
  return await db
    .prepare(
      `INSERT INTO alert_rules (owner, name, target_scope, target, alert_type, parameters, severity, enabled, source, language,
         cooldown_seconds, notification, expires_at, armed_at, revision, status, created_at, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 1, '{}', ?15, ?15
       WHERE (SELECT COUNT(*) FROM alert_rules WHERE owner = ?1) < ?16 RETURNING id`,
    )
    .bind(
      ...[owner, name, scope, target, type, parameters, severity, isEnabled ? 1 : 0, source, language],
      ...[cooldownSeconds, notification, expiresAt, now, at, most],
    )
    .first<number>('id')
}

/** Stores the rule. With `isRearmed` its remembered state is reset. */
export async function changeRule(
  db: D1Database,
  { id, ...rule }: NewRule & { id: number },
  { now, at, isRearmed }: { now: number; at: string; isRearmed: boolean },
): Promise<void> {
  const { owner, name, scope, target, type, parameters, severity, isEnabled, cooldownSeconds, notification } = rule
  await db
    .prepare(
      `UPDATE alert_rules SET name = ?3, target_scope = ?4, target = ?5, alert_type = ?6, parameters = ?7, severity = ?8,
         enabled = ?9, cooldown_seconds = ?10, notification = ?11, expires_at = ?12, updated_at = ?13,
         armed_at = iif(?14, ?15, armed_at), revision = revision + ?14, status = iif(?14, '{}', status),
         cooldown_until = iif(?14, NULL, cooldown_until) WHERE owner = ?1 AND id = ?2`,
    )
    .bind(
      ...[owner, id, name, scope, target, type, parameters, severity, isEnabled ? 1 : 0],
      ...[cooldownSeconds, notification, rule.expiresAt, at, isRearmed ? 1 : 0, now],
    )
    .run()
}

/** False when there is no such rule. Its triggers are kept. */
export async function deleteRule(db: D1Database, owner: string, id: number): Promise<boolean> {
  const [, removed] = await db.batch([
    db
      .prepare('DELETE FROM alert_states WHERE rule_id IN (SELECT id FROM alert_rules WHERE owner = ? AND id = ?)')
      .bind(owner, id),
    db.prepare('DELETE FROM alert_rules WHERE owner = ? AND id = ?').bind(owner, id),
  ])
  return (removed?.meta.changes ?? 0) > 0
}

// Checking the rules.

export type RuleAtWork = AlertRule & {
  /** The version of the remembered state; 0 when there is none. */
  version: number
  /** JSON; null when there is none. */
  memories: string | null
}

/** The enabled rules of all owners that have not expired. */
export async function rulesAtWork(
  db: D1Database,
  { after, now, limit }: { after: number; now: string; limit: number },
) {
  const query = `SELECT ${RULE}, COALESCE(s.version, 0) AS version, s.body AS memories FROM alert_rules r
    LEFT JOIN alert_states s ON s.rule_id = r.id AND s.revision = r.revision
    WHERE r.enabled = 1 AND r.id > ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2) ORDER BY r.id LIMIT ?3`
  const { results } = await db
    .prepare(query)
    .bind(after, now, limit)
    .all<Raw & { version: number; memories: string | null }>()
  return results.map(({ version, memories, ...raw }): RuleAtWork => ({ ...ruleOf(raw), version, memories }))
}

/** Disables expired rules, so that their owners see it. */
export async function endExpiredRules(db: D1Database, at: string): Promise<void> {
  await db
    .prepare('UPDATE alert_rules SET enabled = 0, revision = revision + 1 WHERE enabled = 1 AND expires_at <= ?')
    .bind(at)
    .run()
}

export type NewTrigger = {
  uid: string
  target: string
  status: 'triggered' | 'skipped' | 'degraded' | 'failed'
  observed: number | null
  threshold: number | null
  /** JSON. */
  facts: string
  dataSource: string | null
  dataTimestamp: string | null
  notice: string | null
  held: string | null
}

export type Look = {
  rule: Pick<RuleAtWork, 'id' | 'owner' | 'name' | 'type' | 'severity' | 'revision' | 'version'>
  at: string
  now: number
  /** JSON; null when nothing changed. */
  memories: string | null
  /** JSON. */
  status: string
  triggers: readonly NewTrigger[]
  notice: { notice: Notice; notBefore: number } | null
  cooldownUntil: string | null
}

/** True while the rule is unchanged since it was read, and no other check has finished since. */
const IS_CURRENT = `EXISTS (SELECT 1 FROM alert_rules r WHERE r.id = ?1 AND r.revision = ?2 AND r.enabled = 1)
  AND COALESCE((SELECT version FROM alert_states WHERE rule_id = ?1 AND revision = ?2), 0) = ?3`

/** All or nothing. False when the rule was changed, or another check finished first. */
export async function storeLook(db: D1Database, look: Look): Promise<boolean> {
  const { rule, at, now, memories, status, triggers, notice, cooldownUntil } = look
  const current = [rule.id, rule.revision, rule.version]
  const hasFired = triggers.some((one) => one.status === 'triggered')
  const statements = [
    db
      .prepare(
        `UPDATE alert_rules SET status = ?4, last_triggered_at = iif(?5, ?6, last_triggered_at),
           cooldown_until = COALESCE(?7, cooldown_until) WHERE id = ?1 AND ${IS_CURRENT}`,
      )
      .bind(...current, status, hasFired ? 1 : 0, at, cooldownUntil),
  ]
  if (triggers.length > 0) statements.push(triggersOf(db, look, current))
  if (notice !== null) {
    statements.push(
      db
        .prepare(
          `INSERT INTO untold_notices (key, body, noted_at, not_before) SELECT ?4, ?5, ?6, ?7 WHERE ${IS_CURRENT}
           ON CONFLICT (key) DO NOTHING`,
        )
        .bind(...current, notice.notice.key, JSON.stringify(notice.notice), now, notice.notBefore),
    )
  }
  if (memories !== null) {
    statements.push(
      db
        .prepare(
          `INSERT INTO alert_states (rule_id, revision, version, body) SELECT ?1, ?2, ?3 + 1, ?4 WHERE ${IS_CURRENT}
           ON CONFLICT (rule_id) DO UPDATE SET revision = excluded.revision, version = excluded.version, body = excluded.body`,
        )
        .bind(...current, memories),
    )
  }
  const [first] = await db.batch(statements)
  return (first?.meta.changes ?? 0) > 0
}

function triggersOf(db: D1Database, { rule, at, triggers }: Look, current: readonly number[]): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO alert_triggers (uid, owner, rule_id, rule_name, alert_type, severity, target, status, observed, threshold,
         facts, data_source, data_timestamp, triggered_at, notice, held)
       SELECT value ->> 'uid', ?4, ?1, ?5, ?6, ?7, value ->> 'target', value ->> 'status', value ->> 'observed',
         value ->> 'threshold', value ->> 'facts', value ->> 'dataSource', value ->> 'dataTimestamp', ?8,
         value ->> 'notice', value ->> 'held'
       FROM json_each(?9) WHERE ${IS_CURRENT} ON CONFLICT (uid) DO NOTHING`,
    )
    .bind(...current, rule.owner, rule.name, rule.type, rule.severity, at, JSON.stringify(triggers))
}

export async function sweepsDone(db: D1Database): Promise<Map<string, number>> {
  const { results } = await db.prepare('SELECT name, at FROM alert_sweeps').all<{ name: string; at: number }>()
  return new Map(results.map(({ name, at }) => [name, at]))
}

export async function noteSweep(
  db: D1Database,
  { name, at, outcome }: { name: string; at: number; outcome: string },
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO alert_sweeps (name, at, outcome) VALUES (?1, ?2, ?3)
       ON CONFLICT (name) DO UPDATE SET at = excluded.at, outcome = excluded.outcome`,
    )
    .bind(name, at, outcome)
    .run()
}
