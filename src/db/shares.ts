// Links that let anyone who has them read one conversation. Only the hash of a link's token is stored, so the database
// grants no access.

import { isoMicros } from '../lib/clock.ts'
import { randomToken, sha256Hex, toHex } from '../lib/crypto.ts'
import { auditIfChanged } from './audit.ts'

export type Share = {
  id: string
  owner: string
  conversationId: string
  incarnation: string
  withFiles: boolean
  withHidden: boolean
  createdAt: string
  expiresAt: string
}

type Row = {
  id: string
  owner: string
  conversation_id: string
  incarnation: string
  with_files: number
  with_hidden: number
  created_at: string
  expires_at: string
}

const COLUMNS = 'id, owner, conversation_id, incarnation, with_files, with_hidden, created_at, expires_at'
const IN_FORCE = 'revoked_at IS NULL AND expires_at > ?'

const TOKEN = /^bwl_[\w-]{43}$/

const fromRow = (row: Row): Share => ({
  id: row.id,
  owner: row.owner,
  conversationId: row.conversation_id,
  incarnation: row.incarnation,
  withFiles: row.with_files === 1,
  withHidden: row.with_hidden === 1,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})

/** A token of 256 random bits. */
export const makeShareToken = (): string => `bwl_${randomToken(32)}`

export const shareId = (): string => toHex(crypto.getRandomValues(new Uint8Array(8)))

/** False when the conversation has the maximum number of valid links. */
export async function insertShare(
  db: D1Database,
  share: Share,
  { token, most, actor }: { token: string; most: number; actor: string },
): Promise<boolean> {
  const { id, owner, conversationId } = share
  const [inserted] = await db.batch([
    db
      .prepare(
        `INSERT INTO shares (${COLUMNS}, token_hash)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE
           (SELECT count(*) FROM shares WHERE owner = ?2 AND conversation_id = ?3
             AND revoked_at IS NULL AND expires_at > ?7) < ?10`,
      )
      .bind(
        ...[id, owner, conversationId, share.incarnation, Number(share.withFiles), Number(share.withHidden)],
        ...[share.createdAt, share.expiresAt, await sha256Hex(token), most],
      ),
    auditIfChanged(db, { owner, actor, action: 'share.created', subject: conversationId, fields: [id] }),
  ])
  return inserted?.meta.changes === 1
}

/** The valid links, newest first. */
export async function listShares(db: D1Database, owner: string, conversationId: string): Promise<Share[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM shares WHERE owner = ? AND conversation_id = ? AND ${IN_FORCE} ORDER BY created_at DESC`,
    )
    .bind(owner, conversationId, isoMicros(Date.now()))
    .all<Row>()
  return results.map(fromRow)
}

/** False when the conversation has no such valid link. */
export async function revokeShare(
  db: D1Database,
  { owner, conversationId, id, actor }: Pick<Share, 'owner' | 'conversationId' | 'id'> & { actor: string },
): Promise<boolean> {
  const now = isoMicros(Date.now())
  const [revoked] = await db.batch([
    db
      .prepare(`UPDATE shares SET revoked_at = ? WHERE id = ? AND owner = ? AND conversation_id = ? AND ${IN_FORCE}`)
      .bind(now, id, owner, conversationId, now),
    auditIfChanged(db, { owner, actor, action: 'share.revoked', subject: conversationId, fields: [id] }),
  ])
  return revoked?.meta.changes === 1
}

/** The valid link of the token; null for any other token. */
export async function shareOf(db: D1Database, token: string): Promise<Share | null> {
  if (!TOKEN.test(token)) return null
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM shares WHERE token_hash = ? AND ${IN_FORCE}`)
    .bind(await sha256Hex(token), isoMicros(Date.now()))
    .first<Row>()
  return row === null ? null : fromRow(row)
}
