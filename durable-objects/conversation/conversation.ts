import { DurableObject } from 'cloudflare:workers'
import { userMessage } from '../../src/agent/actions.ts'
import type { ActionEvent } from '../../src/agent/events.ts'
import type { Microagent } from '../../src/agent/microagents.ts'
import type { ReplayStep } from '../../src/agent/replay.ts'
import { credentialOf } from '../../src/bindings.ts'
import type { ConversationSummary } from '../../src/db/conversations.ts'
import { hexId } from '../../src/lib/ids.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { waitAtMost } from '../../src/lib/wait-at-most.ts'
import { listFiles } from '../../src/workspace/listing.ts'
import { readTextFile, type TextFile } from '../../src/workspace/reading.ts'
import { firstRow, migrate } from '../sql.ts'
import { type EventBatch, eventsAfter } from './event-extracts.ts'
import type { EventPage } from './event-search.ts'
import type { ForkBasis, ForkEvents, ForkFile, ForkNodes, NoFork } from './fork-source.ts'
import { type ForkRequest, keepFork, receiveFork } from './fork-target.ts'
import { type GitDiff, gitDiff } from './git-diff.ts'
import type { GitChanges } from './git-index.ts'
import { type ConversationRecord, holdsConversation } from './meta.ts'
import { loadMicroagents } from './microagent-files.ts'
import { type Creation, Room } from './room.ts'
import { MIGRATIONS } from './schema.ts'
import type { Newcomer } from './sessions.ts'
import type { Announcement } from './socket-protocol.ts'
import { Tombstone } from './tombstone.ts'
import type { Storage } from './usage-report.ts'
import { Vault } from './vault.ts'
import { receiveForm, sendZip } from './workspace-transfers.ts'

export type NewConversation = Pick<
  ConversationRecord,
  'id' | 'owner' | 'trigger' | 'createdAt' | 'instructions' | 'repository' | 'firstMessage' | 'agent' | 'toolServers'
> & { replay?: ReplayStep[] | null }

export type Created = {
  status: ConversationSummary['status']
  started: boolean
  joined: boolean
  messageDropped: boolean
}

/** Why there is no socket, for the Worker, which words it. */
const REFUSED = { ended: 401, full: 429, unknown: 503 } as const

/** Close codes that only report; they must not be sent. */
const REPORTING_CODES = new Set([1004, 1005, 1006, 1015])

/** Tells the Worker, not the client, that connecting has started the loop. */
const STARTED_HEADER = 'x-loop-started'

/** The message is the reason of the close as well, which holds 123 bytes. */
const TOO_MANY = {
  status_update: true,
  type: 'error',
  id: 'AGENT_ERROR$TOO_MANY_CONVERSATIONS',
  message: 'Too many conversations run, so this one was closed; start it again to go on',
} as const

/** How long whoever asks for a change waits for it to stand in the index, or for the index and the files to be rid of it. */
const WAIT_MS = 2_000

/** One conversation of one owner: its event log, its sockets, its agent and its workspace. */
export class Conversation extends DurableObject<Env> {
  /** Null while nobody has created this id, or once it is deleted. */
  #room: Room | null = null
  /** What a deleted conversation still owes; null when there is nothing. */
  #tombstone: Tombstone | null = null
  /** Settles when it has been made, or not; null while nobody makes it. */
  #making: Promise<void> | null = null

  /** An id that nobody created leaves nothing behind: asking for it makes no schema. */
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    if (firstRow(storage.sql, "SELECT 1 FROM sqlite_master WHERE name = 'meta'") === null) return
    migrate(storage, MIGRATIONS)
    if (holdsConversation(storage.sql)) this.#room = new Room(ctx, env, null)
    else this.#tombstone = new Tombstone(storage, env)
  }

  /** Creates the conversation, or joins the one that has this id. */
  create(given: NewConversation): Promise<Created> {
    return this.#alone(async () => {
      if (this.#room !== null) {
        if (!this.#room.isOpen) await this.#whenOpen(this.#room)
        const joined = this.#join(this.#room, given.firstMessage)
        if (joined.started) await this.#listed(this.#room)
        return joined
      }
      migrate(this.ctx.storage, MIGRATIONS)
      const fresh = { incarnation: hexId(), title: '', titledAt: null, loop: 'running', setup: 'pending' } as const
      const { replay = null, ...record } = given
      const room = await this.#begun({ record: { ...record, ...fresh }, replay }, (made) => made.begin())
      const { status } = room.summary()
      await this.#listed(room)
      return { status, started: true, joined: false, messageDropped: false }
    })
  }

  /** Makes this one from another of the owner's, as it was at an event; null when there is no such conversation. */
  fork(request: ForkRequest): Promise<'forked' | 'taken' | NoFork | null> {
    return this.#alone(async () => (this.#room === null ? this.#receive(request) : 'taken'))
  }

  forkBasis(event: number): ForkBasis | NoFork | null {
    return this.#room?.forkSource.basis(event) ?? null
  }

  forkEvents(after: number, upTo: number): ForkEvents | null {
    return this.#room?.forkSource.events(after, upTo) ?? null
  }

  forkNodes(event: number, after: number): ForkNodes | null {
    return this.#room?.forkSource.nodes(event, after) ?? null
  }

  forkFile(event: number, inode: number): ForkFile | null {
    return this.#room?.forkSource.file(event, inode) ?? null
  }

  async forkServers(id: string): Promise<string | null> {
    return (await this.#room?.serversFor(id)) ?? null
  }

  /** Removes the conversation and all that it holds; false when there is none. */
  async delete(): Promise<boolean> {
    if (this.#room === null) return false
    this.#room.bury(this.ctx.storage)
    this.#room = null
    const tombstone = new Tombstone(this.ctx.storage, this.env)
    this.#tombstone = tombstone
    const settled = this.#settle(tombstone)
    this.ctx.waitUntil(settled)
    await waitAtMost(WAIT_MS, settled)
    return true
  }

  summary(): ConversationSummary | null {
    return this.#room?.summary() ?? null
  }

  /** Null for an unknown conversation. */
  async rename(title: string): Promise<true | null> {
    if (this.#room !== null && !this.#room.isOpen) await this.#whenOpen(this.#room)
    const room = this.#room
    if (room === null) return null
    room.rename(title)
    await this.#listed(room)
    return true
  }

  /** Notes the number of a pull or merge request; null for an unknown conversation. */
  async addPullRequest(number: number): Promise<true | null> {
    const room = this.#room
    if (room === null) return null
    if (room.addPullRequest(number)) await this.#listed(room)
    return true
  }

  /** Starts the loop unless it runs; null for an unknown conversation. */
  async start(): Promise<{ started: boolean; status: ConversationSummary['status'] } | null> {
    const room = this.#room
    if (room === null) return null
    const started = room.start()
    const { status } = room.summary()
    if (started) await this.#listed(room)
    return { started, status }
  }

  /** Closes the session; false when it was not running, or there is none. */
  async stop(): Promise<boolean> {
    return this.#close(null)
  }

  /** How busy the loop is, and whether somebody follows it; null when it is not running. */
  activity(): { busy: boolean; followed: boolean; lastUpdatedAt: string | null } | null {
    if (!this.#room?.running) return null
    const { agentState, sessions } = this.#room
    const { lastUpdatedAt } = this.#room.summary()
    return { busy: agentState === 'running', followed: sessions.count > 0, lastUpdatedAt }
  }

  /** Closes the session in favour of another conversation of the owner, and tells the clients so. */
  async makeWay(): Promise<void> {
    await this.#close(TOO_MANY)
  }

  /**
   * The id of the stored event; `stopped` when the loop takes none, what is full when the owner keeps too much, null for an
   * unknown conversation.
   */
  async addEvent(event: ActionEvent, ref: string | null): Promise<number | 'stopped' | Storage | null> {
    if (this.#room === null) return null
    if (!this.#room.isOpen) await this.#whenOpen(this.#room)
    const full = this.#room?.usage.full ? await this.#room.usage.stillFull() : null
    const room = this.#room
    if (full !== null || room === null) return full
    if (!room.running) return 'stopped'
    const stored = room.receive(event, ref)
    await this.#listed(room)
    return stored
  }

  /** What is full when the owner keeps too much for more files to be taken in; null when there is room. */
  async storageFull(): Promise<Storage | null> {
    return (await this.#room?.usage.stillFull()) ?? null
  }

  /** The answer of the search as JSON text, the events in it exactly as they are stored. */
  searchEvents(page: EventPage): string | null {
    if (this.#room === null) return null
    const { events, hasMore } = this.#room.log.search(page)
    return `{"events":[${events.join(',')}],"has_more":${hasMore}}`
  }

  /** The stored events after the given id, as many as fit into one answer. */
  readEvents(after: number): EventBatch | null {
    return this.#room === null ? null : eventsAfter(this.#room.log, after)
  }

  /** The instruction to remember what happened at an event; `prompt` is null when there is no such event. */
  async rememberPrompt(eventId: number): Promise<{ prompt: string | null } | null> {
    return this.#room === null ? null : { prompt: await this.#room.rememberPrompt(eventId) }
  }

  /** What the agent's loop has, or would have if it were started now. */
  async microagents(): Promise<Microagent[] | null> {
    return this.#room === null ? null : loadMicroagents(this.#room.files, this.#room.noteRoots)
  }

  /** `not-ready` while the workspace is being set up. */
  async listFiles(path: string | null): Promise<string[] | 'not-ready' | null> {
    if (this.#room?.settingUp) return 'not-ready'
    return this.#room === null ? null : listFiles(this.#room.files, path)
  }

  /** What changed in the repositories of the workspace. */
  async gitChanges(): Promise<GitChanges | null> {
    return this.#room === null ? null : this.#room.git.changes()
  }

  async gitDiff(path: string): Promise<GitDiff | null> {
    return this.#room === null ? null : gitDiff(this.#room.git, path)
  }

  async readTextFile(path: string): Promise<TextFile | null> {
    return this.#room === null ? null : readTextFile(this.#room.files, path)
  }

  /**
   * What streams: files that come, the workspace as a ZIP, and a socket of either protocol. `after` is the id of the last
   * event that the client has; `start=false` only watches. 404 when nobody created this conversation.
   */
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/files') return receiveForm(request, this.env, () => this.#room?.files ?? null)
    if (this.#room === null) return new Response(null, { status: 404 })
    if (pathname === '/zip') return sendZip(this.#room.files, request.signal)
    return this.#connect(pathname === '/socket.io' ? 'socket.io' : 'plain', searchParams)
  }

  async #connect(protocol: Newcomer['protocol'], query: URLSearchParams): Promise<Response> {
    const credential = credentialOf(query)
    const permit = await this.#room?.permits.admit(credential.key)
    // It may have been deleted meanwhile.
    const room = this.#room
    if (room === null || permit === undefined) return new Response(null, { status: 404 })
    if (!permit.ok) return Response.json(permit, { status: REFUSED[permit.reason] })
    const started = query.get('start') !== 'false' && room.start()
    const webSocket = room.connect({ protocol, after: Number(query.get('after')), credential })
    if (started) await this.#listed(room)
    return new Response(null, { status: 101, webSocket, headers: { [STARTED_HEADER]: String(started) } })
  }

  /** For the owner's object: the key was revoked, and its sockets go. */
  endKey(key: string): void {
    this.#room?.permits.ended(key)
  }

  /** For the owner's object: what is open here. */
  heldSockets(): { key: string | null; sockets: number }[] {
    return [...(this.#room?.sessions.countByKey() ?? [])].map(([key, sockets]) => ({ key, sockets }))
  }

  /** For the owner's object: something that is masked, or that the shell has, is stored as something else by now. */
  async secretsChanged(): Promise<void> {
    await this.#room?.secretsChanged()
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    const scheduledTime = info?.scheduledTime ?? Date.now()
    if (this.#room !== null && !this.#room.isOpen) await this.#whenOpen(this.#room)
    await this.#room?.fire(scheduledTime)
    const tombstone = this.#tombstone
    if (tombstone !== null) await this.#settle(tombstone)
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    if (this.#room !== null && !this.#room.isOpen) await this.#whenOpen(this.#room)
    this.#room?.messages.receive(socket, data)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#room?.leave(socket)
    socket.close(REPORTING_CODES.has(code) ? 1000 : code)
  }

  override webSocketError(socket: WebSocket, error: unknown): void {
    log.debug('socket.failed', errorFields(error))
    this.#room?.leave(socket)
  }

  /** Whoever makes it, or wants to, waits for the one before. */
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

  /** A new conversation together with its first events, in one write: a crash leaves both or neither. */
  async #begun(creation: Omit<Creation, 'vault'>, begin: (room: Room) => void): Promise<Room> {
    const vault = new Vault(this.env, this.ctx.storage.sql, creation.record)
    return this.ctx.blockConcurrencyWhile(async () => {
      await vault.open()
      const room = new Room(this.ctx, this.env, { ...creation, vault })
      this.#room = room
      this.#tombstone = null
      begin(room)
      return room
    })
  }

  async #receive(request: ForkRequest): Promise<'forked' | NoFork | null> {
    const owed = this.#tombstone
    // What an earlier one still owes waits: its end would take what is being made along.
    this.#tombstone = null
    try {
      const record = await receiveFork({ storage: this.ctx.storage, env: this.env }, request)
      if (record === null || 'reason' in record) {
        if (owed !== null) this.#tombstone = new Tombstone(this.ctx.storage, this.env)
        return record
      }
      const room = await this.#begun({ record, replay: null }, (made) => {
        keepFork(this.ctx.storage, record)
        made.continueFork()
      })
      await this.#listed(room)
      return 'forked'
    } catch (error) {
      // What has come so far goes again.
      this.#tombstone = new Tombstone(this.ctx.storage, this.env)
      throw error
    }
  }

  /** Nobody else gets in between: what comes meanwhile is kept in order. */
  async #whenOpen(room: Room): Promise<void> {
    await this.ctx.blockConcurrencyWhile(() => room.open())
  }

  async #close(notice: Announcement | null): Promise<boolean> {
    const room = this.#room
    if (room === null || !room.stop(notice)) return false
    await this.#listed(room)
    return true
  }

  /** Waits until the index tells what the conversation is now, but not for long, and never fails because of it. */
  async #listed(room: Room): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ctx.waitUntil(room.index.flush(resolve).finally(resolve))
    await waitAtMost(WAIT_MS, promise)
  }

  /** Unless the id was created anew in the meantime: then the alarm and what is stored are the new one's. */
  async #settle(tombstone: Tombstone): Promise<void> {
    const nextAttemptAt = await tombstone.deliver()
    if (this.#tombstone !== tombstone) return
    if (nextAttemptAt !== null) return tombstone.tryAgainAt(nextAttemptAt)
    this.#tombstone = null
    await tombstone.vanish()
  }

  #join(room: Room, message: NewConversation['firstMessage']): Created {
    const started = room.start()
    const wasRunning = !started
    if (message !== null && !wasRunning) {
      room.receive(userMessage(message.content, message.imageUrls, null), null, message.isTask)
    }
    return { status: room.summary().status, started, joined: true, messageDropped: message !== null && wasRunning }
  }
}
