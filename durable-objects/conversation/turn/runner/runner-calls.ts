// The calls that were given to a runner. A row is written before the call is sent, and deleted when its outcome is an
// observation. So after a restart this object asks the runner for the outcome instead of running the call again. A row
// without a runner is a call that was not sent yet: after a restart it is sent, because nothing has begun it. Only the
// beginning and the end of the output are kept.

import { gapNote, MAX_CELL_BYTES } from '../../../../src/runners/output.ts'
import { firstRow, rows } from '../../../sql.ts'
import { NOTEBOOK_TABLES, RUNNER_TABLES } from '../../schema.ts'

/** Bytes of output that are kept of its beginning, and of its end. */
const HEAD_BYTES = 256 * 1024
const TAIL_BYTES = 256 * 1024

export type StoredCall = { key: string; runner: string; next_seq: number; total: number }

export class RunnerCalls {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  get(key: string): StoredCall | null {
    if (!this.#hasTable) return null
    const query = "SELECT key, runner, next_seq, total FROM runner_calls WHERE key = ? AND runner <> ''"
    return firstRow<StoredCall>(this.#sql, query, key)
  }

  /** Whether a runner may have any call. */
  get isAny(): boolean {
    return this.#hasTable && firstRow(this.#sql, "SELECT 1 FROM runner_calls WHERE runner <> '' LIMIT 1") !== null
  }

  /** Whether the call was sent, or is to be. */
  has(key: string): boolean {
    return this.#hasTable && firstRow(this.#sql, 'SELECT 1 FROM runner_calls WHERE key = ?', key) !== null
  }

  get #hasTable(): boolean {
    return firstRow(this.#sql, "SELECT 1 FROM sqlite_master WHERE name = 'runner_calls'") !== null
  }

  #isCell(key: string): boolean {
    // This table was added later than the others.
    const hasTable = firstRow(this.#sql, "SELECT 1 FROM sqlite_master WHERE name = 'runner_cells'") !== null
    return hasTable && firstRow(this.#sql, 'SELECT 1 FROM runner_cells WHERE key = ?', key) !== null
  }

  /** Notes that the call is meant for a runner. */
  plan(key: string): void {
    this.#sql.exec(RUNNER_TABLES)
    this.#sql.exec("INSERT OR IGNORE INTO runner_calls (key, runner, next_seq, total) VALUES (?, '', 0, 0)", key)
  }

  /** `isCell`: the whole output is kept, because it contains pictures; the runner limits its texts. */
  begin(key: string, runner: string, isCell = false): void {
    if (isCell) this.#sql.exec(NOTEBOOK_TABLES)
    if (isCell) this.#sql.exec('INSERT OR IGNORE INTO runner_cells (key) VALUES (?)', key)
    this.#sql.exec(
      'INSERT OR REPLACE INTO runner_calls (key, runner, next_seq, total) VALUES (?, ?, 0, 0)',
      key,
      runner,
    )
  }

  /** The outcome is stored, or nobody will ask for it. */
  drop(key: string): void {
    if (!this.has(key)) return
    this.#sql.exec('DELETE FROM runner_calls WHERE key = ?', key)
    this.forgetOutput(key)
    if (this.#isCell(key)) this.#sql.exec('DELETE FROM runner_cells WHERE key = ?', key)
  }

  /**
   * Stores a piece of output. False when it is already stored or belongs to no open call; `gap` when pieces before it
   * are missing.
   */
  addOutput(key: string, seq: number, bytes: Uint8Array): boolean | 'gap' {
    const call = this.get(key)
    if (call === null || seq < call.next_seq) return false
    if (seq > call.next_seq) return 'gap'
    const total = call.total + bytes.byteLength
    this.#sql.exec('UPDATE runner_calls SET next_seq = ?, total = ? WHERE key = ?', seq + 1, total, key)
    this.keep(key, bytes, { at: call.total, isCell: this.#isCell(key) })
    return true
  }

  /** Stores bytes of an output at their position. */
  keep(key: string, bytes: Uint8Array, { at, isCell }: { at: number; isCell: boolean }): void {
    const total = at + bytes.byteLength
    if (bytes.byteLength > 0 && !(isCell && total > MAX_CELL_BYTES)) {
      const copy = bytes.slice().buffer
      this.#sql.exec('INSERT INTO runner_output (key, at, bytes) VALUES (?, ?, ?)', key, at, copy)
    }
    if (!isCell && total > HEAD_BYTES + TAIL_BYTES) {
      const query = 'DELETE FROM runner_output WHERE key = ? AND at >= ? AND at + length(bytes) < ?'
      this.#sql.exec(query, key, HEAD_BYTES, total - TAIL_BYTES)
    }
  }

  forgetOutput(key: string): void {
    this.#sql.exec('DELETE FROM runner_output WHERE key = ?', key)
  }

  /** The output of the call; a line of text replaces a middle part that is not kept. */
  output(key: string, { isCell }: { isCell: boolean }): string {
    const query = 'SELECT at, bytes FROM runner_output WHERE key = ? ORDER BY at'
    const pieces = rows<Piece>(this.#sql, query, key)
    const total = pieces.reduce((most, { at, bytes }) => Math.max(most, at + bytes.byteLength), 0)
    // A piece that crosses either border is stored as a whole, so it is cut here.
    const bounds = isCell ? { head: total, tail: 0 } : { head: HEAD_BYTES, tail: total - TAIL_BYTES }
    const decoder = new TextDecoder()
    let text = ''
    let end = 0
    for (const { at, bytes } of pieces.flatMap((piece) => withoutMiddle(piece, bounds))) {
      if (at > end) text += decoder.decode() + gapNote(at - end)
      text += decoder.decode(bytes, { stream: true })
      end = at + bytes.byteLength
    }
    return text + decoder.decode()
  }
}

type Piece = { readonly at: number; readonly bytes: ArrayBuffer }

/** The parts of the piece before `head` and after `tail`. */
function withoutMiddle({ at, bytes }: Piece, { head, tail }: { head: number; tail: number }): Piece[] {
  const length = bytes.byteLength
  if (tail <= head) return [{ at, bytes }]
  const before = Math.min(length, Math.max(0, head - at))
  const from = Math.min(length, Math.max(0, tail - at))
  const parts = [
    { at, bytes: bytes.slice(0, before) },
    { at: at + from, bytes: bytes.slice(from) },
  ]
  return parts.filter((part) => part.bytes.byteLength > 0)
}
