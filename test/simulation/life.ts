// One life of the object: the classes that own a turn, put together as a conversation's room puts them together, over a
// disk that outlives them. What comes from outside is the script's: the model, the tools, the settings.

import { Alarms } from '../../durable-objects/alarms.ts'
import { AgentLoop } from '../../durable-objects/conversation/agent-loop.ts'
import { CallQueue } from '../../durable-objects/conversation/call-queue.ts'
import { ClientRefs } from '../../durable-objects/conversation/client-refs.ts'
import type { RunCommand } from '../../durable-objects/conversation/command-step.ts'
import { Condenser } from '../../durable-objects/conversation/condenser.ts'
import { EventLog, type StoredEvent } from '../../durable-objects/conversation/event-log.ts'
import { History } from '../../durable-objects/conversation/history.ts'
import { Meta } from '../../durable-objects/conversation/meta.ts'
import type { Outfit } from '../../durable-objects/conversation/outfit.ts'
import { Recall } from '../../durable-objects/conversation/recall.ts'
import { ReplayQueue } from '../../durable-objects/conversation/replay-queue.ts'
import { Thinker } from '../../durable-objects/conversation/thinker.ts'
import { type Desk, NEW_TURN, type Turn } from '../../durable-objects/conversation/turn.ts'
import type { ActionEvent, NewEvent } from '../../src/agent/events.ts'
import { Mask } from '../../src/agent/masking.ts'
import { introduction } from '../../src/agent/shell-agent.ts'
import { MemoryFileSystem } from '../../src/workspace/memory-file-system.ts'
import type { Disk, Grip } from './disk.ts'

/** What the object meets outside of itself. */
export type Outside = {
  outfit(): Promise<Outfit>
  runCommand: RunCommand
  /** Events that are stored by now, as a live client gets them. */
  deliver(events: readonly StoredEvent[]): void
  /** Something is about to be committed, or was: whether the isolate dies of it. */
  isDeadly(moment: 'before' | 'after', written: readonly string[], isBorn: boolean): boolean
  died(): void
}

const RETRIES = { attempts: 4, minMs: 100, maxMs: 1_000 }

export class Life implements Grip {
  isDead = false
  readonly log: EventLog
  readonly history: History
  readonly loop: AgentLoop
  readonly turn: Meta<Turn>
  readonly #outside: Outside
  readonly #alarms: Alarms<'turn'>
  readonly #refs: ClientRefs
  /** Sent once what is written is committed. */
  #unsent: StoredEvent[] = []
  #acks: (() => void)[] = []
  #isBorn = false

  constructor(disk: Disk, outside: Outside) {
    this.#outside = outside
    const isNew = disk.read('SELECT 1 FROM meta').length === 0
    const storage = disk.storage(this)
    const { sql } = storage
    this.log = new EventLog(sql)
    this.#refs = new ClientRefs(sql, this.log.last)
    this.#alarms = new Alarms<'turn'>(storage)
    this.turn = new Meta<Turn>(sql, 'turn', NEW_TURN)
    const desk: Desk = {
      log: this.log,
      turn: this.turn,
      calls: new CallQueue(sql),
      emit: (events) => this.#emit(events),
      wake: (at) => this.#alarms.atLatest('turn', at),
    }
    this.history = new History(desk, (text) => text)
    this.loop = this.#assemble(desk, sql)
    if (isNew) {
      this.loop.begin('CodeActAgent')
      this.loop.open(null)
    } else this.loop.recover()
    queueMicrotask(() => {
      this.#isBorn = true
    })
  }

  /** A request of the user's; `acknowledge` is called once nothing can take it back. */
  receive(event: ActionEvent, ref: string, acknowledge: () => void): void {
    if (this.#refs.eventOf(ref) === null) this.#refs.remember(ref, this.loop.receive(event))
    // A request that wrote nothing waits for nothing.
    this.#acks.push(acknowledge)
    this.turn.change({})
  }

  /** The session is closed and started again, in the middle of whatever it is in. */
  reopen(): void {
    this.loop.close()
    this.loop.resume()
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

  #assemble(desk: Desk, sql: SqlStorage): AgentLoop {
    const { outfit, runCommand } = this.#outside
    const context = (workingDir: string) => ({
      date: '2026-01-01',
      workingDir,
      conversationInstructions: '',
      repository: null,
      secrets: {},
    })
    const nothing = new Mask([])
    const thinker = new Thinker({
      desk,
      history: this.history,
      outfitter: { renew: outfit, current: outfit, model: async () => (await outfit()).model },
      vault: { stream: () => nothing.stream() },
      condenser: new Condenser(desk, this.history),
      recall: new Recall({ desk, context, microagents: async () => ({ microagents: [], remarks: [] }) }),
      replay: new ReplayQueue(sql, desk, null),
      retries: RETRIES,
      introduce: introduction,
      workplace: () => ({
        files: new MemoryFileSystem(),
        shell: this.turn.value.shell,
        keepShell: () => {},
        secrets: {},
        outputFilter: () => nothing.stream(),
        recall: () => null,
        remember: () => {},
      }),
      stream: () => {},
      announce: () => {},
    })
    return new AgentLoop({ desk, runCommand, introduce: introduction, thinker })
  }
}
