// Copies another conversation: its events, answers and workspace at one event. Until the copy is complete, its deletion is
// scheduled, so that a crash in the middle leaves nothing behind.

import { conversation, workspacePrefix } from '../../../src/bindings.ts'
import { hexId } from '../../../src/lib/crypto.ts'
import { streamInSlices } from '../../../src/lib/slices.ts'
import { migrate } from '../../sql.ts'
import { EventLog } from '../events/event-log.ts'
import { type ConversationRecord, MIGRATIONS } from '../schema.ts'
import { CallQueue } from '../turn/call-queue.ts'
import { PackedForms } from '../workspace/packed-forms.ts'
import type { NodeVersion } from '../workspace/versions.ts'
import { deleteAll, REMOVAL } from './deletion.ts'
import type { NoFork } from './fork-source.ts'

export type ForkRequest = {
  id: string
  owner: string
  createdAt: string
  trigger: string | null
  /** Null to take the title of the original. */
  title: string | null
  from: { id: string; event: number }
}

/** After a crash the object wakes at this time and deletes the copy. */
const GIVE_UP_AFTER_MS = 15 * 60_000

type Storage = { storage: DurableObjectStorage; env: Env }

/** Returns the record of the new conversation, which is not stored yet, or why there is none. */
export async function receiveFork(
  { storage, env }: Storage,
  request: ForkRequest,
): Promise<ConversationRecord | NoFork | null> {
  const { owner, from } = request
  const source = conversation(env, owner, from.id)
  const basis = await source.forkBasis(from.event)
  if (basis === null || 'reason' in basis) return basis
  const { title, instructions, repository, agent, choice, runtime, toolServers } = basis
  const record: ConversationRecord = {
    id: request.id,
    owner,
    incarnation: hexId(),
    title: request.title ?? title,
    trigger: request.trigger,
    createdAt: request.createdAt,
    titledAt: null,
    instructions,
    repository,
    setup: 'done',
    firstMessage: null,
    toolServers: toolServers === null ? null : await source.forkServers(request.id),
    ...(agent === undefined ? {} : { agent }),
    ...(choice === undefined ? {} : { choice }),
    ...(runtime === undefined ? {} : { runtime }),
    loop: 'running',
  }
  await beginCopy(storage, record)
  const import_ = new Import({ storage, env }, record, source, from.event)
  await import_.files()
  await import_.events()
  return record
}

/** The copy is complete: cancels its deletion. Part of the write that creates the conversation. */
export function keepFork({ sql }: DurableObjectStorage, { incarnation }: ConversationRecord): void {
  sql.exec('DELETE FROM outbox WHERE kind = ? AND key = ?', REMOVAL, incarnation)
}

/** Schedules the deletion of the copy, unless it is complete by then. */
export async function beginCopy(storage: DurableObjectStorage, record: ConversationRecord): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS
  storage.transactionSync(() => {
    migrate(storage, MIGRATIONS)
    deleteAll(storage, record)
    const own = [REMOVAL, record.incarnation]
    storage.sql.exec('UPDATE outbox SET next_at = ? WHERE kind = ? AND key = ?', giveUpAt, ...own)
  })
  await storage.setAlarm(giveUpAt)
}

class Import {
  readonly #storage: DurableObjectStorage
  readonly #env: Env
  readonly #record: ConversationRecord
  readonly #source: ReturnType<typeof conversation>
  readonly #event: number
  readonly #packed: PackedForms

  constructor(
    { storage, env }: Storage,
    record: ConversationRecord,
    source: ReturnType<typeof conversation>,
    event: number,
  ) {
    this.#storage = storage
    this.#env = env
    this.#record = record
    this.#source = source
    this.#event = event
    this.#packed = new PackedForms(storage)
  }

  async files(): Promise<void> {
    this.#storage.sql.exec('DELETE FROM workspace_nodes')
    for (let after = 0; ; ) {
      const page = await this.#source.forkNodes(this.#event, after)
      const last = page?.nodes.at(-1)
      if (page === null || last === undefined) return
      for (const node of page.nodes) await this.#node(node)
      after = last.inode
    }
  }

  /** A node and its contents; a file's object is copied first, so that the row never names a missing object. */
  async #node(node: NodeVersion): Promise<void> {
    const copied = node.object === null ? null : await this.#copy(node.object)
    const inRows = node.kind === 'file' ? node.size - (copied?.sizeBytes ?? 0) : 0
    const file = inRows > 0 ? await this.#source.forkFile(this.#event, node.inode) : null
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      sql.exec(
        `INSERT INTO workspace_nodes (inode, parent, name, kind, mode, mtime, size, target, object)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        node.inode,
        node.parent,
        node.name,
        node.kind,
        node.mode,
        node.mtime,
        node.size,
        node.target,
        copied?.key ?? null,
      )
      let left = inRows
      for (const { seq, bytes } of file?.chunks ?? []) {
        // Bytes that were appended later are not part of the file at that event.
        if (left <= 0) break
        left -= bytes.byteLength
        sql.exec('INSERT INTO workspace_chunks (inode, seq, bytes) VALUES (?, ?, ?)', node.inode, seq, bytes)
      }
      if (left !== 0) throw new Error(`the contents of inode ${node.inode} do not add up: ${left} bytes are left`)
      const packed = copied === null ? (file?.packed ?? null) : null
      if (packed?.sizeBytes === node.size) this.#packed.keep([{ inode: node.inode, packed }])
    })
  }

  async #copy(from: string): Promise<{ key: string; sizeBytes: number }> {
    const object = await this.#env.FILES.get(from)
    if (object === null) throw new Error('an object of an earlier version is missing')
    const key = `${workspacePrefix(this.#record)}${hexId()}`
    await this.#env.FILES.put(key, streamInSlices(object.body, object.size))
    return { key, sizeBytes: object.size }
  }

  async events(): Promise<void> {
    const log = new EventLog(this.#storage.sql)
    const calls = new CallQueue(this.#storage.sql)
    while (log.last < this.#event) {
      const page = await this.#source.forkEvents(log.last, this.#event)
      if (page === null || page.texts.length === 0) throw new Error('the other conversation went away')
      this.#storage.transactionSync(() => {
        log.adopt(page.texts)
        calls.adopt(page, this.#event)
      })
    }
  }
}
