// What outlives an isolate: the database of an object and the runtime's alarm, over an SQLite in memory. As in the runtime,
// what is written in one go is committed in one go, before anything else happens; a death before that leaves none of it.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { MIGRATIONS } from '../../durable-objects/conversation/schema.ts'

/** One isolate's hold on it, which ends with the isolate. */
export type Grip = {
  isDead: boolean
  /** Of what is about to be committed; `doomed` when the isolate is to die first. */
  beforeCommit(written: readonly string[]): 'doomed' | 'commit'
  afterCommit(written: readonly string[]): void
  lost(): void
}

const SEVERAL = /;\s*\S/
const READS = /^\s*SELECT\b/i

export class Disk {
  readonly #db = new DatabaseSync(':memory:')
  readonly #statements = new Map<string, StatementSync>()
  /** When the runtime is to call, as committed. */
  alarm: number | null = null
  /** The call that is under way: without its end the runtime calls again. */
  firing: number | null = null
  #unsavedAlarm: number | null = null
  #written: string[] | null = null

  constructor() {
    this.#db.exec(MIGRATIONS[0])
  }

  close(): void {
    this.#db.close()
  }

  /** As good as new, for a tenth of what a new one costs. */
  wipe(): void {
    const tables = this.read<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    const used = new Set(['meta', 'events', 'client_refs', 'alarms', 'model_steps', 'tool_calls', 'tool_memory'])
    for (const { name } of tables) if (used.has(name)) this.#prepared(`DELETE FROM ${name}`).run()
    this.alarm = null
    this.firing = null
  }

  /** What is committed, for who looks from outside. */
  read<Row>(query: string, ...bindings: SQLInputValue[]): Row[] {
    return this.#prepared(query).all(...bindings) as Row[]
  }

  /** When the runtime calls next if the object dies now. */
  get nextCall(): number | null {
    const times = [this.firing, this.alarm].filter((at) => at !== null)
    return times.length === 0 ? null : Math.min(...times)
  }

  storage(grip: Grip): DurableObjectStorage {
    const exec = (query: string, ...bindings: SQLInputValue[]) => {
      if (grip.isDead) throw new Error('this isolate is gone')
      if (!READS.test(query)) this.#begin(grip, query)
      const found = this.#run(query, bindings)
      return { toArray: () => found, one: () => found[0] }
    }
    const setAlarm = (at: number) => {
      if (grip.isDead) return Promise.resolve()
      this.#begin(grip, 'alarm')
      // The runtime drops an alarm for the very time of the one that runs.
      if (at !== this.firing) this.#unsavedAlarm = at
      return Promise.resolve()
    }
    // As much of it as the object's own classes ask for.
    return { sql: { exec }, setAlarm } as unknown as DurableObjectStorage
  }

  #run(query: string, bindings: readonly SQLInputValue[]): unknown[] {
    if (bindings.length > 0 || !SEVERAL.test(query)) return this.#prepared(query).all(...bindings)
    this.#db.exec(query)
    return []
  }

  #prepared(query: string): StatementSync {
    const known = this.#statements.get(query) ?? this.#db.prepare(query)
    this.#statements.set(query, known)
    return known
  }

  #begin(grip: Grip, query: string): void {
    if (this.#written !== null) {
      this.#written.push(query)
      return
    }
    this.#written = [query]
    this.#unsavedAlarm = this.alarm
    this.#prepared('BEGIN').run()
    queueMicrotask(() => this.#end(grip))
  }

  #end(grip: Grip): void {
    const written = this.#written ?? []
    this.#written = null
    if (grip.beforeCommit(written) === 'doomed') {
      this.#prepared('ROLLBACK').run()
      grip.lost()
      return
    }
    this.#prepared('COMMIT').run()
    this.alarm = this.#unsavedAlarm
    grip.afterCommit(written)
  }
}
