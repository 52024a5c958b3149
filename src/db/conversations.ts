// The index of conversations. Rows are written by the conversations' own objects and read by the listing.

import { z } from 'zod'

export type ConversationStatus = 'STARTING' | 'RUNNING' | 'STOPPED'

/** A conversation's entry in lists. Times are ISO 8601 in UTC. */
export type ConversationSummary = {
  id: string
  owner: string
  title: string
  createdAt: string
  /** Null until the first event is stored. */
  lastUpdatedAt: string | null
  status: ConversationStatus
  runtimeStatus: string | null
  /** The agent's newest state; null when it is unknown. */
  agentState: string | null
  selectedRepository: string | null
  selectedBranch: string | null
  gitProvider: string | null
  trigger: string | null
  numConnections: number
  prNumber: number[]
}

type Row = {
  id: string
  owner: string
  title: string
  created_at: string
  last_updated_at: string | null
  status: ConversationStatus
  runtime_status: string | null
  agent_state: string | null
  selected_repository: string | null
  selected_branch: string | null
  git_provider: string | null
  trigger_name: string | null
  num_connections: number
  pr_number: string
}

const Numbers = z.array(z.number())

/** Writes the row unless a later revision is stored. */
export async function saveConversation(db: D1Database, row: ConversationSummary, revision: number): Promise<void> {
  await db
    .prepare(
      `INSERT INTO conversations (owner, id, revision, created_at, last_updated_at, title, status, runtime_status,
         selected_repository, selected_branch, git_provider, trigger_name, num_connections, pr_number, agent_state)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
       ON CONFLICT (owner, id) DO UPDATE SET revision = ?3, last_updated_at = ?5, title = ?6, status = ?7,
         runtime_status = ?8, selected_repository = ?9, selected_branch = ?10, git_provider = ?11,
         trigger_name = ?12, num_connections = ?13, pr_number = ?14, agent_state = ?15
       WHERE revision < ?3`,
    )
    .bind(
      row.owner,
      row.id,
      revision,
      row.createdAt,
      row.lastUpdatedAt,
      row.title,
      row.status,
      row.runtimeStatus,
      row.selectedRepository,
      row.selectedBranch,
      row.gitProvider,
      row.trigger,
      row.numConnections,
      JSON.stringify(row.prNumber),
      row.agentState,
    )
    .run()
}

/** Deletes the row of this conversation, but not of a later one with the same id. */
export async function deleteConversation(
  db: D1Database,
  row: { owner: string; id: string; createdAt: string },
): Promise<void> {
  await db
    .prepare('DELETE FROM conversations WHERE owner = ? AND id = ? AND created_at = ?')
    .bind(row.owner, row.id, row.createdAt)
    .run()
}

/** Deletes all rows with this id, of any incarnation, including talks. */
export async function deleteConversationRows(db: D1Database, owner: string, id: string): Promise<void> {
  await db.batch([
    db.prepare('DELETE FROM conversations WHERE owner = ? AND id = ?').bind(owner, id),
    db.prepare('DELETE FROM chat_sessions WHERE owner = ? AND conversation = ?').bind(owner, id),
  ])
}

/** The owner's conversations that the index shows as running, least recently updated first. */
export async function listRunning(db: D1Database, owner: string): Promise<string[]> {
  const { results } = await db
    .prepare("SELECT id FROM conversations WHERE owner = ? AND status = 'RUNNING' ORDER BY last_updated_at, id")
    .bind(owner)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** All of the owner's conversations. */
export async function conversationIds(db: D1Database, owner: string): Promise<string[]> {
  const { results } = await db.prepare('SELECT id FROM conversations WHERE owner = ?').bind(owner).all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** The owner's most recently updated conversations, the newest update first, with its time. */
export async function recentConversations(
  db: D1Database,
  owner: string,
  limit: number,
): Promise<{ id: string; lastAt: string }[]> {
  const { results } = await db
    .prepare(
      `SELECT id, COALESCE(last_updated_at, created_at) AS lastAt FROM conversations
       WHERE owner = ? ORDER BY lastAt DESC, id LIMIT ?`,
    )
    .bind(owner, limit)
    .all<{ id: string; lastAt: string }>()
  return results
}

export type ConversationQuery = {
  owner: string
  limit: number
  /** The last row of the previous page. */
  after: { createdAt: string; id: string } | null
  repository: string | null
  /** Any of these triggers; null for all. */
  triggers: string[] | null
}

/** An owner's conversations, newest first. */
export async function listConversations(db: D1Database, query: ConversationQuery): Promise<ConversationSummary[]> {
  const { results } = await db
    .prepare(
      `SELECT * FROM conversations
       WHERE owner = ?1
         AND (?2 IS NULL OR (created_at, id) < (?2, ?3))
         AND (?4 IS NULL OR selected_repository = ?4)
         AND (?5 IS NULL OR trigger_name IN (SELECT value FROM json_each(?5)))
       ORDER BY created_at DESC, id DESC LIMIT ?6`,
    )
    .bind(
      query.owner,
      query.after?.createdAt ?? null,
      query.after?.id ?? null,
      query.repository,
      query.triggers === null ? null : JSON.stringify(query.triggers),
      query.limit,
    )
    .all<Row>()
  return results.map(fromRow)
}

const fromRow = (row: Row): ConversationSummary => ({
  id: row.id,
  owner: row.owner,
  title: row.title,
  createdAt: row.created_at,
  lastUpdatedAt: row.last_updated_at,
  status: row.status,
  runtimeStatus: row.runtime_status,
  agentState: row.agent_state,
  selectedRepository: row.selected_repository,
  selectedBranch: row.selected_branch,
  gitProvider: row.git_provider,
  trigger: row.trigger_name,
  numConnections: row.num_connections,
  prNumber: Numbers.parse(JSON.parse(row.pr_number)),
})

// The index of talks about reports. Rows are written by the talks' own objects and read by the listing.

/** A talk's entry in lists. Times are ISO 8601 in UTC. */
export type ChatSession = {
  owner: string
  session: string
  /** The id of its conversation. */
  conversation: string
  title: string
  messages: number
  createdAt: string
  lastActive: string
}

/** Writes the row unless a later revision is stored. */
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

/** Deletes the row of this talk, but not of a later one with the same session. */
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

/** The owner's talks, the most recently updated first. */
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
