// What outlives an isolate: the database of an object and the runtime's alarm, over an SQLite in memory. As in the runtime,
// what is written in one go is committed in one go, before anything else happens; a death before that leaves none of it.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { MIGRATIONS } from '../../durable-objects/conversation/schema.ts'

/** One isolate's hold on it, which ends with the isolate. */
export type Grip = {
  isDead: boolean
  /** Whether the storage fails at this statement: nothing of what was written together stays. */
  fails?(): boolean
  /** The first of what is written together. */
  began?(): void
  /** Of what is about to be committed; `doomed` when the isolate is to die first. */
  beforeCommit(written: readonly string[]): 'doomed' | 'commit'
  afterCommit(written: readonly string[]): void
  lost(): void
}

const SEVERAL = /;\s*\S/
const OF_A_TURN = ['meta', 'events', 'client_refs', 'alarms', 'model_steps', 'tool_calls', 'tool_memory', 'spans']
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

  readonly #atTurnEnd: (commit: () => void) => void

  /** `atTurnEnd`: when what was written together is committed. */
  constructor(schema: readonly string[] = MIGRATIONS, atTurnEnd: (commit: () => void) => void = queueMicrotask) {
    for (const sql of schema) this.#db.exec(sql)
    this.#atTurnEnd = atTurnEnd
  }

  close(): void {
    this.#db.close()
  }

  /** As good as new, for a tenth of what a new one costs. */
  wipe(tables: readonly string[] = OF_A_TURN): void {
    const known = new Set(this.read<{ name: string }>('SELECT name FROM sqlite_master').map(({ name }) => name))
    // What was written last may not be committed yet.
    const isAlone = this.#written === null
    if (isAlone) this.#prepared('BEGIN').run()
    for (const name of tables) if (known.has(name)) this.#prepared(`DELETE FROM ${name}`).run()
    if (known.has('sqlite_sequence')) this.#prepared('DELETE FROM sqlite_sequence').run()
    if (isAlone) this.#prepared('COMMIT').run()
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
    const exec = (query: string, ...bindings: (SQLInputValue | ArrayBuffer)[]) => {
      if (grip.isDead) throw new Error('this isolate is gone')
      if (grip.fails?.()) throw new Error('disk I/O error: SQLITE_IOERR')
      if (!READS.test(query)) this.#begin(grip, query)
      const found = this.#run(query, bindings.map(bound))
      return { toArray: () => found, one: () => found[0], [Symbol.iterator]: () => found[Symbol.iterator]() }
    }
    const setAlarm = (at: number) => {
      if (grip.isDead) return Promise.resolve()
      this.#begin(grip, 'alarm')
      // The runtime drops an alarm for the very time of the one that runs.
      if (at !== this.firing) this.#unsavedAlarm = at
      return Promise.resolve()
    }
    // As much of it as the object's own classes ask for.
    const transactionSync = <T>(work: () => T) => this.#transaction(grip, work)
    return { sql: { exec }, setAlarm, transactionSync } as unknown as DurableObjectStorage
  }

  #transaction<T>(grip: Grip, work: () => T): T {
    this.#begin(grip, 'transaction')
    this.#prepared('SAVEPOINT inner').run()
    try {
      const result = work()
      this.#prepared('RELEASE inner').run()
      return result
    } catch (error) {
      this.#prepared('ROLLBACK TO inner').run()
      this.#prepared('RELEASE inner').run()
      throw error
    }
  }

  #run(query: string, bindings: readonly SQLInputValue[]): unknown[] {
    if (bindings.length > 0 || !SEVERAL.test(query))
      return this.#prepared(query)
        .all(...bindings)
        .map(asRuntimeGives)
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
    grip.began?.()
    this.#unsavedAlarm = this.alarm
    this.#prepared('BEGIN').run()
    this.#atTurnEnd(() => this.#end(grip))
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

const bound = (value: SQLInputValue | ArrayBuffer): SQLInputValue =>
  value instanceof ArrayBuffer ? new Uint8Array(value) : value

/** Blobs are buffers there. */
function asRuntimeGives(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row)) if (value instanceof Uint8Array) row[name] = value.slice().buffer
  return row
}
