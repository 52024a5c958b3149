// The remaining work after a conversation was deleted: removing its row in the index and its files in R2. The work is
// an outbox entry, so it survives crashes and outages; once it is done the object is empty.

import { z } from 'zod'
import { deleteFiles, owner as ownerObject, workspacePrefix } from '../../../src/bindings.ts'
import { deleteChatSession, deleteConversation } from '../../../src/db/conversations.ts'
import { type ModelCall, saveModelCall } from '../../../src/db/model-calls.ts'
import type { CallCost } from '../../../src/llm/ask.ts'
import { Outbox, type OutboxEntry } from '../../outbox.ts'
import { migrate, rows } from '../../sql.ts'
import { type ConversationRecord, MIGRATIONS } from '../schema.ts'

export const REMOVAL = 'purge'
/** A model call that is not yet in the database; the entry survives the deletion of its conversation. */
export const MODEL_CALL = 'call'
/** What a model call used, for the owner's budget. */
export const SPENDING = 'spending'

const Duty = z.object({
  owner: z.string(),
  id: z.string(),
  createdAt: z.string(),
  prefix: z.string(),
  session: z.string().optional(),
})

type Owed = { seq: number; kind: string; key: string; payload: string; attempts: number; next_at: number }

const OWED = 'SELECT * FROM outbox WHERE kind IN (?, ?, ?) ORDER BY seq'

/** Deletes everything in the object except open outbox entries, and adds the new one, in one transaction. */
export function deleteAll(storage: DurableObjectStorage, record: ConversationRecord): void {
  const { owner, id, createdAt, talk } = record
  storage.transactionSync(() => {
    const owed = rows<Owed>(storage.sql, OWED, REMOVAL, MODEL_CALL, SPENDING)
    const tables = rows<{ name: string }>(
      storage.sql,
      // Virtual tables first: dropping one also drops its shadow tables.
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'`,
    )
    for (const { name } of tables) storage.sql.exec(`DROP TABLE IF EXISTS "${name}"`)
    migrate(storage, MIGRATIONS)
    for (const { seq, kind, key, payload, attempts, next_at: nextAt } of owed) {
      storage.sql.exec('INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?)', seq, kind, key, payload, attempts, nextAt)
    }
    const duty = { owner, id, createdAt, prefix: workspacePrefix(record), session: talk?.session }
    new Outbox(storage.sql).put(REMOVAL, record.incarnation, JSON.stringify(duty))
  })
}

export async function tellModelCall(env: Env, { payload }: OutboxEntry): Promise<void> {
  // Stored by this service.
  await saveModelCall(env.DB, JSON.parse(payload) as ModelCall)
}

/** The report of a model call to the owner's object; `used` is null when it is unknown. */
export type Spending = { owner: string; id: string; used: CallCost | null }

export async function tellSpending(env: Env, { payload }: OutboxEntry): Promise<void> {
  const { owner, id, used } = JSON.parse(payload) as Spending
  await ownerObject(env, owner).settleCall(id, used)
}

/** Does the work of one entry. */
export async function remove(env: Env, { payload }: OutboxEntry): Promise<void> {
  const { owner, id, createdAt, prefix, session } = Duty.parse(JSON.parse(payload))
  await ownerObject(env, owner).forgetConversation(id)
  if (session !== undefined) await deleteChatSession(env.DB, { owner, session, createdAt })
  await deleteConversation(env.DB, { owner, id, createdAt })
  await deleteFiles(env, prefix)
}

export class Deletion {
  readonly #storage: DurableObjectStorage
  readonly #env: Env
  readonly #outbox: Outbox

  constructor(storage: DurableObjectStorage, env: Env) {
    this.#storage = storage
    this.#env = env
    this.#outbox = new Outbox(storage.sql)
    // Entries that waited because a conversation was being created are due now: no creation runs any more.
    storage.sql.exec('UPDATE outbox SET next_at = MIN(next_at, ?) WHERE attempts = 0', Date.now())
    // The only remaining alarm; it is set again whenever the object wakes, so it is never lost.
    this.tryAgainAt(this.#outbox.nextAttemptAt ?? 0)
  }

  /** Tries the entries that are due; returns when to try the rest, null when nothing is left. */
  async deliver(): Promise<number | null> {
    const { nextAttemptAt } = await this.#outbox.deliver(async (entry) => {
      if (entry.kind === MODEL_CALL) return tellModelCall(this.#env, entry)
      if (entry.kind === SPENDING) return tellSpending(this.#env, entry)
      // These reports must be sent before the conversation is forgotten everywhere, or they would be lost.
      if (this.#outbox.pending().some(({ kind }) => kind === MODEL_CALL || kind === SPENDING))
        throw new Error('calls of models wait')
      return remove(this.#env, entry)
    })
    return nextAttemptAt
  }

  tryAgainAt(at: number): void {
    void this.#storage.setAlarm(Math.max(at, Date.now() + 1))
  }

  /** Leaves the object as if it had never been used. Both deletes start at once, so data that is stored afterwards stays. */
  async vanish(): Promise<void> {
    await Promise.all([this.#storage.deleteAlarm(), this.#storage.deleteAll()])
  }
}
