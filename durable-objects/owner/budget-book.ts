// Records what an owner's model calls used, by day and month, and what is reserved for open calls. A call is a row from
// its reservation to its settlement, under an id that its caller chose and stored before: a repeated reservation or
// settlement changes nothing. A call counts in the day and month in which it began, whenever it ends.
//
// A caller that died leaves its reservation. It counts until it is settled, and after an hour as fully used: unknown
// use never counts as zero. A later settlement corrects the sum.

import {
  type Allowances,
  type BudgetAnswer,
  type BudgetRefusal,
  type BudgetStanding,
  SPANS,
  type Span,
  type SpanStanding,
} from '../../src/limits/budget.ts'
import type { CallCost } from '../../src/llm/ask.ts'
import { firstRow, rows } from '../sql.ts'

export type ReservedCall = CallCost & { readonly id: string }

/** Longer than any model call lasts. */
const EXPIRES_AFTER_MS = 3_600_000
/** How long an expired call can still be settled. */
const CORRECTED_WITHIN_MS = 7 * 24 * 3_600_000
const KEPT_MONTHS = 13

type Period = {
  tokens: number
  nano_usd: number
  calls: number
  unpriced_calls: number
  unsettled_calls: number
}
type Call = { id: string; day: string; tokens: number; nano_usd: number | null; expired: number }

export class BudgetBook {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
  }

  /** Reserves the most that the call may use, unless the budget is used up or fully reserved. */
  reserve({ id, tokens, nanoUsd }: ReservedCall, allowances: Allowances, now: number): BudgetAnswer {
    this.#expire(now)
    if (firstRow(this.#sql, 'SELECT 1 FROM budget_calls WHERE id = ?', id) !== null) return { ok: true }
    const refusal = this.#refusal(allowances, now)
    if (refusal !== null) return refusal
    const until = now + EXPIRES_AFTER_MS
    this.#sql.exec(
      'INSERT INTO budget_calls (id, day, until, tokens, nano_usd) VALUES (?, ?, ?, ?, ?)',
      ...[id, periodOf('day', now), until, tokens, nanoUsd],
    )
    return { ok: true }
  }

  /** `used` null: the use is unknown. False when there is nothing to settle. */
  settle(id: string, used: CallCost | null): boolean {
    const call = firstRow<Call>(this.#sql, 'SELECT * FROM budget_calls WHERE id = ?', id)
    if (call === null) return false
    this.#storage.transactionSync(() => {
      this.#sql.exec('DELETE FROM budget_calls WHERE id = ?', id)
      if (call.expired === 0) this.#add(call, used)
      else if (used !== null) this.#correct(call, used)
    })
    return true
  }

  standing(now: number): BudgetStanding {
    this.#expire(now)
    const of = (span: Span): SpanStanding => {
      const period = this.#period(span, now)
      return {
        ...boundsOf(span, now),
        used: { nanoUsd: period?.nano_usd ?? 0, tokens: period?.tokens ?? 0 },
        reserved: this.#reserved(span, now),
        calls: period?.calls ?? 0,
        unpricedCalls: period?.unpriced_calls ?? 0,
        unsettledCalls: period?.unsettled_calls ?? 0,
      }
    }
    return { day: of('day'), month: of('month') }
  }

  /** A used-up budget is reported before a fully reserved one, because waiting does not help there. */
  #refusal(allowances: Allowances, now: number): BudgetRefusal | null {
    let held: BudgetRefusal | null = null
    for (const span of SPANS) {
      const period = this.#period(span, now)
      const used = { nanoUsd: period?.nano_usd ?? 0, tokens: period?.tokens ?? 0 }
      const reserved = this.#reserved(span, now)
      for (const unit of ['nanoUsd', 'tokens'] as const) {
        const allowed = allowances[span][unit]
        if (allowed === null || used[unit] + reserved[unit] < allowed) continue
        const { resetsAt } = boundsOf(span, now)
        const refusal = { ok: false, span, unit, used: used[unit], allowed, resetsAt } as const
        if (used[unit] >= allowed) return { ...refusal, reason: 'spent' }
        held ??= { ...refusal, reason: 'held' }
      }
    }
    return held
  }

  #expire(now: number): void {
    const open = 'SELECT * FROM budget_calls WHERE expired = 0 AND until <= ?'
    const late = rows<Call>(this.#sql, open, now)
    if (late.length > 0) {
      this.#storage.transactionSync(() => {
        for (const call of late) {
          this.#sql.exec('UPDATE budget_calls SET expired = 1 WHERE id = ?', call.id)
          this.#add(call, null)
        }
      })
    }
    this.#sql.exec('DELETE FROM budget_calls WHERE expired = 1 AND until <= ?', now - CORRECTED_WITHIN_MS)
  }

  #add(call: Call, used: CallCost | null): void {
    const { tokens, nanoUsd } = used ?? { tokens: call.tokens, nanoUsd: call.nano_usd }
    // A reservation that was released without a request is not a call.
    const isCall = tokens > 0 || (nanoUsd ?? 0) > 0 ? 1 : 0
    for (const period of [call.day, call.day.slice(0, 7)]) {
      if (firstRow(this.#sql, 'SELECT 1 FROM budget_periods WHERE period = ?', period) === null) this.#forget(call.day)
      this.#sql.exec(
        `INSERT INTO budget_periods VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (period) DO UPDATE SET
           tokens = tokens + ?2, nano_usd = nano_usd + ?3, calls = calls + ?4,
           unpriced_calls = unpriced_calls + ?5, unsettled_calls = unsettled_calls + ?6`,
        ...[period, tokens, nanoUsd ?? 0, isCall, nanoUsd === null ? isCall : 0, used === null ? isCall : 0],
      )
    }
  }

  /** An expired call was counted with its maximum; now its real use is known. */
  #correct(call: Call, used: CallCost): void {
    const unpriced = Number(used.nanoUsd === null) - Number(call.nano_usd === null)
    for (const period of [call.day, call.day.slice(0, 7)]) {
      this.#sql.exec(
        `UPDATE budget_periods SET tokens = tokens + ?2, nano_usd = nano_usd + ?3,
           unpriced_calls = unpriced_calls + ?4, unsettled_calls = unsettled_calls - 1 WHERE period = ?1`,
        ...[period, used.tokens - call.tokens, (used.nanoUsd ?? 0) - (call.nano_usd ?? 0), unpriced],
      )
    }
  }

  #period(span: Span, now: number): Period | null {
    return firstRow<Period>(this.#sql, 'SELECT * FROM budget_periods WHERE period = ?', periodOf(span, now))
  }

  #reserved(span: Span, now: number): { nanoUsd: number; tokens: number } {
    const query = `SELECT SUM(tokens) AS tokens, SUM(nano_usd) AS nano FROM budget_calls WHERE expired = 0 AND day GLOB ?`
    const sum = firstRow<{ tokens: number | null; nano: number | null }>(this.#sql, query, `${periodOf(span, now)}*`)
    return { nanoUsd: sum?.nano ?? 0, tokens: sum?.tokens ?? 0 }
  }

  /** Deletes old periods. The name of a month is a prefix of its days' names, so one comparison finds all old ones. */
  #forget(day: string): void {
    // Counted from the first of the month, because not every month has a 31st.
    const at = new Date(`${day.slice(0, 7)}-01T00:00:00Z`)
    at.setUTCMonth(at.getUTCMonth() - KEPT_MONTHS)
    this.#sql.exec('DELETE FROM budget_periods WHERE period < ?', at.toISOString().slice(0, 7))
  }
}

const LENGTH: Readonly<Record<Span, number>> = { day: 10, month: 7 }

/** `2026-11-27` or `2026-11`, in UTC. */
const periodOf = (span: Span, now: number): string => new Date(now).toISOString().slice(0, LENGTH[span])

function boundsOf(span: Span, now: number): { beganAt: number; resetsAt: number } {
  const at = new Date(now)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  return span === 'day'
    ? { beganAt: Date.UTC(year, month, day), resetsAt: Date.UTC(year, month, day + 1) }
    : { beganAt: Date.UTC(year, month, 1), resetsAt: Date.UTC(year, month + 1, 1) }
}

// When everything that is left is reserved for open calls, new calls wait for these to end, in order.

type Waiting = { id: string; wake: () => void }

export class BudgetDesk {
  readonly #book: BudgetBook
  readonly #now: () => number
  #waiting: Waiting[] = []

  constructor(book: BudgetBook, now: () => number = Date.now) {
    this.#book = book
    this.#now = now
  }

  async reserve(call: ReservedCall, allowances: Allowances, patienceMs: number): Promise<BudgetAnswer> {
    const deadline = this.#now() + patienceMs
    const first = this.#book.reserve(call, allowances, this.#now())
    if (first.ok || first.reason === 'spent') return first
    for (let place: 'last' | 'first' = 'last'; ; place = 'first') {
      const how = await this.#turn(call.id, { ms: deadline - this.#now(), place })
      if (how === 'left') return first
      const answer = this.#book.reserve(call, allowances, this.#now())
      const isHeld = !answer.ok && answer.reason === 'held'
      // There may be room for the next call too, or the budget is used up for all.
      if (!isHeld) this.#wakeNext()
      if (!isHeld || how === 'late') return answer
    }
  }

  settle(id: string, used: CallCost | null): void {
    const waits = this.#waiting.find((one) => one.id === id)
    if (waits !== undefined) this.#leave(waits)
    this.#book.settle(id, used)
    this.#wakeNext()
  }

  #wakeNext(): void {
    this.#waiting[0]?.wake()
  }

  /** `left`: its caller has given up. */
  async #turn(id: string, { ms, place }: { ms: number; place: 'first' | 'last' }): Promise<'woken' | 'late' | 'left'> {
    if (ms <= 0) return 'late'
    let timer: ReturnType<typeof setTimeout> | undefined
    const waiting: Waiting = { id, wake: () => {} }
    const how = await new Promise<'woken' | 'late' | 'left'>((resolve) => {
      waiting.wake = () => resolve(this.#waiting.includes(waiting) ? 'woken' : 'left')
      timer = setTimeout(() => resolve('late'), ms)
      // A call that was woken without success keeps its place.
      if (place === 'last') this.#waiting.push(waiting)
      else this.#waiting.unshift(waiting)
    })
    clearTimeout(timer)
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    return how
  }

  #leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    waiting.wake()
  }
}
