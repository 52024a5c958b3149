// Many named alarms on the one alarm that an object has. The row is the truth; the runtime's alarm is only set to the
// earliest row. An alarm set for the very millisecond of the one that is running is dropped by the runtime and never
// fires, so a time is always at least one millisecond after the running alarm's own.
//
// The runtime runs one handler at a time, however long it takes. So a handler here does not hold the others: as long as
// one runs, those that come due are run beside it. A row goes when its handler has ended, never before: a crash in the
// middle leaves it, and the runtime calls again.

import { firstRow, rows } from './sql.ts'

export const ALARMS_SCHEMA = 'CREATE TABLE alarms (name TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;'

type Row<Name> = { name: Name; at: number }

export class Alarms<Name extends string> {
  readonly #storage: DurableObjectStorage
  /** The time for which each running handler was called. */
  readonly #running = new Map<Name, number>()
  #runningFor = 0
  #armedFor: number | null = null
  #retired = false
  /** Wakes the firing when a time was set while it waits. */
  #poke: () => void = () => {}

  /** Arms the runtime's alarm afresh when work is open: `getAlarm()` can show an alarm that will never fire. */
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#arm()
  }

  /** Sets the named alarm, replacing the time it had. `at` is epoch ms; a past time means now. */
  at(name: Name, at: number): void {
    // Never the time of a handler that runs: when that ends, only its own row may go.
    const time = Math.max(Math.floor(at), (this.#running.get(name) ?? -1) + 1)
    this.#storage.sql.exec('INSERT OR REPLACE INTO alarms (name, at) VALUES (?, ?)', name, time)
    this.#arm()
    this.#poke()
  }

  /** Sets the named alarm unless an earlier time is already set. */
  atLatest(name: Name, at: number): void {
    const current = this.get(name)
    if (current === null || current > at) this.at(name, at)
  }

  /** When the named alarm is set for; null also while its handler runs and has not set it again. */
  get(name: Name): number | null {
    const at = firstRow<{ at: number }>(this.#storage.sql, 'SELECT at FROM alarms WHERE name = ?', name)?.at ?? null
    return at === this.#running.get(name) ? null : at
  }

  clear(name: Name): void {
    this.#storage.sql.exec('DELETE FROM alarms WHERE name = ?', name)
  }

  /** Stops setting anything: the storage under it is about to go. */
  retire(): void {
    this.#retired = true
    this.#poke()
  }

  /**
   * To be called from `alarm()`: gives every due alarm to `run`, and those that come due in the meantime, until nothing
   * runs and nothing is due. A handler that throws keeps its alarm, so that the runtime's retry finds the work again.
   */
  async fire(scheduledTime: number, run: (name: Name) => Promise<void>): Promise<void> {
    this.#runningFor = scheduledTime
    this.#armedFor = null
    const failed = new Map<Name, unknown>()
    while (!this.#retired) {
      const due = Math.max(Date.now(), scheduledTime)
      for (const row of this.#idle(failed)) {
        if (row.at <= due) void this.#start(row, run, failed)
      }
      if (this.#running.size === 0) break
      await this.#untilSomethingHappens(failed)
    }
    for (const error of failed.values()) throw error
    this.#arm()
  }

  /** The alarms whose handler neither runs nor has failed in this firing, earliest first. */
  #idle(failed: ReadonlyMap<Name, unknown>): Row<Name>[] {
    const all = rows<Row<Name>>(this.#storage.sql, 'SELECT name, at FROM alarms ORDER BY at')
    return all.filter(({ name }) => !this.#running.has(name) && !failed.has(name))
  }

  async #start({ name, at }: Row<Name>, run: (name: Name) => Promise<void>, failed: Map<Name, unknown>): Promise<void> {
    this.#running.set(name, at)
    try {
      await run(name)
      if (!this.#retired) this.#storage.sql.exec('DELETE FROM alarms WHERE name = ? AND at = ?', name, at)
    } catch (error) {
      failed.set(name, error)
    } finally {
      this.#running.delete(name)
      this.#poke()
    }
  }

  /** A handler ended, a time was set, or the next one has come. */
  async #untilSomethingHappens(failed: ReadonlyMap<Name, unknown>): Promise<void> {
    const [next] = this.#idle(failed)
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      this.#poke = resolve
      if (next !== undefined) timer = setTimeout(resolve, Math.max(1, next.at - Date.now()))
    })
    clearTimeout(timer)
    this.#poke = () => {}
  }

  #arm(): void {
    if (this.#retired) return
    const next = firstRow<{ at: number | null }>(this.#storage.sql, 'SELECT MIN(at) AS at FROM alarms')?.at ?? null
    if (next === null) return
    const at = Math.max(next, Date.now(), this.#runningFor + 1)
    // Setting an alarm is a write; a time that is already armed and still ahead needs none.
    if (this.#armedFor !== null && this.#armedFor <= at && this.#armedFor > Date.now()) return
    this.#armedFor = at
    void this.#storage.setAlarm(at)
  }
}
