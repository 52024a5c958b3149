// Notices about finished tasks, stored until the sender has taken them over. A notice is written in the same pass as the end
// of its task, so neither exists without the other.

import { isOpen, type Task } from '../../src/analysis/task.ts'
import type { BatchItem, Notice } from '../../src/notify/delivery.ts'
import type { NotifyResult } from '../../src/notify/run.ts'
import { firstRow, rows } from '../sql.ts'

const MOST_AT_ONCE = 20
/** A call that was interrupted with this object is repeated after this time, when its leases have expired. */
const WATCHDOG_MS = 20_000
/** A call that takes longer will not return; no call takes this long normally. */
const LONGEST_CALL_MS = 180_000
/**
 * Parallel calls: new notices must not wait for external services that do not answer. Two calls never send the same
 * notice.
 */
const MOST_CALLS = 4
/** Most calls take less than this; new notices then go with the next call. */
const PATIENCE_MS = 5_000
const FIRST_DELAY_MS = 2_000
const LONGEST_DELAY_MS = 300_000

export class Notices {
  readonly #sql: SqlStorage
  /** Calls in a row that failed or left a notice. */
  #failures = 0
  /** Calls that have not returned. */
  readonly #calls = new Set<{ beganAt: number }>()
  /** Keys of notices that a call could not deliver: others go first, so that these delay nothing. */
  readonly #left = new Set<string>()
  /** A notice was added, or a call was requested, since the last call began. */
  #isFresh: boolean

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.#isFresh = !this.#isEmpty
  }

  /** Notes the end of a task, and that of its batch with the last of them. */
  taskEnded(task: Task, batch: readonly Task[]): void {
    const { id, owner, request, status } = task
    if (!request.notify) return
    const { channels, language } = request
    const isInBatch = batch.length > 1
    if (status === 'completed') {
      this.put({ kind: 'report', key: `report:${id}`, owner, channels, taskId: id, isInBatch })
    }
    if (!isInBatch || batch.some((other) => isOpen(other.status))) return
    const key = `digest:${request.batch}`
    this.put({ kind: 'digest', key, owner, channels, language, items: batch.map(itemOf) })
  }

  /** A second notice with the same key changes nothing. */
  put(notice: Notice): void {
    this.#sql.exec('INSERT OR IGNORE INTO notices (key, body) VALUES (?, ?)', notice.key, JSON.stringify(notice))
    this.#isFresh = true
  }

  /** Requests another check for notices that are stored elsewhere. */
  poke(): void {
    this.#isFresh = true
  }

  /**
   * When `pass` should be called for new notices, epoch ms; null when there are none, or the maximum number of calls
   * runs.
   */
  get dueAt(): number | null {
    return this.#isFresh ? this.#freeAt(Date.now()) : null
  }

  /**
   * Delivers the notices. `planAt` gets the time for another call in case this one does not return, and afterwards the
   * time of the next work; null when nothing is left.
   */
  async pass(tell: (notices: Notice[]) => Promise<NotifyResult>, planAt: (at: number | null) => void): Promise<void> {
    const beganAt = Date.now()
    const watchdogAt = beganAt + WATCHDOG_MS
    planAt(watchdogAt)
    if (this.#running(beganAt).length > 0) {
      const dueAt = this.dueAt
      if (dueAt === null) return
      if (dueAt > beganAt) return planAt(Math.min(dueAt, watchdogAt))
    }
    const call = { beganAt }
    this.#calls.add(call)
    this.#isFresh = false
    const notices = this.#first()
    let told: NotifyResult | null = null
    try {
      told = await tell(notices)
      this.#drop(told.keys)
      for (const { key } of notices) if (!told.keys.includes(key)) this.#left.add(key)
    } finally {
      // A call that returns after it was given up must not change the state of its successor.
      const isInTime = this.#running(Date.now()).includes(call)
      this.#calls.delete(call)
      if (isInTime) {
        this.#failures = told === null || told.keys.length < notices.length ? this.#failures + 1 : 0
        planAt(this.#nextPass(told?.nextAt ?? null))
      }
    }
  }

  /** The calls that may still return. A call that begins in the future, because the clock was set back, is ignored. */
  #running(now: number): { beganAt: number }[] {
    const age = ({ beganAt }: { beganAt: number }) => now - beganAt
    for (const call of this.#calls) if (age(call) < 0 || age(call) >= LONGEST_CALL_MS) this.#calls.delete(call)
    return [...this.#calls]
  }

  /** When the next call may begin, epoch ms; null while the maximum number runs. */
  #freeAt(now: number): number | null {
    const running = this.#running(now)
    if (running.length >= MOST_CALLS) return null
    return Math.max(now, ...running.map(({ beganAt }) => beganAt + PATIENCE_MS))
  }

  #nextPass(nextAt: number | null): number | null {
    const now = Date.now()
    if (this.#failures > 0) return now + Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1))
    if (this.#calls.size > 0) return Math.min(this.dueAt ?? nextAt ?? Number.POSITIVE_INFINITY, now + WATCHDOG_MS)
    return this.#isFresh || !this.#isEmpty ? now : nextAt
  }

  get #isEmpty(): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM notices') === null
  }

  #drop(keys: readonly string[]): void {
    this.#sql.exec('DELETE FROM notices WHERE key IN (SELECT value FROM json_each(?))', JSON.stringify(keys))
  }

  #first(): Notice[] {
    const query = `SELECT body FROM notices WHERE key NOT IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ${MOST_AT_ONCE}`
    const asked = () => rows<{ body: string }>(this.#sql, query, JSON.stringify([...this.#left]))
    let found = asked()
    if (found.length === 0 && this.#left.size > 0) {
      this.#left.clear()
      found = asked()
    }
    return found.map(({ body }) => JSON.parse(body) as Notice)
  }
}

function itemOf({ id, request, stockName, status, error }: Task): BatchItem {
  return { taskId: id, stockCode: request.stockCode, stockName, isCompleted: status === 'completed', error }
}
