// One life of the object: the classes that own a turn, put together as a conversation's state puts them together, over a
// disk that outlives them. What comes from outside is the script's: the model, the tools, the settings.

import { Alarms } from '../../durable-objects/alarms.ts'
import { ClientRefs } from '../../durable-objects/conversation/events/client-refs.ts'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import { CallQueue } from '../../durable-objects/conversation/turn/call-queue.ts'
import { ReplayQueue } from '../../durable-objects/conversation/turn/replay-queue.ts'
import { SpanStore } from '../../durable-objects/span-store.ts'
import { StoredRecord } from '../../durable-objects/stored-record.ts'
import { introduction } from '../../src/agent/command-step.ts'
import { History } from '../../src/agent/context/history.ts'
import type { ActionEvent, NewEvent, StoredEvent } from '../../src/agent/events.ts'
import { AgentLoop } from '../../src/agent/loop.ts'
import { Mask } from '../../src/agent/masking.ts'
import { beginSession, openSession, resumeSession } from '../../src/agent/session.ts'
import type { StepConfig } from '../../src/agent/step-config.ts'
import { NEW_TURN, type Turn } from '../../src/agent/turn.ts'
import type { TurnDeps } from '../../src/agent/turn-deps.ts'
import { WatchedTurn } from '../../src/agent/turn-trace.ts'
import { traceIdOf } from '../../src/lib/otlp.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'
import type { Disk, Grip } from './disk.ts'

/** What the object meets outside of itself. */
export type LifeHost = {
  configOf(): Promise<StepConfig>
  runCommand: TurnDeps['runCommand']
  /** Events that are stored by now, as a live client gets them. */
  deliver(events: readonly StoredEvent[]): void
  /** Something is about to be committed, or was: whether the isolate dies of it. */
  isDeadly(moment: 'before' | 'after', written: readonly string[], isBorn: boolean): boolean
  died(): void
}

/** One environment for all: what is parsed once is known. Nothing is sent: what would be waits in the store. */
const TRACED = {
  ...{ AUTH_MODE: 'local', LOG_LEVEL: 'silent' },
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.test',
} as unknown as Env

const RETRIES = { attempts: 4, minMs: 100, maxMs: 1_000 }

export class Life implements Grip {
  isDead = false
  readonly log: EventLog
  readonly history: History
  readonly loop: AgentLoop
  readonly turn: StoredRecord<Turn>
  readonly #deps: TurnDeps
  readonly #outside: LifeHost
  readonly #alarms: Alarms<'turn'>
  readonly #refs: ClientRefs
  /** Sent once what is written is committed. */
  #unsent: StoredEvent[] = []
  #acks: (() => void)[] = []
  #isBorn = false

  constructor(disk: Disk, outside: LifeHost) {
    this.#outside = outside
    const isNew = disk.read('SELECT 1 FROM meta').length === 0
    const storage = disk.storage(this)
    const { sql } = storage
    this.log = new EventLog(sql)
    this.#refs = new ClientRefs(sql, this.log.last)
    this.#alarms = new Alarms<'turn'>(storage)
    this.turn = new StoredRecord<Turn>(sql, 'turn', NEW_TURN)
    const deps = this.#turnDeps(sql)
    this.history = new History(deps)
    this.loop = new AgentLoop(deps)
    if (isNew) {
      beginSession(deps, 'CodeActAgent')
      openSession(deps, null)
    } else this.loop.recover()
    this.#deps = deps
    queueMicrotask(() => {
      this.#isBorn = true
    })
  }

  /** A request of the user's; `acknowledge` is called once nothing can take it back. */
  receive(event: ActionEvent, ref: string, acknowledge: () => void): void {
    this.#refs.once(ref, event, () => this.loop.receive(event))
    // A request that wrote nothing waits for nothing.
    this.#acks.push(acknowledge)
    this.turn.change({})
  }

  /** The session is closed and started again, in the middle of whatever it is in. */
  reopen(): void {
    this.loop.close()
    resumeSession(this.#deps)
  }

  fire(at: number): Promise<void> {
    return this.#alarms.fire(at, () => this.loop.work())
  }

  die(): void {
    if (this.isDead) return
    this.isDead = true
    this.#alarms.retire()
    this.#outside.died()
  }

  beforeCommit(written: readonly string[]): 'doomed' | 'commit' {
    return this.isDead || this.#outside.isDeadly('before', written, this.#isBorn) ? 'doomed' : 'commit'
  }

  lost(): void {
    this.die()
  }

  afterCommit(written: readonly string[]): void {
    if (this.#outside.isDeadly('after', written, this.#isBorn)) {
      this.die()
      return
    }
    const acks = this.#acks
    this.#acks = []
    this.#outside.deliver(this.#unsent)
    this.#unsent = []
    for (const acknowledge of acks) acknowledge()
  }

  #emit(events: NewEvent[]): number {
    const first = this.log.last + 1
    this.#unsent.push(...this.log.append(events))
    return first
  }

  #watched(sql: SqlStorage, calls: CallQueue): WatchedTurn {
    const store = new SpanStore({ sql, env: TRACED, wakeAt: () => {} })
    const spans = { begin: (first: number) => traceIdOf('turn', first), put: store.put.bind(store) }
    return new WatchedTurn({ turn: this.turn, calls, log: this.log, conversation: 'c', spans })
  }

  #turnDeps(sql: SqlStorage): TurnDeps {
    const { configOf, runCommand } = this.#outside
    const calls = new CallQueue(sql)
    const nothing = new Mask([])
    const turn = this.#watched(sql, calls)
    return {
      log: this.log,
      turn,
      witness: turn,
      calls,
      emit: (events) => this.#emit(events),
      wake: (at) => this.#alarms.atLatest('turn', at),
      giveWay: () => Promise.resolve(),
      configs: { renew: configOf, current: configOf, model: async () => (await configOf()).model },
      secrets: { maskText: (text) => text, stream: () => nothing.stream() },
      replay: new ReplayQueue(sql, calls, null),
      retries: RETRIES,
      review: null,
      introduce: introduction,
      runCommand,
      runtimes: { choose: async () => ({ kind: 'edge' }), keyOf: String, isOpen: () => false },
      workplace: () => ({
        files: new MemoryFileSystem(),
        runtime: async () => ({ kind: 'edge' }),
        shell: this.turn.value.shell,
        keepShell: () => {},
        secrets: {},
        outputFilter: () => nothing.stream(),
        recall: () => null,
        remember: () => {},
      }),
      surroundings: (workingDir) => ({
        date: '2026-01-01',
        workingDir,
        conversationInstructions: '',
        repository: null,
        secrets: {},
      }),
      microagents: async () => ({ microagents: [], remarks: [] }),
      stream: () => {},
      announce: () => {},
    }
  }
}
