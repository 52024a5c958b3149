// The audit log: who changed which setting, key or secret of an owner, newest first. Names and ids only, never values.

import { z } from 'zod'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'

export const AUDIT_ACTIONS = [
  'key.issued',
  'key.revoked',
  'settings.changed',
  'security.policy_changed',
  'security.level_changed',
  'secret.created',
  'secret.changed',
  'secret.deleted',
  'provider_token.stored',
  'provider_tokens.unset',
  'conversation.deleted',
  'share.created',
  'share.revoked',
  'channel.saved',
  'channel.deleted',
  'configuration.exported',
  'owner.deleted',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export type AuditEntry = {
  owner: string
  /** The id of the key that was used, or "local" or "root". */
  actor: string
  action: AuditAction
  /** The id or name of the changed thing; null when an owner has only one. */
  subject: string | null
  fields?: readonly string[]
}

export type AuditRecord = Required<AuditEntry> & { id: number; at: string }

const Fields = z.array(z.string())

/** The entry as a statement that follows a change in the same batch; it is written only if the change had an effect. */
export function auditIfChanged(db: D1Database, entry: AuditEntry): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO audit_log (owner, at, actor, action, subject, fields)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE changes() > 0`,
    )
    .bind(...valuesOf(entry))
}

/** Writes the entry. The change has already happened, so a failure is only logged. */
export async function recordAudit(db: D1Database, entry: AuditEntry): Promise<void> {
  try {
    await db
      .prepare('INSERT INTO audit_log (owner, at, actor, action, subject, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6)')
      .bind(...valuesOf(entry))
      .run()
  } catch (error) {
    const { owner, action, subject } = entry
    log.error('audit.not_written', { owner, action, subject, ...errorFields(error) })
  }
}

type Row = {
  id: number
  owner: string
  at: string
  actor: string
  action: AuditAction
  subject: string | null
  fields: string
}

/** The owner's entries, newest first, from before the entry of that id if one is given. */
export async function listAudit(
  db: D1Database,
  { owner, before, limit }: { owner: string; before: number | null; limit: number },
): Promise<AuditRecord[]> {
  const { results } = await db
    .prepare('SELECT * FROM audit_log WHERE owner = ?1 AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3')
    .bind(owner, before, limit)
    .all<Row>()
  return results.map((row) => ({ ...row, fields: Fields.parse(JSON.parse(row.fields)) }))
}

const valuesOf = ({ owner, actor, action, subject, fields = [] }: AuditEntry) => [
  owner,
  isoMicros(Date.now()),
  actor,
  action,
  subject,
  JSON.stringify(fields),
]
