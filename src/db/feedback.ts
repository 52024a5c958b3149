// Where feedback is. The row is written after the object in R2 that it points to, so it never points nowhere.

export type FeedbackRow = {
  id: string
  owner: string
  conversationId: string
  createdAt: string
  polarity: string
  permissions: string
}

export async function insertFeedback(db: D1Database, row: FeedbackRow): Promise<void> {
  await db
    .prepare(
      `INSERT INTO feedback (id, owner, conversation_id, created_at, polarity, permissions, password_hash)
       VALUES (?, ?, ?, ?, ?, ?, '')`,
    )
    .bind(row.id, row.owner, row.conversationId, row.createdAt, row.polarity, row.permissions)
    .run()
}

/** How often an owner has given feedback on a conversation. */
export async function countFeedback(db: D1Database, owner: string, conversationId: string): Promise<number> {
  const row = await db
    .prepare('SELECT count(*) AS n FROM feedback WHERE owner = ? AND conversation_id = ?')
    .bind(owner, conversationId)
    .first<{ n: number }>()
  return row?.n ?? 0
}
