// All parts of a conversation that exists, wired together. An id that nobody created has no state, and a request for it
// stores nothing.

import { placeNote } from '../../src/agent/actions.ts'
import { renewLimit } from '../../src/agent/context/limits.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import { AgentLoop } from '../../src/agent/loop.ts'
import type { ReplayStep } from '../../src/agent/trajectory.ts'
import { NEW_TURN, type Turn } from '../../src/agent/turn.ts'
import type { TurnDeps } from '../../src/agent/turn-deps.ts'
import { WatchedTurn } from '../../src/agent/turn-trace.ts'
import { owner, workspacePrefix } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import type { ChatSession, ConversationSummary } from '../../src/db/conversations.ts'
import { hexId } from '../../src/lib/crypto.ts'
import { errorFields, type LogContext, log } from '../../src/lib/log.ts'
import { traceIdOf } from '../../src/lib/otlp.ts'
import { COST_MS, shares } from '../../src/limits/share.ts'
import type { CallNote } from '../../src/llm/metrics.ts'
import { Alarms } from '../alarms.ts'
import { SpanStore } from '../span-store.ts'
import { StoredRecord } from '../stored-record.ts'
import { ClientRefs } from './events/client-refs.ts'
import { EventLog } from './events/event-log.ts'
import { IndexRow } from './lifecycle/index-row.ts'
import { Opening } from './lifecycle/opening.ts'
import { summaryOf } from './lifecycle/summary.ts'
import { TitleGenerator } from './lifecycle/title-generator.ts'
import { UsageReport } from './lifecycle/usage-report.ts'
import { WorkspaceSetup } from './lifecycle/workspace-setup.ts'
import type { ConversationRecord } from './schema.ts'
import { KEY_REVOKED, KEY_UNCHECKED } from './sockets/session-attachment.ts'
import { Sessions } from './sockets/sessions.ts'
import { type SocketLimits, SocketMessages } from './sockets/socket-messages.ts'
import { SocketPermits } from './sockets/socket-permits.ts'
import { Talk } from './talk/talk.ts'
import { CallBudget } from './turn/call-budget.ts'
import { CallQueue } from './turn/call-queue.ts'
import { ReplayQueue } from './turn/replay-queue.ts'
import { ConversationRunner } from './turn/runner/conversation-runner.ts'
import { credentialAt, isGitHostOf } from './turn/runner/credentials.ts'
import { TreeChanges } from './turn/runner/tree-changes.ts'
import { SecretMasker } from './turn/secret-masker.ts'
import { Standing } from './turn/standing.ts'
import { turnDeps } from './turn/turn-deps.ts'
import type { TurnHost } from './turn/turn-host.ts'
import { ChangedFiles } from './workspace/changed-files.ts'
import { openWorkspace } from './workspace/opening.ts'
import type { WorkspaceStore } from './workspace/store.ts'

export type AlarmName =
  | 'title'
  | 'setup'
  | 'turn'
  | 'outbox'
  | 'sockets'
  | 'search'
  | 'idle'
  | 'expiry'
  | 'deadline'
  | 'spans'

/** Answered by the runtime, even for an object that sleeps. */
const PING = JSON.stringify({ type: 'ping' })
const PONG = JSON.stringify({ type: 'pong' })

/**
 * The delay of the alarm that fills the text index. The alarm is set from the first event that makes the index
 * worthwhile until the index is complete.
 */
const SEARCH_DELAY_MS = 1_000
const EVENTS_UNASKED = 100
const MAX_PR_NUMBERS = 1_000

/** A conversation that is being created, the recording that it is to play, and its secrets in plain text. */
export type Creation = { record: ConversationRecord; replay: ReplayStep[] | null; secrets: SecretMasker }

export class ConversationState {
  readonly record: StoredRecord<ConversationRecord>
  readonly log: EventLog
  readonly alarms: Alarms<AlarmName>
  readonly secrets: SecretMasker
  readonly sessions: Sessions
  readonly permits: SocketPermits
  readonly messages: SocketMessages
  readonly files: WorkspaceStore
  readonly changedFiles: ChangedFiles
  readonly runner: ConversationRunner
  readonly usage: UsageReport
  readonly spans: SpanStore
  readonly index: IndexRow
  readonly titles: TitleGenerator
  readonly turn: TurnDeps
  readonly loop: AgentLoop
  readonly setup: WorkspaceSetup
  readonly opening: Opening
  /** Null unless it is a talk about reports. */
  readonly talk: Talk | null
  /** For requests that wait until the agent is at rest. */
  readonly standing: Standing
  readonly #refs: ClientRefs
  /** Events before this id do not check whether the index alarm is set, because each check costs time in a burst of events. */
  #indexPlannedTo = 0

  /** Opens the stored conversation, or with a record a new one. */
  constructor(ctx: DurableObjectState, env: Env, created: Creation | null) {
    const { storage } = ctx
    const { sql } = storage
    const { idleCloseMs } = config(env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    this.record = new StoredRecord<ConversationRecord>(sql, 'conversation', created?.record ?? null)
    this.log = new EventLog(sql)
    this.#refs = new ClientRefs(sql, this.log.last)
    this.alarms = new Alarms(storage)
    this.spans = new SpanStore({ sql, env, wakeAt: (at) => this.alarms.atLatest('spans', at) })
    this.secrets = created?.secrets ?? new SecretMasker(env, sql, this.record.value)
    this.permits = this.#permits(ctx, env)
    this.usage = new UsageReport(ctx, env, this.record.value)
    this.index = this.#openIndex(env, sql)
    this.sessions = this.#openSessions(ctx)
    this.messages = new SocketMessages(this, socketLimits(env, this.record))
    const changes = new TreeChanges(sql)
    this.files = openWorkspace(storage, env, {
      prefix: workspacePrefix(this.record.value),
      observe: (path, event) => {
        this.changedFiles.note(path, event)
        changes.note(path, event)
      },
    })
    this.changedFiles = new ChangedFiles({ storage, fs: this.files })
    this.runner = this.#openRunner(ctx, env, changes)
    this.titles = this.#openTitles()
    this.talk = this.record.value.talk === undefined ? null : this.#openTalk(sql)
    const host = this.#turnHost(env, sql)
    const replay = new ReplayQueue(sql, host.calls, created?.replay ?? null)
    this.turn = turnDeps(host, replay)
    this.loop = new AgentLoop(this.turn)
    this.standing = new Standing(this.turn, this.log)
    const { turn, loop, index, titles } = this
    this.setup = new WorkspaceSetup({ sql, host, turn, changed: () => index.mark() })
    const alarmAt = (name: 'setup' | 'idle', at: number) => this.alarms.at(name, at)
    this.opening = new Opening({ host, turn, loop, setup: this.setup, index, titles, alarmAt, idleCloseMs })
    if (created === null) loop.recover()
    if (this.alarms.get('idle') === null) this.opening.idle.begin()
  }

  #openIndex(env: Env, sql: SqlStorage): IndexRow {
    const wakeAt = (at: number) => this.alarms.atLatest('outbox', at)
    const talk = () => this.#talkRow()
    return new IndexRow({ env, sql, usage: this.usage, wakeAt, summary: () => this.summary(), talk })
  }

  /** Adds an event of the user. An event with a ref is added only once. */
  receive(event: ActionEvent, ref: string | null, isTask = false): number | 'other_event' {
    return this.#refs.once(ref, event, () => this.loop.receive(this.titles.titledBy(event), isTask))
  }

  summary(): ConversationSummary {
    const { log, sessions, loop } = this
    return summaryOf(this.record.value, { lastAt: log.lastAt, connections: sessions.count, agentState: loop.state })
  }

  /** Records a pull or merge request of this conversation. True the first time a number is recorded, false after that. */
  addPullRequest(number: number): boolean {
    const known = this.record.value.prNumbers ?? []
    if (known.includes(number)) return false
    this.record.change({ prNumbers: [...known, number].slice(-MAX_PR_NUMBERS) })
    this.index.mark()
    return true
  }

  fillSearch(): void {
    this.#indexPlannedTo = 0
    const restMs = this.log.fillIndex(Date.now())
    if (restMs !== null) this.alarms.at('search', Date.now() + restMs)
  }

  #turnHost(env: Env, sql: SqlStorage): TurnHost {
    const { record, log, files, secrets, sessions, runner, talk } = this
    const calls = new CallQueue(sql)
    return {
      env,
      talk,
      runner,
      budget: this.#openBudget(env, sql),
      record,
      log,
      turn: watchedTurn(this, sql, calls),
      calls,
      files,
      secrets,
      sessions,
      emit: (events) => this.#emit(events),
      wake: (at) => this.alarms.atLatest('turn', at),
      noteCall: (note) => this.#noteCall(note),
      notePullRequest: (number) => void this.addPullRequest(number),
    }
  }

  /** The fields that every log line of this conversation has. */
  readonly logContext: LogContext = {
    ids: () => {
      const traceId = this.turn.turn.value.trace?.id ?? null
      return { conversation: this.record.value.id, ...(traceId === null ? {} : { traceId }) }
    },
    mask: (text) => this.secrets.maskText(text),
  }

  #openBudget(env: Env, sql: SqlStorage): CallBudget {
    const { owner: of, id, incarnation } = this.record.value
    return new CallBudget({
      sql,
      prefix: `${id}:${incarnation}`,
      ask: (...call) => owner(env, of).reserveCall(...call),
      owe: (call, used) => this.index.noteSpending({ owner: of, id: call, used }),
    })
  }

  #emit(events: NewEvent[]): number {
    const first = this.log.last + 1
    const stored = this.log.append(events.map((event) => this.secrets.mask(event)))
    this.sessions.broadcast(stored)
    this.index.mark()
    if (this.log.last >= this.#indexPlannedTo && this.log.isIndexDue) {
      this.#indexPlannedTo = this.log.last + EVENTS_UNASKED
      this.alarms.atLatest('search', Date.now() + SEARCH_DELAY_MS)
    }
    this.talk?.watch(stored)
    this.standing.wake()
    return first
  }

  #noteCall({ at, model, promptTokens, completionTokens, isEstimated }: CallNote): void {
    const stockCode = this.talk?.codes[0] ?? null
    const used = { at, model, stockCode, promptTokens, completionTokens, isEstimated }
    try {
      this.index.noteCall({ owner: this.record.value.owner, key: hexId(), type: 'agent', ...used })
    } catch (error) {
      // The conversation was deleted during the model call.
      log.warn('conversation.call_not_noted', errorFields(error))
    }
  }

  #openTalk(sql: SqlStorage): Talk {
    return new Talk({
      sql,
      log: this.log,
      emit: (events) => this.#emit(events),
      renewLimit: () => renewLimit(this.turn.turn),
      receive: (event) => this.loop.receive(event),
      expireAt: (at) => (at === null ? this.alarms.clear('deadline') : this.alarms.at('deadline', at)),
    })
  }

  #talkRow(): ChatSession | null {
    const { talk, owner, id, title, createdAt } = this.record.value
    if (talk === undefined || this.talk === null) return null
    const messages = this.talk.messageCount
    const lastActive = this.log.lastAt ?? createdAt
    return { owner, session: talk.session, conversation: id, title, messages, createdAt, lastActive }
  }

  #openSessions(ctx: DurableObjectState): Sessions {
    return new Sessions(ctx, this.log, {
      wakeAt: (at) => this.alarms.atLatest('sockets', at),
      countChanged: () => {
        this.index.mark()
        if (this.sessions.count === 0) this.opening.idle.begin()
      },
      left: (key) => this.permits.left(key),
      expireAt: (at) => this.alarms.atLatest('expiry', at),
      sent: (what, count) => charge(this.record, what, count),
    })
  }

  #permits(ctx: DurableObjectState, env: Env): SocketPermits {
    const holder = ctx.id.toString()
    return new SocketPermits({
      ask: (claim) => owner(env, this.record.value.owner).holdSockets({ ...claim, holder }),
      count: (key) => (this.sessions.countByKey().get(key) ?? 0) + this.runner.terminal.viewers.countOf(key),
      close: (key, why) => {
        const goodbye = why === 'ended' ? KEY_REVOKED : KEY_UNCHECKED
        this.sessions.close(({ attachment }) => attachment.key === key, goodbye)
        this.runner.terminal.viewers.close(({ attachment }) => attachment.key === key, goodbye)
      },
      wait: (work) => ctx.waitUntil(work),
    })
  }

  #openRunner(ctx: DurableObjectState, env: Env, changes: TreeChanges): ConversationRunner {
    return new ConversationRunner({
      ctx,
      env,
      changes,
      whose: this.record.value,
      wish: () => this.record.value.runtime ?? { kind: 'auto', labels: [] },
      files: this.files,
      maskText: (text) => this.secrets.maskText(text),
      credential: (ask) => credentialAt(env, this.record.value.owner, ask),
      isGitHost: (ask) => isGitHostOf(env, this.record.value, ask),
      tell: (text) => void this.#emit([placeNote(text)]),
      left: (key) => {
        this.permits.left(key)
        if (this.runner.terminal.viewers.count === 0) this.opening.idle.begin()
      },
      expireAt: (at) => this.alarms.atLatest('expiry', at),
    })
  }

  #openTitles(): TitleGenerator {
    return new TitleGenerator({
      record: this.record,
      mask: (text) => this.secrets.maskText(text),
      changed: () => {
        const { id, title } = this.summary()
        this.sessions.announce({ status_update: true, type: 'info', message: id, conversation_title: title })
        this.index.mark()
      },
      wake: () => this.alarms.atLatest('title', Date.now()),
    })
  }
}

/** Charges pieces of work to the owner; returns for how many ms the owner's next ones have to wait. */
function charge({ value: { owner } }: ConversationState['record'], what: keyof typeof COST_MS, count: number): number {
  return shares.charge(owner, COST_MS[what] * count)
}

function socketLimits(env: Env, record: ConversationState['record']): SocketLimits {
  const { socketMessagesPerSecond: perSecond, rateLimits } = config(env)
  return { perSecond, ofKey: rateLimits.writes, processed: (count) => charge(record, 'message', count) }
}

function watchedTurn({ spans, log, record }: ConversationState, sql: SqlStorage, calls: CallQueue): WatchedTurn {
  const { id, incarnation } = record.value
  const turn = new StoredRecord<Turn>(sql, 'turn', NEW_TURN)
  const begin = (firstEvent: number) => spans.sampled(traceIdOf('turn', incarnation, firstEvent))
  const put = spans.put.bind(spans)
  return new WatchedTurn({ turn, calls, log, conversation: id, spans: spans.isOn ? { begin, put } : null })
}
