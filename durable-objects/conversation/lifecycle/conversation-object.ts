// The base of the object: it contains a conversation, or the remaining work of a deletion, or nothing. Creates and deletes
// conversations.

import { DurableObject } from 'cloudflare:workers'
import { userMessage } from '../../../src/agent/actions.ts'
import type { Announcement } from '../../../src/agent/events.ts'
import type { ReplayStep } from '../../../src/agent/trajectory.ts'
import type { ConversationSummary } from '../../../src/db/conversations.ts'
import { hexId } from '../../../src/lib/crypto.ts'
import { waitAtMost } from '../../../src/lib/wait-at-most.ts'
import { firstRow, migrate } from '../../sql.ts'
import { type ConversationRecord, MIGRATIONS } from '../schema.ts'
import { sessionEnd } from '../sockets/session-attachment.ts'
import { ConversationState, type Creation } from '../state.ts'
import { SecretMasker } from '../turn/secret-masker.ts'
import { Deletion, deleteAll } from './deletion.ts'
import type { NoFork } from './fork-source.ts'
import { type ForkRequest, keepFork, receiveFork } from './fork-target.ts'
import { type ImportRequest, receiveImport } from './import-target.ts'

export type NewConversation = Pick<
  ConversationRecord,
  | 'id'
  | 'owner'
  | 'trigger'
  | 'createdAt'
  | 'instructions'
  | 'repository'
  | 'firstMessage'
  | 'agent'
  | 'choice'
  | 'runtime'
  | 'toolServers'
  | 'talk'
> & { replay?: ReplayStep[] | null }

export type Created = {
  status: ConversationSummary['status']
  started: boolean
  joined: boolean
  messageDropped: boolean
}

/** The message is also the close reason, which can hold 123 bytes. */
const TOO_MANY = {
  status_update: true,
  type: 'error',
  id: 'AGENT_ERROR$TOO_MANY_CONVERSATIONS',
  message: 'Too many conversations run, so this one was closed; start it again to go on',
} as const

/**
 * How long a request waits until its change is in the index, or until the index row and the files of a deleted
 * conversation are removed.
 */
const WAIT_MS = 2_000

export class ConversationObject extends DurableObject<Env> {
  /** Null while nobody has created this id, or after it was deleted. */
  protected whole: ConversationState | null = null
  /** Null also for a talk about reports: the calls of a conversation must not reach it. */
  protected get state(): ConversationState | null {
    return this.whole?.talk === null ? this.whole : null
  }
  /** The remaining work of a deletion; null when there is none. */
  #deletion: Deletion | null = null
  /** Settles when the creation has ended; null while there is none. */
  #making: Promise<void> | null = null

  /** A request for an id that nobody created stores nothing, not even the schema. */
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    if (firstRow(storage.sql, "SELECT 1 FROM sqlite_master WHERE name = 'meta'") === null) return
    migrate(storage, MIGRATIONS)
    // There is no record for an id that nobody created, and for a deleted conversation.
    const record = firstRow(storage.sql, "SELECT 1 FROM meta WHERE name = 'conversation'")
    if (record !== null) this.whole = new ConversationState(ctx, env, null)
    else this.#deletion = new Deletion(storage, env)
  }

  /** Creates the conversation, or returns the existing one of this id. */
  create(given: NewConversation): Promise<Created> {
    return this.#alone(async () => {
      if (this.whole !== null) {
        await this.whenOpen()
        const joined = this.#join(given.firstMessage)
        if (joined.started && this.state !== null) await this.listed(this.state)
        return joined
      }
      migrate(this.ctx.storage, MIGRATIONS)
      const fresh = { incarnation: hexId(), title: '', titledAt: null, loop: 'running', setup: 'pending' } as const
      const { replay = null, ...record } = given
      const state = await this.#begun({ record: { ...record, ...fresh }, replay }, ({ opening }) => opening.begin())
      const { status } = state.summary()
      await this.listed(state)
      return { status, started: true, joined: false, messageDropped: false }
    })
  }

  /**
   * Makes this conversation a fork of another one of the owner, as that was at an event; null when there is no such
   * conversation.
   */
  fork(request: ForkRequest): Promise<'forked' | 'taken' | NoFork | null> {
    return this.#alone(async () => {
      if (this.whole !== null) return 'taken'
      const copied = await this.#copied(
        (to) => receiveFork(to, request),
        ({ opening }) => opening.beginFork(),
      )
      return copied === 'copied' ? 'forked' : copied
    })
  }

  /** Makes this conversation from the data of an archive; `made` also when an earlier call has made it. */
  import(request: ImportRequest): Promise<'made' | 'taken'> {
    return this.#alone(async () => {
      if (this.whole === null) {
        await this.#copied(
          (to) => receiveImport(to, request),
          ({ opening }) => opening.beginImported(),
        )
        return 'made'
      }
      const { imported } = this.whole.record.value
      return imported?.archive === request.archive && imported.from === request.from ? 'made' : 'taken'
    })
  }

  /** Deletes the conversation with everything in it; false when there is none. */
  async delete(): Promise<boolean> {
    if (this.state === null) return false
    await this.remove(this.state)
    return true
  }

  /** For the owner's object, when the owner is deleted: deletes everything; true when nothing is left here. */
  erase(): Promise<boolean> {
    return this.#alone(async () => {
      if (this.whole !== null) await this.remove(this.whole)
      await this.settleDeletion()
      return this.#deletion === null
    })
  }

  protected async remove({ opening, sessions, alarms, record, runner }: ConversationState): Promise<void> {
    // Before the stop, which releases the runner but keeps its copy of the files.
    runner.terminal.close(sessionEnd('deleted'))
    runner.release(true)
    opening.stop()
    sessions.close(() => true, sessionEnd('deleted'))
    alarms.retire()
    deleteAll(this.ctx.storage, record.value)
    this.whole = null
    const deletion = new Deletion(this.ctx.storage, this.env)
    this.#deletion = deletion
    const settled = this.#settle(deletion)
    this.ctx.waitUntil(settled)
    await waitAtMost(WAIT_MS, settled)
  }

  /** Starts the loop unless it runs; null for an unknown conversation. */
  async start(): Promise<{ started: boolean; status: ConversationSummary['status'] } | null> {
    const { state } = this
    if (state === null) return null
    const started = state.opening.start()
    const { status } = state.summary()
    if (started) await this.listed(state)
    return { started, status }
  }

  /** Closes the session; false when it was not running, or there is none. */
  async stop(): Promise<boolean> {
    return this.#close(null)
  }

  /** Closes the session to make room for another conversation of the owner, and tells the clients so. */
  async makeWay(): Promise<void> {
    await this.#close(TOO_MANY)
  }

  /** Does the remaining work of a deletion. */
  protected async settleDeletion(): Promise<void> {
    if (this.#deletion !== null) await this.#settle(this.#deletion)
  }

  /**
   * Waits until the current secrets are known, because no text of a user may be stored before. Other requests wait
   * meanwhile and keep their order. Null when there is nothing to wait for.
   */
  protected whenOpen(): Promise<void> | null {
    const secrets = this.whole?.secrets
    if (secrets === undefined || secrets.isOpen) return null
    return this.ctx.blockConcurrencyWhile(() => secrets.open())
  }

  /** Waits a limited time until the index has the conversation's current row; never throws. */
  protected async listed({ index }: ConversationState): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ctx.waitUntil(index.flush(resolve).finally(resolve))
    await waitAtMost(WAIT_MS, promise)
  }

  /** Only one creation or deletion runs at a time. */
  async #alone<T>(make: () => Promise<T>): Promise<T> {
    while (this.#making !== null) await this.#making
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#making = promise
    try {
      return await make()
    } finally {
      this.#making = null
      resolve()
    }
  }

  /** Creates a conversation with its first events in one write: a crash leaves both or neither. */
  async #begun(
    creation: Omit<Creation, 'secrets'>,
    begin: (state: ConversationState) => void,
  ): Promise<ConversationState> {
    const secrets = new SecretMasker(this.env, this.ctx.storage.sql, creation.record)
    return this.ctx.blockConcurrencyWhile(async () => {
      await secrets.open()
      const state = new ConversationState(this.ctx, this.env, { ...creation, secrets })
      this.whole = state
      this.#deletion = null
      begin(state)
      return state
    })
  }

  /** Creates a conversation from received data; if that fails, the received data is deleted. */
  async #copied<No>(
    receive: (to: { storage: DurableObjectStorage; env: Env }) => Promise<ConversationRecord | No>,
    begin: (state: ConversationState) => void,
  ): Promise<'copied' | No> {
    const owed = this.#deletion
    // Suspends the remaining work of an earlier deletion, because its end would delete the new conversation.
    this.#deletion = null
    try {
      const record = await receive({ storage: this.ctx.storage, env: this.env })
      if (!isRecord(record)) {
        if (owed !== null) this.#deletion = new Deletion(this.ctx.storage, this.env)
        return record
      }
      const state = await this.#begun({ record, replay: null }, (begun) => {
        keepFork(this.ctx.storage, record)
        begin(begun)
      })
      await this.listed(state)
      return 'copied'
    } catch (error) {
      // Removes what has been copied so far.
      this.#deletion = new Deletion(this.ctx.storage, this.env)
      throw error
    }
  }

  async #close(notice: Announcement | null): Promise<boolean> {
    const { state } = this
    if (state === null || !state.opening.stop(notice)) return false
    await this.listed(state)
    return true
  }

  /**
   * Does nothing at the end if the id was created again meanwhile: then the alarm and the stored data belong to the new
   * conversation.
   */
  async #settle(deletion: Deletion): Promise<void> {
    const nextAttemptAt = await deletion.deliver()
    if (this.#deletion !== deletion) return
    if (nextAttemptAt !== null) return deletion.tryAgainAt(nextAttemptAt)
    this.#deletion = null
    await deletion.vanish()
  }

  #join(message: NewConversation['firstMessage']): Created {
    const { state } = this
    // The conversation was deleted meanwhile, or it is a talk.
    if (state === null) return { status: 'STOPPED', started: false, joined: true, messageDropped: message !== null }
    const started = state.opening.start()
    if (message !== null && started) {
      state.receive(userMessage(message.content, message.imageUrls, null), null, message.isTask)
    }
    return { status: state.summary().status, started, joined: true, messageDropped: message !== null && !started }
  }
}

function isRecord<No>(found: ConversationRecord | No): found is ConversationRecord {
  return typeof found === 'object' && found !== null && 'incarnation' in found
}
