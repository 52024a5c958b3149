// Stored API keys. D1 is the source of truth; each cache decides how long it keeps a row.

import { z } from 'zod'
import { randomToken, sha256Hex, toHex } from '../lib/crypto.ts'
import { auditIfChanged, recordAudit } from './audit.ts'

/** `runner` connects a runner and gives access to nothing else. */
export const Scope = z.enum(['conversations', 'analysis', 'admin', 'runner'])
export type Scope = z.infer<typeof Scope>

export type ApiKey = {
  id: string
  owner: string
  name: string
  scopes: Scope[]
  secretHash: string
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  /** Ids of browser sessions with this key that were ended before they expired. */
  endedSessions: string[]
  /** Whether the owner is being deleted. */
  isLeaving: boolean
}

type Row = {
  id: string
  owner: string
  name: string
  scopes: string
  secret_hash: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  ended_sessions?: string
  leaving?: number
}

const Scopes = z.array(Scope)
const SessionIds = z.array(z.string())

const fromRow = (row: Row): ApiKey => ({
  id: row.id,
  owner: row.owner,
  name: row.name,
  scopes: Scopes.parse(JSON.parse(row.scopes)),
  secretHash: row.secret_hash,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  endedSessions: SessionIds.parse(JSON.parse(row.ended_sessions ?? '[]')),
  isLeaving: row.leaving === 1,
})

/** A new key: its id, the text that its owner sees once, and the hash that is stored. */
export async function makeKey(): Promise<{ id: string; text: string; secretHash: string }> {
  const id = toHex(crypto.getRandomValues(new Uint8Array(8)))
  const secret = randomToken(32)
  return { id, text: `bw_${id}_${secret}`, secretHash: await sha256Hex(secret) }
}

/** Stores a key; `actor` is who issued it. */
export async function insertKey(db: D1Database, key: ApiKey, actor: string): Promise<void> {
  const { id, owner } = key
  const insertion = db
    .prepare(
      'INSERT INTO api_keys (id, owner, name, scopes, secret_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    .bind(key.id, key.owner, key.name, JSON.stringify(key.scopes), key.secretHash, key.createdAt, key.expiresAt)
  await db.batch([insertion, auditIfChanged(db, { owner, actor, action: 'key.issued', subject: id })])
}

export async function findKey(db: D1Database, id: string): Promise<ApiKey | null> {
  const row = await db
    .prepare(
      `SELECT *, (SELECT json_group_array(session_id) FROM ended_sessions WHERE key_id = ?1 AND ends_at > ?2) AS ended_sessions,
         EXISTS (SELECT 1 FROM erasures WHERE erasures.owner = api_keys.owner) AS leaving
       FROM api_keys WHERE id = ?1`,
    )
    .bind(id, Date.now())
    .first<Row>()
  return row === null ? null : fromRow(row)
}

/** Valid and expired keys, newest first, without revoked ones. `after` is the last row of the previous page. */
export async function listKeys(
  db: D1Database,
  page: { limit: number; owner: string | null; after: { createdAt: string; id: string } | null },
): Promise<ApiKey[]> {
  const { results } = await db
    .prepare(
      `SELECT * FROM api_keys
       WHERE revoked_at IS NULL AND (?1 IS NULL OR owner = ?1) AND (?2 IS NULL OR (created_at, id) < (?2, ?3))
       ORDER BY created_at DESC, id DESC LIMIT ?4`,
    )
    .bind(page.owner, page.after?.createdAt ?? null, page.after?.id ?? null, page.limit)
    .all<Row>()
  return results.map(fromRow)
}

/** Revokes the key; true when it was valid until now. `by` records when, and by whom. */
export async function revokeKey(db: D1Database, id: string, by: { actor: string; at: string }): Promise<boolean> {
  const row = await db
    .prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING owner')
    .bind(by.at, id)
    .first<{ owner: string }>()
  if (row === null) return false
  await recordAudit(db, { owner: row.owner, actor: by.actor, action: 'key.revoked', subject: id })
  return true
}

/**
 * Ends one browser session before its time, for every copy of its cookie, unless its key is gone. Entries of sessions
 * that have expired are removed.
 */
export async function endSession(
  db: D1Database,
  { key, session, until }: { key: string; session: string; until: number },
): Promise<void> {
  await db.batch([
    db.prepare('DELETE FROM ended_sessions WHERE ends_at <= ?').bind(Date.now()),
    db
      .prepare(
        `INSERT INTO ended_sessions (key_id, session_id, ends_at)
         SELECT id, ?2, ?3 FROM api_keys WHERE id = ?1 ON CONFLICT DO NOTHING`,
      )
      .bind(key, session, until),
  ])
}
