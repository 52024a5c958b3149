// A recorded conversation that is being played again: one step of it takes the place of one answer of the model.

import { agentMessage, userMessage } from '../../src/agent/actions.ts'
import type { ReplayStep } from '../../src/agent/replay.ts'
import { firstRow } from '../sql.ts'
import { Meta } from './meta.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { Desk } from './turn.ts'

type Stored = { steps: ReplayStep[]; next: number }

const NAME = 'replay'

export class ReplayQueue {
  readonly #desk: Desk
  readonly #meta: Meta<Stored> | null

  /** Opens what is stored; with steps, stores them first. */
  constructor(sql: SqlStorage, desk: Desk, steps: ReplayStep[] | null) {
    this.#desk = desk
    const isStored = firstRow(sql, 'SELECT 1 FROM meta WHERE name = ?', NAME) !== null
    this.#meta = isStored || steps !== null ? new Meta<Stored>(sql, NAME, steps && { steps, next: 0 }) : null
  }

  /** The next step as if the model had answered it; null when everything was played. */
  next(): StepOutcome | null {
    const stored = this.#meta?.value
    const step = stored?.steps[stored.next]
    if (this.#meta === null || stored === undefined || step === undefined) return null
    const isLast = stored.next + 1 === stored.steps.length
    const advance = () => this.#meta?.change({ next: stored.next + 1, ...(isLast ? { steps: [] } : {}) })
    if (step.kind === 'message') {
      const event = step.source === 'user' ? userMessage(step.content, null, null) : agentMessage(step.content)
      // Only the last one waits for an answer.
      return { events: [event], stored: advance, ...(isLast ? { next: { state: 'awaiting_user_input' } } : {}) }
    }
    const call = { id: '', name: step.name, arguments: step.arguments }
    const play = () => {
      this.#desk.calls.add({ text: step.thought, calls: [call], responseId: '' }, null)
      advance()
    }
    return { events: [], stored: play }
  }
}
