// The conversation's row in the index, which lists are made of. Every change is committed here first; the row follows, and
// nothing fails because of it. Whoever asks for a change waits for the row, but not for long, so that the author's next list
// shows it; what the agent does reaches the row within a second.

import { type ConversationSummary, saveConversation } from '../../src/db/conversations.ts'
import { Outbox } from '../outbox.ts'
import { PURGE, purge } from './tombstone.ts'
import type { UsageReport } from './usage-report.ts'

const KIND = 'index'
const KEY = ''
const USAGE = 'usage'

/** Changes within this time reach the index as one write. */
const INDEX_DELAY_MS = 1_000

type Parts = {
  env: Env
  sql: SqlStorage
  /** What goes to the owner's books along with the row. */
  usage: UsageReport
  /** To have `deliver` called at that time at the latest, epoch ms. */
  wakeAt(at: number): void
  /** As it is now. */
  summary(): ConversationSummary
}

export class IndexRow {
  readonly #parts: Parts
  readonly #outbox: Outbox
  #isDirty = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#outbox = new Outbox(parts.sql)
  }

  /** The row is built when it is sent, so one mark covers whatever changes until then. */
  mark(): void {
    if (this.#isDirty) return
    this.#isDirty = true
    this.#outbox.put(KIND, KEY, '')
    if (this.#parts.usage.isDue) this.#outbox.put(USAGE, KEY, '')
    this.#parts.wakeAt(Date.now() + INDEX_DELAY_MS)
  }

  /** Sends the row at once, even while earlier failures have it wait; `onWritten` is called when it stands there. */
  async flush(onWritten: () => void): Promise<void> {
    this.#outbox.hurry(KIND, KEY)
    await this.deliver(onWritten)
  }

  /** Brings the row up to date; on failure the alarm tries again. */
  async deliver(onWritten: () => void = () => {}): Promise<void> {
    const { env, summary, usage } = this.#parts
    const { nextAttemptAt } = await this.#outbox.deliver(async (entry) => {
      if (entry.kind === PURGE) return purge(env, entry)
      if (entry.kind === USAGE) return usage.send()
      this.#isDirty = false
      const row = summary()
      await saveConversation(env.DB, row, revision(row, entry.seq))
      onWritten()
      // Whoever waited for the row is answered before the outbox commits that it was written.
      await scheduler.wait(0)
    })
    if (nextAttemptAt !== null) this.#parts.wakeAt(nextAttemptAt)
  }
}

/** Grows from write to write, and from one conversation of this id to the next. */
function revision({ createdAt }: ConversationSummary, seq: number): number {
  return Math.floor(Date.parse(createdAt) / 1000) * 1_000_000 + seq
}
