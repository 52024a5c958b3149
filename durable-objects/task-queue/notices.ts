// What is to be told about tasks that are over, kept until somebody has taken it over for sending. A notice is written in the
// same pass as the end of its task, so neither is there without the other.

import { isOpen, type Task } from '../../src/analysis/task.ts'
import type { BatchItem, Notice } from '../../src/notify/notice.ts'
import type { Told } from '../../src/notify/run.ts'
import { firstRow, rows } from '../sql.ts'

const MOST_AT_ONCE = 20
/** When a call does not come back, for whatever reason, the next one is made after this. */
const WATCHDOG_MS = 90_000
const FIRST_DELAY_MS = 2_000
const LONGEST_DELAY_MS = 300_000

export class Notices {
  readonly #sql: SqlStorage
  /** Calls in a row that left a notice behind. */
  #failures = 0
  #isPassing = false
  /** Something came, or was asked for, since the last call was begun. */
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

  /** Under a key that is there already nothing changes. */
  put(notice: Notice): void {
    this.#sql.exec('INSERT OR IGNORE INTO notices (key, body) VALUES (?, ?)', notice.key, JSON.stringify(notice))
    this.#isFresh = true
  }

  /** Has what waits elsewhere looked at again. */
  poke(): void {
    this.#isFresh = true
  }

  /** Whether `pass` should be called now. */
  get isWaiting(): boolean {
    return this.#isFresh && !this.#isPassing
  }

  /**
   * Passes on what there is. `planAt` is told at once when to call again should nothing come back, and afterwards when there
   * will be something to do; null when nothing is left.
   */
  async pass(tell: (notices: Notice[]) => Promise<Told>, planAt: (at: number | null) => void): Promise<void> {
    planAt(Date.now() + WATCHDOG_MS)
    if (this.#isPassing) return
    this.#isPassing = true
    this.#isFresh = false
    const notices = this.#first()
    let nextAt: number | null = null
    let left = notices.length
    try {
      const told = await tell(notices)
      this.#drop(told.keys)
      nextAt = told.nextAt
      left -= told.keys.length
    } finally {
      this.#isPassing = false
      this.#failures = left > 0 ? this.#failures + 1 : 0
      planAt(this.#nextPass(nextAt))
    }
  }

  #nextPass(nextAt: number | null): number | null {
    if (this.#failures > 0) return Date.now() + Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1))
    return this.#isFresh || !this.#isEmpty ? Date.now() : nextAt
  }

  get #isEmpty(): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM notices') === null
  }

  #drop(keys: readonly string[]): void {
    this.#sql.exec('DELETE FROM notices WHERE key IN (SELECT value FROM json_each(?))', JSON.stringify(keys))
  }

  #first(): Notice[] {
    const found = rows<{ body: string }>(this.#sql, `SELECT body FROM notices ORDER BY seq LIMIT ${MOST_AT_ONCE}`)
    return found.map(({ body }) => JSON.parse(body) as Notice)
  }
}

function itemOf({ id, request, stockName, status, error }: Task): BatchItem {
  return { taskId: id, stockCode: request.stockCode, stockName, isCompleted: status === 'completed', error }
}
