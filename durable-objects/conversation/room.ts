// Everything that a conversation consists of once it exists. The object's class forwards its calls to here; an id that
// nobody created has no room, and asking for it leaves nothing behind.

import { userMessage } from '../../src/agent/actions.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import type { ReplayStep } from '../../src/agent/replay.ts'
import type { AgentState } from '../../src/agent/states.ts'
import { owner, workspacePrefix } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import type { ConversationSummary } from '../../src/db/conversations.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import { WORKSPACE_ROOT } from '../../src/workspace/paths.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import { Alarms } from '../alarms.ts'
import { type Agent, assembleAgent } from './agent-assembly.ts'
import { ClientRefs } from './client-refs.ts'
import type { CommandOutcome } from './command-step.ts'
import { eventsAround, instructionFrom } from './event-extracts.ts'
import { EventLog } from './event-log.ts'
import { ForkSource } from './fork-source.ts'
import { gitAccess } from './git-access.ts'
import { GitIndex } from './git-index.ts'
import { IdleWatch } from './idle-close.ts'
import { IndexRow } from './index-row.ts'
import { type ConversationRecord, Meta } from './meta.ts'
import { Naming } from './naming.ts'
import { ownServers, serversFor } from './own-servers.ts'
import { folderOf, isThere, type SetupOutcome, setUpRepository } from './repository-setup.ts'
import { KEY_REVOKED, KEY_UNCHECKED } from './session-attachment.ts'
import { type Newcomer, Sessions } from './sessions.ts'
import { type Bounds, runCommand, shellCommands } from './shell-commands.ts'
import { SocketMessages } from './socket-messages.ts'
import { SocketPermits } from './socket-permits.ts'
import type { Announcement } from './socket-protocol.ts'
import { summaryOf } from './summary.ts'
import { bury } from './tombstone.ts'
import { UsageReport } from './usage-report.ts'
import { Vault } from './vault.ts'
import { contextOf, noteRootsOf } from './workspace-context.ts'
import { openWorkspace } from './workspace-opening.ts'
import type { WorkspaceStore } from './workspace-store.ts'

type AlarmName = 'title' | 'setup' | 'turn' | 'outbox' | 'sockets' | 'search' | 'idle' | 'expiry'

/** Answered by the runtime, even for an object that sleeps. */
const PING = JSON.stringify({ type: 'ping' })
const PONG = JSON.stringify({ type: 'pong' })

/** From the event that makes it worth while until the text index is filled. */
const SEARCH_DELAY_MS = 1_000
const MAX_PR_NUMBERS = 1_000

/** A conversation that is being made, the recording that it is to play, and its secrets, which are open. */
export type Creation = { record: ConversationRecord; replay: ReplayStep[] | null; vault: Vault }

export class Room {
  readonly log: EventLog
  readonly sessions: Sessions
  readonly permits: SocketPermits
  readonly usage: UsageReport
  readonly messages: SocketMessages
  readonly files: WorkspaceStore
  readonly git: GitIndex
  readonly index: IndexRow
  readonly #env: Env
  readonly #sql: SqlStorage
  readonly #record: Meta<ConversationRecord>
  readonly #alarms: Alarms<AlarmName>
  readonly #agent: Agent
  readonly #vault: Vault
  readonly #naming: Naming
  readonly #idle: IdleWatch
  readonly #refs: ClientRefs
  #setupAbort: AbortController | null = null

  /** Opens what is stored, or with a record what is about to be. */
  constructor(ctx: DurableObjectState, env: Env, created: Creation | null) {
    const { sql } = ctx.storage
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    this.#env = env
    this.#sql = sql
    this.#record = new Meta<ConversationRecord>(sql, 'conversation', created?.record ?? null)
    this.log = new EventLog(sql)
    this.#refs = new ClientRefs(sql, this.log.last)
    this.#alarms = new Alarms(ctx.storage)
    this.permits = this.#permitsFor(ctx)
    this.usage = new UsageReport(ctx, env, this.#record.value)
    this.index = new IndexRow({
      env,
      sql,
      usage: this.usage,
      wakeAt: (at) => this.#alarms.atLatest('outbox', at),
      summary: () => this.summary(),
    })
    this.sessions = new Sessions(ctx, this.log, {
      wakeAt: (at) => this.#alarms.atLatest('sockets', at),
      countChanged: () => this.#countChanged(),
      left: (key) => this.permits.left(key),
      expireAt: (at) => this.#alarms.atLatest('expiry', at),
    })
    this.messages = new SocketMessages(this, config(env).socketMessagesPerSecond)
    this.files = openWorkspace(ctx.storage, env, {
      prefix: workspacePrefix(this.#record.value),
      observe: (path, event) => this.git.note(path, event),
    })
    this.git = new GitIndex({ storage: ctx.storage, fs: this.files })
    this.#vault = created?.vault ?? new Vault(env, sql, this.#record.value)
    this.#naming = new Naming({
      record: this.#record,
      mask: (text) => this.#vault.maskText(text),
      changed: () => this.#announceTitle(),
      wake: () => this.#alarms.atLatest('title', Date.now()),
    })
    this.#agent = this.#assemble(created?.replay ?? null)
    if (created === null) this.#agent.loop.recover()
    this.#idle = new IdleWatch(this, (at) => this.#alarms.at('idle', at), config(env).idleCloseMs)
    if (this.#alarms.get('idle') === null) this.#idle.begin()
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
    this.#agent.loop.begin(this.#record.value.agent ?? 'ShellAgent')
    if (firstMessage !== null) this.#naming.titledBy(userMessage(firstMessage.content, firstMessage.imageUrls, null))
    if (repository === null) this.#finishSetup({ ok: true, folder: WORKSPACE_ROOT, shell: null })
    else this.#alarms.at('setup', Date.now())
    this.index.mark()
  }

  /** The same for a conversation that was forked from another. */
  continueFork(): void {
    this.#record.change({ title: this.#vault.maskText(this.#record.value.title) })
    this.#agent.loop.continueFork(this.#record.value.agent ?? 'ShellAgent')
    this.#alarms.atLatest('turn', Date.now())
    this.index.mark()
  }

  get forkSource(): ForkSource {
    const isQuiet = this.#agent.loop.isQuiet && !this.settingUp
    return new ForkSource({ sql: this.#sql, log: this.log, files: this.files, record: this.#record.value, isQuiet })
  }

  /** The tool servers, sealed for another conversation of the owner's. */
  serversFor(id: string): Promise<string | null> {
    return serversFor(this.#env, this.#record.value, id)
  }

  get agentState(): AgentState {
    return this.#agent.loop.state
  }

  /** Starts the loop of a conversation that was closed; false when it was running. */
  start(): boolean {
    if (this.running) return false
    this.#record.change({ loop: 'running' })
    this.#idle.begin()
    this.#agent.loop.resume()
    const { repository, setup } = this.#record.value
    // A working copy that has gone is fetched again; one that is there keeps what was done in it.
    if (repository !== null && (setup !== 'done' || !isThere(this.files, folderOf(repository)))) {
      this.#record.change({ setup: 'pending' })
      this.#alarms.at('setup', Date.now())
    }
    this.index.mark()
    return true
  }

  /** Closes the session: the agent stops, the clients are told and let go. False when it was not running. */
  stop(notice: Announcement | null = null): boolean {
    if (!this.running) return false
    this.#setupAbort?.abort()
    this.#agent.loop.close(notice?.message)
    if (notice !== null) {
      this.sessions.announce(notice)
      // Clients of the reference show no status of this kind, but the text of this frame.
      this.sessions.announce({ error: true, message: notice.message })
    }
    this.#record.change({ loop: 'stopped' })
    this.sessions.closeAll(notice?.message ?? 'stopped')
    this.index.mark()
    return true
  }

  /** Gives it a title; an empty one brings back the default. */
  rename(title: string): void {
    this.#naming.rename(title)
  }

  /** Notes a pull or merge request that came out of this conversation; each number once, false the next time. */
  addPullRequest(number: number): boolean {
    const known = this.#record.value.prNumbers ?? []
    if (known.includes(number)) return false
    this.#record.change({ prNumbers: [...known, number].slice(-MAX_PR_NUMBERS) })
    this.index.mark()
    return true
  }

  /** Lets go of everything; the room must not be used any more. */
  bury(storage: DurableObjectStorage): void {
    this.stop()
    this.sessions.closeAll('deleted')
    this.#alarms.retire()
    bury(storage, this.#record.value)
  }

  /** Whether it is known what has to be masked now: nothing of a user's may be stored before. */
  get isOpen(): boolean {
    return this.#vault.isOpen
  }

  open(): Promise<void> {
    return this.#vault.open()
  }

  /** Who says something next waits for the new ones; what is under way shows things without being asked. */
  async secretsChanged(): Promise<void> {
    this.#vault.changed()
    if (this.agentState === 'running' || this.settingUp || !this.#agent.loop.isQuiet) await this.#vault.open()
  }

  /** Adds an event of the user's. With a ref that was seen before, adds nothing and tells the id of the first time. */
  receive(event: ActionEvent, ref: string | null, isTask = false): number {
    const known = ref === null ? null : this.#refs.eventOf(ref)
    if (known !== null) return known
    const id = this.#agent.loop.receive(this.#naming.titledBy(event), isTask)
    if (ref !== null) this.#refs.remember(ref, id)
    return id
  }

  summary(): ConversationSummary {
    return summaryOf(this.#record.value, { lastAt: this.log.lastAt, connections: this.sessions.count })
  }

  /** The instruction to remember what happened at an event; null when there is no such event. */
  async rememberPrompt(eventId: number): Promise<string | null> {
    const events = eventsAround(this.log, eventId)
    if (events === null) return null
    await this.open()
    return this.#vault.maskText(await instructionFrom(events, await this.#agent.model()))
  }

  /** Accepts a client that has a permit, and returns its end of the socket. */
  connect(newcomer: Newcomer): WebSocket {
    return this.sessions.accept(newcomer)
  }

  /** To be called when a socket has gone; what it said before counts. */
  leave(socket: WebSocket): void {
    this.permits.behind(this.sessions.keyOf(socket), () => this.sessions.forget(socket))
  }

  async fire(scheduledTime: number): Promise<void> {
    await this.#alarms.fire(scheduledTime, async (name) => {
      if (name === 'turn') await this.#work()
      else if (name === 'outbox') await this.index.deliver()
      else if (name === 'setup') await this.#setUp()
      else if (name === 'search') this.#fillSearch()
      else if (name === 'idle') this.#idle.look()
      else if (name === 'expiry') this.sessions.expire(Date.now())
      else if (name === 'title') await this.#naming.improve(await this.#agent.model())
      else this.sessions.ping(Date.now())
    })
  }

  /** Not in a workspace that is still being made ready: the end of the set-up wakes the loop again. */
  async #work(): Promise<void> {
    if (this.settingUp) return
    await this.#vault.open()
    await this.#agent.loop.work()
  }

  async #setUp(): Promise<void> {
    const { repository } = this.#record.value
    if (repository === null || !this.settingUp) return
    await this.#vault.open()
    this.#setupAbort = new AbortController()
    const { signal } = this.#setupAbort
    this.#report('STATUS$STARTING_RUNTIME', 'Starting')
    this.#report('STATUS$SETTING_UP_WORKSPACE', `Cloning ${repository.name}`)
    const onProgress = (text: string) => this.#report('STATUS$SETTING_UP_WORKSPACE', text)
    const remotes = gitAccess(this.#env, this.#record.value)
    const host = {
      sql: this.#sql,
      emit: (events: NewEvent[]) => this.#emit(events),
      run: (command: string, shell: ShellState, by: Bounds) => this.#runCommand(command, shell, by),
    }
    try {
      const outcome = await setUpRepository({ fs: this.files, repository, remotes, onProgress, signal, host })
      if (!signal.aborted) this.#finishSetup(outcome)
    } catch (error) {
      if (signal.aborted) return
      logger.error('conversation.setup_failed', errorFields(error))
      const reason = `Cloning ${repository.name} failed for a reason of ours; start again.`
      this.#finishSetup({ ok: false, reason, statusId: 'STATUS$ERROR' })
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
      this.#agent.loop.enterFolder(outcome.folder, outcome.shell)
      this.#agent.loop.open(message, firstMessage?.isTask)
      this.#report('STATUS$READY', 'Ready')
    } else {
      this.#agent.loop.fail(outcome.reason, message)
      this.sessions.announce({ status_update: true, type: 'error', id: outcome.statusId, message: outcome.reason })
    }
    this.#alarms.atLatest('turn', Date.now())
    this.index.mark()
  }

  #assemble(replay: ReplayStep[] | null): Agent {
    const { owner, id } = this.#record.value
    return assembleAgent({
      env: this.#env,
      sql: this.#sql,
      owner,
      conversationId: id,
      log: this.log,
      files: this.files,
      vault: this.#vault,
      emit: (events) => this.#emit(events),
      wake: (at) => this.#alarms.atLatest('turn', at),
      runCommand: (command, shell, signal) =>
        this.#runCommand(command, shell, { signal, timeoutMs: config(this.#env).shellTimeoutMs }),
      context: (workingDir) => contextOf(this.#record.value, { workingDir, secrets: this.#vault.descriptions }),
      commands: () => shellCommands(this.#env, this.#record.value),
      ownServers: () => ownServers(this.#env, this.#record.value),
      notePullRequest: (number) => void this.addPullRequest(number),
      stream: (frame) => this.sessions.stream(JSON.stringify(frame)),
      announce: (frame) => this.sessions.announce(frame),
      isFollowed: () => this.sessions.hasListener,
      noteRoots: () => this.noteRoots,
      replay,
    })
  }

  /** Where notes for the agent may lie. */
  get noteRoots(): string[] {
    return noteRootsOf(this.#record.value)
  }

  #permitsFor(ctx: DurableObjectState): SocketPermits {
    const holder = ctx.id.toString()
    return new SocketPermits({
      ask: (claim) => owner(this.#env, this.#record.value.owner).holdSockets({ ...claim, holder }),
      count: (key) => this.sessions.countByKey().get(key) ?? 0,
      close: (key, why) => this.sessions.closeKey(key, why === 'ended' ? KEY_REVOKED : KEY_UNCHECKED),
      wait: (work) => ctx.waitUntil(work),
    })
  }

  #report(id: string, message: string): void {
    this.sessions.announce({ status_update: true, type: 'info', id, message })
  }

  #emit(events: NewEvent[]): number {
    const first = this.log.last + 1
    this.sessions.broadcast(this.log.append(events.map((event) => this.#vault.mask(event))))
    this.index.mark()
    if (this.log.isIndexDue) this.#alarms.atLatest('search', Date.now() + SEARCH_DELAY_MS)
    return first
  }

  #fillSearch(): void {
    const restMs = this.log.fillIndex(Date.now())
    if (restMs !== null) this.#alarms.at('search', Date.now() + restMs)
  }

  async #runCommand(command: string, shell: ShellState, by: Bounds): Promise<CommandOutcome> {
    await this.#vault.open()
    const of = this.#record.value
    return runCommand({ env: this.#env, of, files: this.files, vault: this.#vault }, { command, shell, ...by })
  }

  #countChanged(): void {
    this.index.mark()
    if (this.sessions.count === 0) this.#idle.begin()
  }

  #announceTitle(): void {
    const { id, title } = this.summary()
    this.sessions.announce({ status_update: true, type: 'info', message: id, conversation_title: title })
    this.index.mark()
  }
}
