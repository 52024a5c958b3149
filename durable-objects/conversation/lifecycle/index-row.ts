// The conversation's row in the index; lists are made from these rows. Every change is stored in the object first; the
// row follows, and no request fails because of it. A request that changes something waits briefly for the row, so that
// the client's next list shows the change. Changes by the agent, and a new time alone, reach the row within a second.

import {
  type ChatSession,
  type ConversationSummary,
  saveChatSession,
  saveConversation,
} from '../../../src/db/conversations.ts'
import type { ModelCall } from '../../../src/db/model-calls.ts'
import { Outbox } from '../../outbox.ts'
import { MODEL_CALL, REMOVAL, remove, SPENDING, type Spending, tellModelCall, tellSpending } from './deletion.ts'
import type { UsageReport } from './usage-report.ts'

const KIND = 'index'
const KEY = ''
const USAGE = 'usage'

/** Changes within this time reach the index as one write. */
const INDEX_DELAY_MS = 1_000

type Deps = {
  env: Env
  sql: SqlStorage
  /** The report to the owner's object, which is sent with the row. */
  usage: UsageReport
  /** Requests a call of `deliver` at that time at the latest, epoch ms. */
  wakeAt(at: number): void
  /** The current row. */
  summary(): ConversationSummary
  /** The row of a talk, for the list of talks; null for any other conversation. */
  talk(): ChatSession | null
}

export class IndexRow {
  readonly #deps: Deps
  readonly #outbox: Outbox
  #isDirty = false
  /** The row's fields without times and sockets; null until this instance has written the row. */
  #shown: string | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#outbox = new Outbox(deps.sql)
  }

  /** Whether lists still show old values, apart from times and sockets. */
  get isBehind(): boolean {
    const { talk, summary } = this.#deps
    return this.#isDirty && (talk() !== null || this.#shown !== shownBy(summary()))
  }

  /** The row is built when it is sent, so one mark covers all changes until then. */
  mark(): void {
    if (this.#isDirty) return
    this.#isDirty = true
    this.#outbox.put(KIND, KEY, '')
    if (this.#deps.usage.isDue) this.#outbox.put(USAGE, KEY, '')
    this.#deps.wakeAt(Date.now() + INDEX_DELAY_MS)
  }

  /** Notes a model call; it reaches the database together with the other entries. */
  noteCall(call: ModelCall): void {
    this.#outbox.put(MODEL_CALL, call.key, JSON.stringify(call))
    this.#deps.wakeAt(Date.now() + INDEX_DELAY_MS)
  }

  /**
   * Notes what a model call used. It is reported at once, because other calls may wait for the budget that it frees.
   */
  noteSpending(spending: Spending): void {
    this.#outbox.put(SPENDING, spending.id, JSON.stringify(spending))
    this.#deps.wakeAt(Date.now())
  }

  /** Sends the row at once, even during a back-off; `onWritten` is called when it is written. */
  async flush(onWritten: () => void): Promise<void> {
    this.#outbox.hurry(KIND, KEY)
    await this.deliver(onWritten)
  }

  /** Updates the row; after a failure the alarm tries again. */
  async deliver(onWritten: () => void = () => {}): Promise<void> {
    const { env, summary, talk, usage } = this.#deps
    const { nextAttemptAt } = await this.#outbox.deliver(async (entry) => {
      if (entry.kind === REMOVAL) return remove(env, entry)
      if (entry.kind === MODEL_CALL) return tellModelCall(env, entry)
      if (entry.kind === SPENDING) return tellSpending(env, entry)
      if (entry.kind === USAGE) return usage.send()
      this.#isDirty = false
      const row = talk()
      if (row === null) {
        const listed = summary()
        await saveConversation(env.DB, listed, revision(listed, entry.seq))
        this.#shown = shownBy(listed)
      } else await saveChatSession(env.DB, row, revision(row, entry.seq))
      onWritten()
      // Waiting requests are answered before the outbox commits that the row was written.
      await scheduler.wait(0)
    })
    if (nextAttemptAt !== null) this.#deps.wakeAt(nextAttemptAt)
  }
}

const shownBy = (summary: ConversationSummary): string =>
  JSON.stringify({ ...summary, lastUpdatedAt: summary.lastUpdatedAt !== null, numConnections: null })

/** Grows with every write, also from one conversation with this id to the next. */
function revision({ createdAt }: Pick<ConversationSummary, 'createdAt'>, seq: number): number {
  return Math.floor(Date.parse(createdAt) / 1000) * 1_000_000 + seq
}
