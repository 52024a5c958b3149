// Everything that a conversation consists of once it exists. The object's class forwards its calls to here; an id that
// nobody created has no room, and asking for it leaves nothing behind.

import { userMessage } from '../../src/agent/actions.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import type { AgentState } from '../../src/agent/states.ts'
import { workspacePrefix } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { type ConversationSummary, saveConversation } from '../../src/db/conversations.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import { gitCommand } from '../../src/workspace/git.ts'
import { WORKSPACE_ROOT } from '../../src/workspace/paths.ts'
import { runScript } from '../../src/workspace/shell.ts'
import { Alarms } from '../alarms.ts'
import { Outbox } from '../outbox.ts'
import { firstRow } from '../sql.ts'
import { AgentLoop, type CommandOutcome, NEW_TURN } from './agent-loop.ts'
import { EventLog } from './event-log.ts'
import { GitIndex } from './git-index.ts'
import { type ConversationRecord, Meta, type Turn } from './meta.ts'
import { folderOf, isThere, type SetupOutcome, setUpRepository } from './repository-setup.ts'
import { Sessions } from './sessions.ts'
import { SocketMessages } from './socket-messages.ts'
import type { Announcement } from './socket-protocol.ts'
import { bury, PURGE, purge } from './tombstone.ts'
import { WorkspaceStore } from './workspace-store.ts'

type AlarmName = 'setup' | 'turn' | 'outbox' | 'sockets' | 'search'

/** Answered by the runtime, even for an object that sleeps. */
const PING = JSON.stringify({ type: 'ping' })
const PONG = JSON.stringify({ type: 'pong' })

/** Changes within this time reach the index as one write. */
const INDEX_DELAY_MS = 1_000
/** Between two pieces of the text index. */
const SEARCH_REST_MS = 20
const MAX_REFS = 10_000
const TITLE_LENGTH = 30

export class Room {
  readonly log: EventLog
  readonly sessions: Sessions
  readonly messages: SocketMessages
  readonly files: WorkspaceStore
  readonly git: GitIndex
  readonly #env: Env
  readonly #sql: SqlStorage
  readonly #record: Meta<ConversationRecord>
  readonly #alarms: Alarms<AlarmName>
  readonly #outbox: Outbox
  readonly #loop: AgentLoop
  #indexDirty = false
  #setupAbort: AbortController | null = null

  /** Opens what is stored, or with a record what is about to be. */
  constructor(ctx: DurableObjectState, env: Env, created: ConversationRecord | null) {
    const { sql } = ctx.storage
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    this.#env = env
    this.#sql = sql
    this.#record = new Meta<ConversationRecord>(sql, 'conversation', created)
    this.log = new EventLog(sql)
    this.#alarms = new Alarms(ctx.storage)
    this.#outbox = new Outbox(sql)
    this.sessions = new Sessions(ctx, this.log, {
      wakeAt: (at) => this.#alarms.atLatest('sockets', at),
      countChanged: () => this.#markIndex(),
    })
    this.messages = new SocketMessages(this, config(env).socketMessagesPerSecond)
    this.files = this.#openFiles(ctx.storage)
    this.git = new GitIndex({ storage: ctx.storage, fs: this.files })
    this.#loop = new AgentLoop({
      log: this.log,
      turn: new Meta<Turn>(sql, 'turn', NEW_TURN),
      emit: (events) => this.#emit(events),
      wake: () => this.#alarms.atLatest('turn', Date.now()),
      runCommand: (command, shell, signal) => this.#runCommand(command, shell, signal),
      context: () => this.#context(),
    })
    if (created === null) this.#loop.recover()
  }

  get running(): boolean {
    return this.#record.value.loop === 'running'
  }

  /** Whether the workspace is still being made ready. */
  get settingUp(): boolean {
    return this.running && this.#record.value.setup === 'pending'
  }

  begin(): void {
    const { firstMessage, repository } = this.#record.value
    this.#loop.begin()
    if (firstMessage !== null) this.#titledBy(userMessage(firstMessage.content, firstMessage.imageUrls, null))
    if (repository === null) this.#finishSetup({ ok: true, folder: WORKSPACE_ROOT })
    else this.#alarms.at('setup', Date.now())
    this.#markIndex()
  }

  get agentState(): AgentState {
    return this.#loop.state
  }

  /** Starts the loop of a conversation that was closed; false when it was running. */
  start(): boolean {
    if (this.running) return false
    this.#record.change({ loop: 'running' })
    this.#loop.resume()
    const { repository, setup } = this.#record.value
    // A working copy that has gone is fetched again; one that is there keeps what was done in it.
    if (repository !== null && (setup !== 'done' || !isThere(this.files, folderOf(repository)))) {
      this.#record.change({ setup: 'pending' })
      this.#alarms.at('setup', Date.now())
    }
    this.#markIndex()
    return true
  }

  /** Closes the session: the agent stops, the clients are told and let go. False when it was not running. */
  stop(notice: Announcement | null = null): boolean {
    if (!this.running) return false
    this.#setupAbort?.abort()
    this.#loop.close()
    if (notice !== null) this.sessions.announce(notice)
    this.#record.change({ loop: 'stopped' })
    this.sessions.closeAll('stopped')
    this.#markIndex()
    return true
  }

  /** Gives it a title; an empty one brings back the default. */
  rename(title: string): void {
    this.#record.change({ title, titledAt: isoMicros(Date.now()) })
    this.#announceTitle()
    this.#markIndex()
  }

  /** Lets go of everything; the room must not be used any more. */
  bury(storage: DurableObjectStorage): void {
    this.stop()
    this.sessions.closeAll('deleted')
    this.#alarms.retire()
    bury(storage, this.#record.value)
  }

  /** Adds an event of the user's. With a ref that was seen before, adds nothing and tells the id of the first time. */
  receive(event: ActionEvent, ref: string | null): number {
    const known = ref === null ? null : this.#eventOf(ref)
    if (known !== null) return known
    const id = this.#loop.receive(this.#titledBy(event))
    if (ref !== null) this.#remember(ref, id)
    return id
  }

  summary(): ConversationSummary {
    const { id, owner, title, trigger, createdAt, titledAt, repository, setup } = this.#record.value
    const { lastAt } = this.log
    return {
      id,
      owner,
      title: title === '' ? `Conversation ${id.slice(0, 5)}` : title,
      createdAt,
      lastUpdatedAt: titledAt !== null && (lastAt === null || titledAt > lastAt) ? titledAt : lastAt,
      status: this.running ? (setup === 'pending' ? 'STARTING' : 'RUNNING') : 'STOPPED',
      runtimeStatus: this.running ? (setup === 'pending' ? 'STATUS$STARTING_RUNTIME' : 'STATUS$READY') : null,
      selectedRepository: repository?.name ?? null,
      selectedBranch: repository?.branch ?? null,
      gitProvider: repository?.provider ?? null,
      trigger,
      numConnections: this.sessions.count,
      prNumber: [],
    }
  }

  /** Accepts a client that has everything up to `after`, and returns its end of the socket. */
  connect(protocol: 'plain' | 'socket.io', after: number): WebSocket {
    return this.sessions.accept(protocol, after)
  }

  async fire(scheduledTime: number): Promise<void> {
    await this.#alarms.fire(scheduledTime, async (name) => {
      if (name === 'turn') await this.#loop.work()
      else if (name === 'outbox') await this.deliverIndex()
      else if (name === 'setup') await this.#setUp()
      else if (name === 'search') this.#fillSearch()
      else this.sessions.ping(Date.now())
    })
  }

  /** Brings the row in the index up to date; on failure the alarm tries again. */
  async deliverIndex(): Promise<void> {
    const { nextAttemptAt } = await this.#outbox.deliver(async (entry) => {
      if (entry.kind === PURGE) return purge(this.#env, entry)
      this.#indexDirty = false
      await saveConversation(this.#env.DB, this.summary(), this.#revision(entry.seq))
    })
    if (nextAttemptAt !== null) this.#alarms.atLatest('outbox', nextAttemptAt)
  }

  async #setUp(): Promise<void> {
    const { repository } = this.#record.value
    if (repository === null || !this.settingUp) return
    this.#setupAbort = new AbortController()
    const { signal } = this.#setupAbort
    this.#report('STATUS$STARTING_RUNTIME', 'Starting')
    this.#report('STATUS$SETTING_UP_WORKSPACE', `Cloning ${repository.name}`)
    const onProgress = (text: string) => this.#report('STATUS$SETTING_UP_WORKSPACE', text)
    const remotes = { policy: config(this.#env).addressPolicy }
    try {
      const outcome = await setUpRepository({ fs: this.files, repository, remotes, onProgress, signal })
      if (!signal.aborted) this.#finishSetup(outcome)
    } catch (error) {
      if (signal.aborted) return
      logger.error('conversation.setup_failed', errorFields(error))
      this.#finishSetup({ ok: false, reason: `Cloning ${repository.name} failed for a reason of ours; start again.` })
    } finally {
      this.#setupAbort = null
    }
  }

  /** The end of the set-up, and with it what waited for it, in one write. */
  #finishSetup(outcome: SetupOutcome): void {
    const { firstMessage } = this.#record.value
    const message = firstMessage && userMessage(firstMessage.content, firstMessage.imageUrls, null)
    this.#record.change({ setup: outcome.ok ? 'done' : 'failed', firstMessage: null })
    if (outcome.ok) {
      this.#loop.enterFolder(outcome.folder)
      this.#loop.open(message)
      this.#report('STATUS$READY', 'Ready')
    } else {
      this.#loop.fail(outcome.reason, message)
      this.sessions.announce({ status_update: true, type: 'error', id: 'STATUS$ERROR', message: outcome.reason })
    }
    this.#markIndex()
  }

  #context() {
    const { instructions, repository } = this.#record.value
    const known = repository && {
      name: repository.name,
      directory: folderOf(repository),
      branch: repository.branch ?? '',
    }
    return { conversationInstructions: instructions, repository: known }
  }

  #report(id: string, message: string): void {
    this.sessions.announce({ status_update: true, type: 'info', id, message })
  }

  #openFiles(storage: DurableObjectStorage): WorkspaceStore {
    const { maxFileBytes, maxWorkspaceBytes } = config(this.#env)
    const limits = { maxFileBytes, maxTotalBytes: maxWorkspaceBytes, maxFiles: 100_000 }
    return new WorkspaceStore({
      storage,
      bucket: this.#env.FILES,
      prefix: workspacePrefix(this.#record.value),
      limits,
      observe: (path, event) => this.git.note(path, event),
    })
  }

  #emit(events: NewEvent[]): number {
    const first = this.log.last + 1
    this.sessions.broadcast(this.log.append(events))
    this.#markIndex()
    if (this.log.isIndexDue) this.#alarms.atLatest('search', Date.now() + SEARCH_REST_MS)
    return first
  }

  /** A piece of the text index at a time, with rests between: whoever waits for an answer does not notice. */
  #fillSearch(): void {
    if (this.log.fillIndex()) this.#alarms.at('search', Date.now() + SEARCH_REST_MS)
  }

  async #runCommand(command: string, shell: Turn['shell'], signal: AbortSignal): Promise<CommandOutcome> {
    const limits = { timeoutMs: config(this.#env).shellTimeoutMs }
    const commands = [gitCommand({ policy: config(this.#env).addressPolicy })]
    return runScript({ fs: this.files, script: command, ...shell, commands, signal, limits })
  }

  /** Grows from write to write, and from one conversation of this id to the next. */
  #revision(seq: number): number {
    return Math.floor(Date.parse(this.#record.value.createdAt) / 1000) * 1_000_000 + seq
  }

  /** The row is built when it is sent, so one mark covers whatever changes until then. */
  #markIndex(): void {
    if (this.#indexDirty) return
    this.#indexDirty = true
    this.#outbox.put('index', '', '')
    this.#alarms.atLatest('outbox', Date.now() + INDEX_DELAY_MS)
  }

  /** The first message names the conversation until somebody finds a better title. */
  #titledBy(event: ActionEvent): ActionEvent {
    const text = event.action === 'message' ? String(event.args.content).trim() : ''
    if (this.#record.value.title !== '' || text === '') return event
    const line = text.replace(/\s+/g, ' ')
    const characters = [...line]
    const title = characters.length > TITLE_LENGTH ? `${characters.slice(0, TITLE_LENGTH).join('')}...` : line
    this.#record.change({ title, titledAt: isoMicros(Date.now()) })
    this.#announceTitle()
    return event
  }

  #announceTitle(): void {
    const { id, title } = this.summary()
    this.sessions.announce({ status_update: true, type: 'info', message: id, conversation_title: title })
  }

  #eventOf(ref: string): number | null {
    const row = firstRow<{ event_id: number }>(this.#sql, 'SELECT event_id FROM client_refs WHERE ref = ?', ref)
    return row?.event_id ?? null
  }

  #remember(ref: string, eventId: number): void {
    this.#sql.exec('INSERT INTO client_refs (ref, event_id) VALUES (?, ?)', ref, eventId)
    this.#sql.exec(
      `DELETE FROM client_refs WHERE event_id <= (
         SELECT event_id FROM client_refs ORDER BY event_id DESC LIMIT 1 OFFSET ?)`,
      MAX_REFS,
    )
  }
}
