// Many named alarms on the one alarm that an object has. The row is the truth; the runtime's alarm is only set to the
// earliest row. An alarm set for the very millisecond of the one that is running is dropped by the runtime and never
// fires, so a time is always at least one millisecond after the running alarm's own.

import { firstRow, rows } from './sql.ts'

export const ALARMS_SCHEMA = 'CREATE TABLE alarms (name TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;'

export class Alarms<Name extends string> {
  readonly #storage: DurableObjectStorage
  #runningFor = 0
  #armedFor: number | null = null

  /** Arms the runtime's alarm afresh when work is open: `getAlarm()` can show an alarm that will never fire. */
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#arm()
  }

  /** Sets the named alarm, replacing the time it had. `at` is epoch ms; a past time means now. */
  at(name: Name, at: number): void {
    this.#storage.sql.exec('INSERT OR REPLACE INTO alarms (name, at) VALUES (?, ?)', name, Math.floor(at))
    this.#arm()
  }

  /** Sets the named alarm unless an earlier time is already set. */
  atLatest(name: Name, at: number): void {
    const current = this.get(name)
    if (current === null || current > at) this.at(name, at)
  }

  get(name: Name): number | null {
    return firstRow<{ at: number }>(this.#storage.sql, 'SELECT at FROM alarms WHERE name = ?', name)?.at ?? null
  }

  clear(name: Name): void {
    this.#storage.sql.exec('DELETE FROM alarms WHERE name = ?', name)
  }

  /**
   * To be called from `alarm()`: takes every due alarm off the table and gives its name to `run`, then arms the next.
   * A handler that throws gets its alarm back, so that the runtime's retry finds the work again.
   */
  async fire(scheduledTime: number, run: (name: Name) => Promise<void>): Promise<void> {
    this.#runningFor = scheduledTime
    this.#armedFor = null
    const due = rows<{ name: Name; at: number }>(
      this.#storage.sql,
      'SELECT name, at FROM alarms WHERE at <= ? ORDER BY at',
      Math.max(Date.now(), scheduledTime),
    )
    for (const { name, at } of due) {
      this.clear(name)
      try {
        await run(name)
      } catch (error) {
        this.atLatest(name, at)
        throw error
      }
    }
    this.#arm()
  }

  #arm(): void {
    const next = firstRow<{ at: number | null }>(this.#storage.sql, 'SELECT MIN(at) AS at FROM alarms')?.at ?? null
    if (next === null) return
    const at = Math.max(next, Date.now(), this.#runningFor + 1)
    // Setting an alarm is a write; a time that is already armed and still ahead needs none.
    if (this.#armedFor !== null && this.#armedFor <= at && this.#armedFor > Date.now()) return
    this.#armedFor = at
    void this.#storage.setAlarm(at)
  }
}
