// A recorded conversation that is being replayed: each step of it takes the place of one answer of the model.

import { agentMessage, userMessage } from '../../../src/agent/actions.ts'
import type { ReplayStep } from '../../../src/agent/trajectory.ts'
import type { LoggedCalls, StepOutcome } from '../../../src/agent/turn.ts'
import { firstRow } from '../../sql.ts'
import { StoredRecord } from '../../stored-record.ts'

type Stored = { steps: ReplayStep[]; next: number }

const NAME = 'replay'

export class ReplayQueue {
  readonly #calls: LoggedCalls
  readonly #meta: StoredRecord<Stored> | null

  /** Opens the stored recording; if steps are given, stores them first. */
  constructor(sql: SqlStorage, calls: LoggedCalls, steps: ReplayStep[] | null) {
    this.#calls = calls
    const isStored = firstRow(sql, 'SELECT 1 FROM meta WHERE name = ?', NAME) !== null
    this.#meta = isStored || steps !== null ? new StoredRecord<Stored>(sql, NAME, steps && { steps, next: 0 }) : null
  }

  /** Whether steps of the recording are left. */
  get isPlaying(): boolean {
    const stored = this.#meta?.value
    return stored?.steps[stored.next] !== undefined
  }

  /** The next step as if the model had answered it; null when all steps were replayed. */
  next(): StepOutcome | null {
    const stored = this.#meta?.value
    const step = stored?.steps[stored.next]
    if (this.#meta === null || stored === undefined || step === undefined) return null
    const isLast = stored.next + 1 === stored.steps.length
    const advance = () => this.#meta?.change({ next: stored.next + 1, ...(isLast ? { steps: [] } : {}) })
    if (step.kind === 'message') {
      const event = step.source === 'user' ? userMessage(step.content, null, null) : agentMessage(step.content)
      // Only the last step waits for the user.
      return { events: [event], stored: advance, ...(isLast ? { next: { state: 'awaiting_user_input' } } : {}) }
    }
    const call = { id: '', name: step.name, arguments: step.arguments }
    const play = () => {
      this.#calls.add({ text: step.thought, calls: [call], responseId: '' }, null)
      advance()
    }
    return { events: [], stored: play }
  }
}
