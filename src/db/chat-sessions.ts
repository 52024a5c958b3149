// The index of talks about reports. Rows are written by the talks' own objects and read by the listing.

/** What a listing tells of a talk. Times are ISO 8601 in UTC. */
export type ChatSession = {
  owner: string
  session: string
  /** The id of the conversation that it is. */
  conversation: string
  title: string
  messages: number
  createdAt: string
  lastActive: string
}

/** Writes the row unless one of a later revision is there. */
export async function saveChatSession(db: D1Database, row: ChatSession, revision: number): Promise<void> {
  await db
    .prepare(
      `INSERT INTO chat_sessions (owner, session, conversation, revision, title, messages, created_at, last_active)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
       ON CONFLICT (owner, session) DO UPDATE SET revision = ?4, title = ?5, messages = ?6, created_at = ?7, last_active = ?8
       WHERE revision < ?4`,
    )
    .bind(row.owner, row.session, row.conversation, revision, row.title, row.messages, row.createdAt, row.lastActive)
    .run()
}

/** Removes the row of this very talk, not that of a later one of the same session. */
export async function deleteChatSession(
  db: D1Database,
  { owner, session, createdAt }: Pick<ChatSession, 'owner' | 'session' | 'createdAt'>,
): Promise<void> {
  await db
    .prepare('DELETE FROM chat_sessions WHERE owner = ? AND session = ? AND created_at = ?')
    .bind(owner, session, createdAt)
    .run()
}

const COLUMNS = `owner, session, conversation, title, messages, created_at AS "createdAt", last_active AS "lastActive"`

/** The owner's talks, the one in which something happened last first. */
export async function chatSessions(
  db: D1Database,
  owner: string,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<ChatSession[]> {
  const { results } = await db
    .prepare(`SELECT ${COLUMNS} FROM chat_sessions WHERE owner = ? ORDER BY last_active DESC, session LIMIT ? OFFSET ?`)
    .bind(owner, limit, offset)
    .all<ChatSession>()
  return results
}
