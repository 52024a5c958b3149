// Many named alarms on the single alarm that the runtime gives an object. The row is the truth; the runtime's alarm is
// only set to the earliest row. The runtime drops an alarm that is set for the same millisecond as the alarm that is
// running, so a time is always at least one millisecond after that of the running alarm.
//
// The runtime calls the alarm handler once at a time, however long it takes. So this class runs all due handlers
// concurrently within one call. A row is deleted only when its handler has ended: after a crash in the middle the row
// is still there, and the runtime calls again.
//
// The runtime ends a call after 15 minutes. One firing therefore lasts a few minutes at most: a handler that still runs
// then goes on, and the next firing waits for it. So a handler may take as long as it needs.

import { firstRow, rows } from './sql.ts'

/** Far below the 15 minutes, so that late timers on a busy machine do not reach that limit. */
const FIRING_MS = 5 * 60_000

type Row<Name> = { name: Name; at: number }

export class Alarms<Name extends string> {
  readonly #storage: DurableObjectStorage
  /** The time for which each running handler was called. */
  readonly #running = new Map<Name, number>()
  /** The first error of a handler that has not been thrown to the runtime yet. */
  readonly #failed = new Map<Name, unknown>()
  readonly #firingMs: number
  #runningFor = 0
  #armedFor: number | null = null
  #retired = false
  /** Wakes each call of `fire` that waits. Usually there is one; a second one finds nothing left to do. */
  readonly #waiting = new Set<() => void>()

  /** Sets the runtime's alarm again when work is open: `getAlarm()` can return an alarm that will never fire. */
  constructor(storage: DurableObjectStorage, { firingMs = FIRING_MS }: { firingMs?: number } = {}) {
    this.#storage = storage
    this.#firingMs = firingMs
    this.#arm()
  }

  /** Sets the named alarm, replacing the time it had. `at` is epoch ms; a past time means now. */
  at(name: Name, at: number): void {
    // Never the time of a running handler: when that handler ends, only its own row may be deleted.
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

  /** Stops setting alarms: the storage of this object is about to be deleted. */
  retire(): void {
    this.#retired = true
    this.#poke()
  }

  /** The storage was emptied, and the runtime's alarm with it. */
  forget(): void {
    this.#armedFor = null
  }

  /**
   * To be called from `alarm()`: gives every due alarm to `run`, and those that come due in the meantime, until nothing
   * runs and nothing is due, or the firing has lasted long enough. A handler that throws keeps its alarm, so that the
   * runtime's retry finds the work again.
   */
  async fire(scheduledTime: number, run: (name: Name) => Promise<void>): Promise<void> {
    this.#runningFor = scheduledTime
    this.#armedFor = null
    const until = performance.now() + this.#firingMs
    while (!this.#retired && performance.now() < until) {
      const due = Math.max(Date.now(), scheduledTime)
      for (const row of this.#idle()) {
        if (row.at <= due) void this.#start(row, run)
      }
      if (this.#running.size === 0) break
      await this.#untilSomethingHappens(until)
    }
    const [error] = this.#failed.values()
    const hasFailed = this.#failed.size > 0
    this.#failed.clear()
    if (hasFailed) throw error
    this.#arm()
  }

  /** The alarms that are due and whose handler neither runs nor has failed in this firing, earliest first. */
  #idle(): Row<Name>[] {
    const all = rows<Row<Name>>(this.#storage.sql, 'SELECT name, at FROM alarms ORDER BY at')
    return all.filter(({ name }) => !this.#running.has(name) && !this.#failed.has(name))
  }

  async #start({ name, at }: Row<Name>, run: (name: Name) => Promise<void>): Promise<void> {
    this.#running.set(name, at)
    try {
      await run(name)
      if (!this.#retired) this.#storage.sql.exec('DELETE FROM alarms WHERE name = ? AND at = ?', name, at)
    } catch (error) {
      this.#failed.set(name, error)
    } finally {
      this.#running.delete(name)
      this.#poke()
    }
  }

  /** Settles when a handler has ended, an alarm was set, the next alarm is due, or the firing is over. */
  async #untilSomethingHappens(until: number): Promise<void> {
    const [next] = this.#idle()
    const waitMs = Math.min(until - performance.now(), (next?.at ?? Number.POSITIVE_INFINITY) - Date.now())
    let timer: ReturnType<typeof setTimeout> | undefined
    let wake = () => {}
    await new Promise<void>((resolve) => {
      wake = resolve
      this.#waiting.add(wake)
      timer = setTimeout(resolve, Math.max(1, waitMs))
    })
    clearTimeout(timer)
    this.#waiting.delete(wake)
  }

  #poke(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
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
