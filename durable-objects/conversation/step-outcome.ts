import type { NewEvent } from '../../src/agent/events.ts'
import type { AgentState } from '../../src/agent/states.ts'

/** How a step ended: what is told of it, and the state that follows when it is not the one that holds. */
export type StepOutcome = {
  readonly events: NewEvent[]
  /** Called in the same write, with the id of the first event. */
  readonly stored?: (firstId: number) => void
  readonly next?: { readonly state: AgentState; readonly reason?: string }
}
