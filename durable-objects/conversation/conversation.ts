import { DurableObject } from 'cloudflare:workers'
import { userMessage } from '../../src/agent/actions.ts'
import type { ActionEvent } from '../../src/agent/events.ts'
import type { Microagent } from '../../src/agent/microagents.ts'
import { config } from '../../src/config.ts'
import type { ConversationSummary } from '../../src/db/conversations.ts'
import { hexId } from '../../src/lib/ids.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { listFiles } from '../../src/workspace/listing.ts'
import { WORKSPACE_ROOT } from '../../src/workspace/paths.ts'
import { readTextFile, type TextFile } from '../../src/workspace/reading.ts'
import { storeUploads, type UploadReport } from '../../src/workspace/uploads.ts'
import { firstRow, migrate } from '../sql.ts'
import { type EventBatch, eventsAfter, promptAround } from './event-extracts.ts'
import type { EventPage } from './event-search.ts'
import { type GitDiff, gitDiff } from './git-diff.ts'
import type { GitChanges } from './git-index.ts'
import { type ConversationRecord, holdsConversation } from './meta.ts'
import { loadMicroagents } from './microagent-files.ts'
import { Room } from './room.ts'
import { MIGRATIONS } from './schema.ts'
import { Tombstone } from './tombstone.ts'
import { sendZip } from './workspace-transfers.ts'

export type NewConversation = Pick<
  ConversationRecord,
  'id' | 'owner' | 'trigger' | 'createdAt' | 'instructions' | 'repository' | 'firstMessage'
>

export type Created = {
  status: ConversationSummary['status']
  started: boolean
  joined: boolean
  messageDropped: boolean
}

/** Close codes that only report; they must not be sent. */
const REPORTING_CODES = new Set([1004, 1005, 1006, 1015])

/** Tells the Worker, not the client, that connecting has started the loop. */
const STARTED_HEADER = 'x-loop-started'

const TOO_MANY = {
  status_update: true,
  type: 'error',
  id: 'AGENT_ERROR$TOO_MANY_CONVERSATIONS',
  message: 'This conversation was closed because too many are running; start it again when you need it',
} as const

/** How long its maker waits for the new conversation to stand in the index. */
const INDEX_WAIT_MS = 100
/** How long a deletion waits for the index and the files to be rid of the conversation. */
const PURGE_WAIT_MS = 2_000
const MAX_UPLOADED_FILES = 1_000

/** One conversation of one owner: its event log, its sockets, its agent and its workspace. */
export class Conversation extends DurableObject<Env> {
  /** Null while nobody has created this id, or once it is deleted. */
  #room: Room | null = null
  /** What a deleted conversation still owes; null when there is nothing. */
  #tombstone: Tombstone | null = null

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
  async create(given: NewConversation): Promise<Created> {
    if (this.#room !== null) return this.#join(this.#room, given.firstMessage)
    migrate(this.ctx.storage, MIGRATIONS)
    const fresh = { incarnation: hexId(), title: '', titledAt: null, loop: 'running', setup: 'pending' } as const
    const room = new Room(this.ctx, this.env, { ...given, ...fresh })
    this.#room = room
    this.#tombstone = null
    room.begin()
    await Promise.race([room.deliverIndex(), scheduler.wait(INDEX_WAIT_MS)])
    return { status: room.summary().status, started: true, joined: false, messageDropped: false }
  }

  /** Removes the conversation and all that it holds; false when there is none. */
  async delete(): Promise<boolean> {
    if (this.#room === null) return false
    this.#room.bury(this.ctx.storage)
    this.#room = null
    const tombstone = new Tombstone(this.ctx.storage, this.env)
    this.#tombstone = tombstone
    await Promise.race([this.#settle(tombstone), scheduler.wait(PURGE_WAIT_MS)])
    return true
  }

  summary(): ConversationSummary | null {
    return this.#room?.summary() ?? null
  }

  /** Null for an unknown conversation. */
  rename(title: string): true | null {
    this.#room?.rename(title)
    return this.#room === null ? null : true
  }

  /** Starts the loop unless it runs; null for an unknown conversation. */
  start(): { started: boolean; status: ConversationSummary['status'] } | null {
    const started = this.#room?.start()
    return started === undefined || this.#room === null ? null : { started, status: this.#room.summary().status }
  }

  /** Closes the session; false when it was not running, or there is none. */
  stop(): boolean {
    return this.#room?.stop() ?? false
  }

  /** How busy the loop is; null when it is not running. */
  activity(): { busy: boolean; lastUpdatedAt: string | null } | null {
    if (!this.#room?.running) return null
    return { busy: this.#room.agentState === 'running', lastUpdatedAt: this.#room.summary().lastUpdatedAt }
  }

  /** Closes the session in favour of another conversation of the owner, and tells the clients so. */
  makeWay(): void {
    this.#room?.stop(TOO_MANY)
  }

  /** The id of the stored event; `stopped` when the loop takes none, null for an unknown conversation. */
  addEvent(event: ActionEvent, ref: string | null): number | 'stopped' | null {
    if (this.#room === null) return null
    return this.#room.running ? this.#room.receive(event, ref) : 'stopped'
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
  rememberPrompt(eventId: number): { prompt: string | null } | null {
    return this.#room === null ? null : { prompt: promptAround(this.#room.log, eventId) }
  }

  /** What the agent's loop has, or would have if it were started now. */
  async microagents(): Promise<Microagent[] | null> {
    return this.#room === null ? null : loadMicroagents(this.#room.files, [WORKSPACE_ROOT])
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

  async storeUploads(files: { name: string; bytes: Uint8Array }[]): Promise<UploadReport | null> {
    const { maxFileBytes, maxUploadBytes } = config(this.env)
    const limits = { maxFileBytes, maxTotalBytes: maxUploadBytes, maxFiles: MAX_UPLOADED_FILES }
    return this.#room === null ? null : storeUploads(this.#room.files, files, limits)
  }

  /**
   * What streams: the workspace as a ZIP, and a socket of either protocol. `after` is the id of the last event that the client has; `start=false` only watches.
   * 404 when nobody created this conversation.
   */
  override async fetch(request: Request): Promise<Response> {
    if (this.#room === null) return new Response(null, { status: 404 })
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/zip') return sendZip(this.#room.files, request.signal)
    const started = searchParams.get('start') !== 'false' && this.#room.start()
    const protocol = pathname === '/socket.io' ? 'socket.io' : 'plain'
    const webSocket = this.#room.connect(protocol, Number(searchParams.get('after')))
    return new Response(null, { status: 101, webSocket, headers: { [STARTED_HEADER]: String(started) } })
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    const scheduledTime = info?.scheduledTime ?? Date.now()
    await this.#room?.fire(scheduledTime)
    const tombstone = this.#tombstone
    if (tombstone !== null) await this.#settle(tombstone)
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    this.#room?.messages.receive(socket, data)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#leave(socket)
    socket.close(REPORTING_CODES.has(code) ? 1000 : code)
  }

  override webSocketError(socket: WebSocket, error: unknown): void {
    log.debug('socket.failed', errorFields(error))
    this.#leave(socket)
  }

  #leave(socket: WebSocket): void {
    this.#room?.sessions.forget(socket)
  }

  async #settle(tombstone: Tombstone): Promise<void> {
    if (await tombstone.deliver()) await this.#vanish(tombstone)
  }

  /** Unless the id was created anew in the meantime. */
  async #vanish(tombstone: Tombstone): Promise<void> {
    if (this.#tombstone !== tombstone) return
    this.#tombstone = null
    await tombstone.vanish()
  }

  #join(room: Room, message: NewConversation['firstMessage']): Created {
    const started = room.start()
    const wasRunning = !started
    if (message !== null && !wasRunning) room.receive(userMessage(message.content, message.imageUrls, null), null)
    return { status: room.summary().status, started, joined: true, messageDropped: message !== null && wasRunning }
  }
}
