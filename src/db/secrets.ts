// An owner's custom secrets: named values for the shell of the owner's conversations.

import { must } from '../lib/assert.ts'
import { auditIfChanged } from './audit.ts'
import { openValues, type SealedKey, type SealedValue, sealValue } from './sealed.ts'

export type SecretName = { name: string; description: string }
export type Secret = SecretName & { value: string }

export type OwnerSecrets =
  /** In the order of the list. */
  | { ok: true; secrets: Secret[] }
  /**
   * Secrets that were changed in the database, or encrypted with an unknown key. `others`: the other secrets, which
   * must be masked in any case.
   */
  | { ok: false; unreadable: string[]; others: Secret[] }

/** The owner of the secrets, and who requests a change. */
export type SecretEditor = { owner: string; actor: string }

export const MAX_SECRETS = 1_000
/** All sealed values of one owner together, because a running conversation holds them in memory. */
export const MAX_TOTAL_CHARACTERS = 8_000_000

/** Another request may change the value between reading and writing; then the change is retried with the new value. */
const RENAME_ATTEMPTS = 5

const place = (owner: string, name: string): SealedKey => ({ kind: 'secret', owner, name })

/** Names and descriptions in the order of creation; a changed one has moved to the end. */
export async function listSecrets(db: D1Database, owner: string): Promise<SecretName[]> {
  const { results } = await db
    .prepare('SELECT name, description FROM secrets WHERE owner = ? ORDER BY position')
    .bind(owner)
    .all<SecretName>()
  return results
}

/** The rows go to `readSecrets`. A query for batches, because callers read more than secrets. */
export function secretsQuery(db: D1Database, owner: string): D1PreparedStatement {
  return db.prepare('SELECT name, description, value FROM secrets WHERE owner = ? ORDER BY position').bind(owner)
}

export async function readSecrets(env: Env, owner: string, rows: readonly Secret[]): Promise<OwnerSecrets> {
  const sealed = rows.map(({ name, value }) => ({ ...place(owner, name), sealed: value }))
  const { texts, unreadable, stale } = await openValues(env, sealed)
  const secrets = rows.flatMap((row) => {
    const value = texts.get(row.name)
    return value === undefined ? [] : [{ ...row, value }]
  })
  if (unreadable.length > 0) return { ok: false, unreadable: unreadable.sort(), others: secrets }
  if (stale.length > 0) await env.DB.batch(stale.map((value) => reseal(env.DB, value)))
  return { ok: true, secrets }
}

function reseal(db: D1Database, { owner, name, sealed, resealed }: SealedValue & { resealed: string }) {
  return db
    .prepare('UPDATE secrets SET value = ?1 WHERE owner = ?2 AND name = ?3 AND value = ?4')
    .bind(resealed, owner, name, sealed)
}

const NEXT_POSITION = '(SELECT coalesce(max(position), 0) + 1 FROM secrets WHERE owner = ?1)'

export type Creation = { ok: true } | { ok: false; reason: 'taken' | 'too_many' | 'too_large' }

export async function createSecret(env: Env, { owner, actor }: SecretEditor, secret: Secret): Promise<Creation> {
  const sealed = await sealValue(env, secret.value, place(owner, secret.name))
  const [inserted, , found] = await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO secrets (owner, name, description, value, position)
       SELECT ?1, ?2, ?3, ?4, ${NEXT_POSITION}
       WHERE (SELECT count(*) < ?5 AND coalesce(sum(length(value)), 0) + length(?4) <= ?6 FROM secrets WHERE owner = ?1)
       ON CONFLICT (owner, name) DO NOTHING`,
    ).bind(owner, secret.name, secret.description, sealed, MAX_SECRETS, MAX_TOTAL_CHARACTERS),
    auditIfChanged(env.DB, { owner, actor, action: 'secret.created', subject: secret.name }),
    env.DB.prepare(
      'SELECT count(*) AS count, coalesce(max(name = ?2), 0) AS is_taken FROM secrets WHERE owner = ?1',
    ).bind(owner, secret.name),
  ])
  if ((inserted?.meta.changes ?? 0) > 0) return { ok: true }
  const { count, is_taken } = rowOf<{ count: number; is_taken: number }>(found)
  if (is_taken === 1) {
    const isReplaced = await replaceUnreadable(env, { owner, actor }, { ...secret, sealed })
    return isReplaced ? { ok: true } : { ok: false, reason: 'taken' }
  }
  return { ok: false, reason: count >= MAX_SECRETS ? 'too_many' : 'too_large' }
}

/** Replaces a secret of the same name that cannot be decrypted; false when there is no such secret. */
async function replaceUnreadable(env: Env, { owner, actor }: SecretEditor, secret: SecretName & { sealed: string }) {
  const { name, description, sealed } = secret
  const before = await env.DB.prepare('SELECT value FROM secrets WHERE owner = ? AND name = ?')
    .bind(owner, name)
    .first<string>('value')
  if (before === null) return false
  const { unreadable } = await openValues(env, [{ ...place(owner, name), sealed: before }])
  if (unreadable.length === 0) return false
  const [updated] = await env.DB.batch([
    env.DB.prepare(
      'UPDATE secrets SET description = ?3, value = ?4 WHERE owner = ?1 AND name = ?2 AND value = ?5',
    ).bind(owner, name, description, sealed, before),
    auditIfChanged(env.DB, { owner, actor, action: 'secret.changed', subject: name }),
  ])
  return (updated?.meta.changes ?? 0) > 0
}

export type Change = { ok: true } | { ok: false; reason: 'unknown' | 'taken' | 'unreadable' | 'contended' }

/** Changes the name or description; the value stays, encrypted again because it is bound to the name. */
export async function changeSecret(
  env: Env,
  by: SecretEditor,
  { id, name, description }: SecretName & { id: string },
): Promise<Change> {
  const { owner } = by
  for (let attempt = 0; attempt < RENAME_ATTEMPTS; attempt++) {
    const value = await env.DB.prepare('SELECT value FROM secrets WHERE owner = ? AND name = ?')
      .bind(owner, id)
      .first<string>('value')
    if (value === null) return { ok: false, reason: 'unknown' }
    const { texts } = await openValues(env, [{ ...place(owner, id), sealed: value }])
    const text = texts.get(id)
    if (text === undefined) return { ok: false, reason: 'unreadable' }
    const sealed = await sealValue(env, text, place(owner, name))
    const outcome = await writeChange(env.DB, by, { id, name, description, value, sealed })
    if (outcome !== 'missed') return outcome === 'written' ? { ok: true } : { ok: false, reason: outcome }
  }
  return { ok: false, reason: 'contended' }
}

type Rewrite = SecretName & { id: string; value: string; sealed: string }

async function writeChange(
  db: D1Database,
  { owner, actor }: SecretEditor,
  change: Rewrite,
): Promise<'written' | 'taken' | 'missed'> {
  const { id, name, description, value, sealed } = change
  const isTaken = 'EXISTS (SELECT 1 FROM secrets WHERE owner = ?1 AND name = ?3 AND name <> ?2)'
  const [updated, , asked] = await db.batch([
    db
      .prepare(
        `UPDATE secrets SET name = ?3, description = ?4, value = ?5, position = ${NEXT_POSITION}
         WHERE owner = ?1 AND name = ?2 AND value = ?6 AND NOT ${isTaken}`,
      )
      .bind(owner, id, name, description, sealed, value),
    auditIfChanged(db, { owner, actor, action: 'secret.changed', subject: name }),
    db.prepare(`SELECT ${isTaken} AS taken`).bind(owner, id, name),
  ])
  if ((updated?.meta.changes ?? 0) > 0) return 'written'
  const { taken } = rowOf<{ taken: number }>(asked)
  return taken === 1 ? 'taken' : 'missed'
}

function rowOf<Row>(result: D1Result | undefined): Row {
  return must(result?.results[0], 'the row of an aggregate') as Row
}

/** False when there is no such secret. */
export async function deleteSecret(env: Env, { owner, actor }: SecretEditor, name: string): Promise<boolean> {
  const [deleted] = await env.DB.batch([
    env.DB.prepare('DELETE FROM secrets WHERE owner = ? AND name = ?').bind(owner, name),
    auditIfChanged(env.DB, { owner, actor, action: 'secret.deleted', subject: name }),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}
