// The index of feedback. The row is written after its object in R2, so it never names a missing object.

export type FeedbackRow = {
  id: string
  owner: string
  conversationId: string
  createdAt: string
  polarity: string
  permissions: string
}

/** False, and nothing is stored, when the owner has reached `allowed`. The count is part of the same statement. */
export async function insertFeedback(db: D1Database, row: FeedbackRow, allowed: number): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO feedback (id, owner, conversation_id, created_at, polarity, permissions, password_hash)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, '' WHERE (SELECT count(*) FROM feedback WHERE owner = ?2) < ?7`,
    )
    .bind(row.id, row.owner, row.conversationId, row.createdAt, row.polarity, row.permissions, allowed)
    .run()
  return meta.changes > 0
}

/** The number of an owner's feedback entries. */
export async function countAllFeedback(db: D1Database, owner: string): Promise<number> {
  const row = await db.prepare('SELECT count(*) AS n FROM feedback WHERE owner = ?').bind(owner).first<{ n: number }>()
  return row?.n ?? 0
}

/** The number of an owner's feedback entries on a conversation. */
export async function countFeedback(db: D1Database, owner: string, conversationId: string): Promise<number> {
  const row = await db
    .prepare('SELECT count(*) AS n FROM feedback WHERE owner = ? AND conversation_id = ?')
    .bind(owner, conversationId)
    .first<{ n: number }>()
  return row?.n ?? 0
}
