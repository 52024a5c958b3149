// What is left of a deleted conversation: nothing but the duty to remove its row in the index and its files in R2. The
// duty is an outbox entry, so it outlives crashes and outages; once it is done the object is empty.

import { z } from 'zod'
import { workspacePrefix } from '../../src/bindings.ts'
import { deleteConversation } from '../../src/db/conversations.ts'
import { Outbox, type OutboxEntry } from '../outbox.ts'
import { migrate, rows } from '../sql.ts'
import type { ConversationRecord } from './meta.ts'
import { MIGRATIONS } from './schema.ts'

export const PURGE = 'purge'

const Duty = z.object({ owner: z.string(), id: z.string(), createdAt: z.string(), prefix: z.string() })

/** R2 deletes this many keys in one call. */
const DELETE_BATCH = 1000

/** Forgets everything that the object holds, in one transaction, and writes the duty down. */
export function bury(storage: DurableObjectStorage, record: ConversationRecord): void {
  const { owner, id, createdAt } = record
  storage.transactionSync(() => {
    const tables = rows<{ name: string }>(
      storage.sql,
      // Virtual tables first: dropping one drops the tables behind it.
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'`,
    )
    for (const { name } of tables) storage.sql.exec(`DROP TABLE IF EXISTS "${name}"`)
    migrate(storage, MIGRATIONS)
    const duty = { owner, id, createdAt, prefix: workspacePrefix(record) }
    new Outbox(storage.sql).put(PURGE, record.incarnation, JSON.stringify(duty))
  })
}

/** Does the duty of one entry. */
export async function purge(env: Env, { payload }: OutboxEntry): Promise<void> {
  const { owner, id, createdAt, prefix } = Duty.parse(JSON.parse(payload))
  await deleteConversation(env.DB, { owner, id, createdAt })
  for (;;) {
    const { objects, truncated } = await env.FILES.list({ prefix, limit: DELETE_BATCH })
    if (objects.length > 0) await env.FILES.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
}

export class Tombstone {
  readonly #storage: DurableObjectStorage
  readonly #env: Env
  readonly #outbox: Outbox

  constructor(storage: DurableObjectStorage, env: Env) {
    this.#storage = storage
    this.#env = env
    this.#outbox = new Outbox(storage.sql)
    // The only alarm left; it is set anew whenever the object wakes, so none is ever lost.
    void storage.setAlarm(Math.max(this.#outbox.nextAttemptAt ?? 0, Date.now() + 1))
  }

  /** Tries what is due; true when nothing is left to do. */
  async deliver(): Promise<boolean> {
    const { nextAttemptAt } = await this.#outbox.deliver((entry) => purge(this.#env, entry))
    if (nextAttemptAt === null) return true
    await this.#storage.setAlarm(Math.max(nextAttemptAt, Date.now() + 1))
    return false
  }

  /** Leaves the object as if it had never been used. */
  async vanish(): Promise<void> {
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }
}
