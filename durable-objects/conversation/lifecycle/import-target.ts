// Creates a conversation from its part of an archive: events, answers and workspace, as a fork copies them from another
// conversation. Until it is complete its deletion is scheduled, so a crash in the middle leaves nothing behind.

import type { ModelStepRow, QueuedCall } from '../../../src/agent/turn.ts'
import { workspacePrefix } from '../../../src/bindings.ts'
import { must } from '../../../src/lib/assert.ts'
import { hexId } from '../../../src/lib/crypto.ts'
import { inSlices, putInTime } from '../../../src/lib/slices.ts'
import type { Entry } from '../../owner/import/archive-check.ts'
import { ArchiveReader, type Piece } from '../../owner/import/archive-reader.ts'
import {
  CallInArchive,
  ConversationInArchive,
  linesOf,
  NodeInArchive,
  rawLines,
  StepInArchive,
  TurnInArchive,
} from '../../owner/import/archive-shapes.ts'
import { EventLog } from '../events/event-log.ts'
import { type ConversationRecord, TALK_TABLES } from '../schema.ts'
import { CallQueue } from '../turn/call-queue.ts'
import { beginCopy } from './fork-target.ts'

export type ImportRequest = {
  id: string
  owner: string
  /** The archive, and the conversation's id in it: a second call recognises by them that the conversation was made. */
  archive: string
  from: string
  /** For a talk: its session id here. */
  session: string | null
  pieces: Piece[]
  /** The entries of the conversation. */
  entries: Entry[]
}

/** Larger contents are stored in R2. */
const MOST_IN_ROWS = 1_000_000
const CHUNK_BYTES = 512 * 1024
const EVENTS_AT_ONCE = 500
/** The failure of a turn that ran when the talk was exported. */
const MOVED = 'The talk was moved before there was an answer'

type Storage = { storage: DurableObjectStorage; env: Env }

/**
 * Returns the record of the new conversation, which is not stored yet. The conversation is closed: nothing runs until
 * its owner starts it.
 */
export async function receiveImport({ storage, env }: Storage, request: ImportRequest): Promise<ConversationRecord> {
  const target = new ImportTarget({ storage, env }, request)
  const record = await target.record()
  await beginCopy(storage, record)
  await target.files(record)
  await target.events()
  await target.turns()
  return record
}

class ImportTarget {
  readonly #storage: DurableObjectStorage
  readonly #env: Env
  readonly #request: ImportRequest
  readonly #archive: ArchiveReader
  readonly #byPath: Map<string, Entry>

  constructor({ storage, env }: Storage, request: ImportRequest) {
    this.#storage = storage
    this.#env = env
    this.#request = request
    this.#archive = new ArchiveReader(env.FILES, request.pieces)
    const base = `conversations/${request.from}/`
    this.#byPath = new Map(request.entries.map((entry) => [entry.path.slice(base.length), entry]))
  }

  async record(): Promise<ConversationRecord> {
    const [read] = linesOf(await this.#text('conversation.json'), { path: 'record', shape: ConversationInArchive })
    const { agent, choice, runtime, prNumbers, repository, ...kept } = must(read, 'the record of a conversation')
    const { id, owner, archive, from, session } = this.#request
    return {
      ...{ id, owner, incarnation: hexId(), title: kept.title, trigger: kept.trigger, createdAt: kept.createdAt },
      ...{ titledAt: kept.titledAt, instructions: kept.instructions, setup: 'done', firstMessage: null },
      // No user of this service chose the address.
      repository: repository === null ? null : { ...repository, isTyped: false },
      toolServers: null,
      ...(agent === undefined ? {} : { agent }),
      ...(choice === undefined ? {} : { choice }),
      ...(runtime === undefined ? {} : { runtime: wishOf(runtime) }),
      ...(prNumbers === undefined ? {} : { prNumbers }),
      ...(session === null ? {} : { talk: { session } }),
      imported: { archive, from },
      loop: 'stopped',
    }
  }

  async files(record: ConversationRecord): Promise<void> {
    this.#storage.sql.exec('DELETE FROM workspace_nodes')
    for (const part of this.#parts('nodes/')) {
      for (const node of linesOf(await this.#text(part), { path: part, shape: NodeInArchive }))
        await this.#node(node, record)
    }
  }

  /** A node and its contents; an object is written first, so that the row never names a missing one. */
  async #node(node: NodeInArchive, record: ConversationRecord): Promise<void> {
    const entry = node.kind === 'file' && node.size > 0 ? must(this.#byPath.get(`files/${node.inode}`), 'a file') : null
    const bytes = entry === null ? null : await this.#archive.read(entry.place, entry.bytes)
    const isLarge = bytes !== null && bytes.byteLength > MOST_IN_ROWS
    const key = isLarge ? `${workspacePrefix(record)}${hexId()}` : null
    if (key !== null && bytes !== null) await putInTime(this.#env.FILES.put(key, inSlices(bytes)))
    const { inode, parent, name, kind, mode, mtime, size, target } = node
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      sql.exec(
        `INSERT INTO workspace_nodes (inode, parent, name, kind, mode, mtime, size, target, object)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[inode, parent, name, kind, mode, mtime, size, target, key],
      )
      for (
        let from = 0, seq = 0;
        !isLarge && bytes !== null && from < bytes.byteLength;
        from += CHUNK_BYTES, seq += 1
      ) {
        // A copy, because SQLite would store the whole buffer behind a view.
        const chunk = new Uint8Array(bytes.subarray(from, from + CHUNK_BYTES)).buffer
        sql.exec('INSERT INTO workspace_chunks (inode, seq, bytes) VALUES (?, ?, ?)', inode, seq, chunk)
      }
    })
  }

  async events(): Promise<void> {
    const log = new EventLog(this.#storage.sql)
    const calls = new CallQueue(this.#storage.sql)
    for (const part of this.#parts('events/')) {
      const texts = rawLines(await this.#text(part))
      for (let from = 0; from < texts.length; from += EVENTS_AT_ONCE) {
        this.#storage.transactionSync(() => log.adopt(texts.slice(from, from + EVENTS_AT_ONCE)))
      }
    }
    const steps: ModelStepRow[] = []
    const queued: QueuedCall[] = []
    for (const part of this.#parts('steps/'))
      steps.push(...linesOf(await this.#text(part), { path: part, shape: StepInArchive }))
    for (const part of this.#parts('calls/'))
      queued.push(...linesOf(await this.#text(part), { path: part, shape: CallInArchive }))
    this.#storage.transactionSync(() => calls.adopt({ steps, calls: queued }, log.last))
  }

  async turns(): Promise<void> {
    if (!this.#byPath.has('turns.jsonl')) return
    const turns = linesOf(await this.#text('turns.jsonl'), { path: 'turns', shape: TurnInArchive })
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      sql.exec(TALK_TABLES)
      for (const { question, first, digest, codes, deadline, ended, answer, failure } of turns) {
        const isOpen = ended === null
        const end = isOpen ? new EventLog(sql).last : ended
        sql.exec(
          'INSERT INTO talk_turns VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
          ...[question, first, digest, codes, deadline, end, answer, isOpen ? MOVED : failure],
        )
      }
    })
  }

  #parts(folder: string): string[] {
    return [...this.#byPath.keys()].filter((name) => name.startsWith(folder)).toSorted()
  }

  async #text(name: string): Promise<string> {
    const { place, bytes } = must(this.#byPath.get(name), `${name} of a conversation`)
    return this.#archive.text(place, bytes)
  }
}

/** Omits members whose value is undefined. */
function wishOf({ kind, labels, image, unsynced }: NonNullable<ConversationInArchive['runtime']>) {
  return {
    ...{ kind, labels },
    ...(image === undefined ? {} : { image }),
    ...(unsynced === undefined ? {} : { unsynced }),
  }
}
