// What is told of a step that a restart, or the end of the session, cut off. Nobody knows how far it had got, so nothing of
// it runs again by itself, unless doing it twice does no harm.

import type { ObservationEvent } from '../../src/agent/events.ts'
import { errorObservation } from '../../src/agent/observations.ts'
import { stoppedCommand } from './command-step.ts'
import { actionAt } from './confirmation.ts'
import { partialNote } from './model-step.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { Desk, OpenStep } from './turn.ts'

const FAILED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'
const STOPPED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'

export const GIVEN_UP =
  'RuntimeError: the service was restarted in the middle of this step again and again; send a message to go on'

/** Before a step that was interrupted so many times in a row is taken up again; null to give up. */
export function delayAfter(interruptions: number): number | null {
  if (interruptions < 3) return 0
  return interruptions >= 40 ? null : Math.min(1000 * 2 ** (interruptions - 3), 30_000)
}

/** After a restart. */
export function interrupted(step: OpenStep, desk: Desk): StepOutcome {
  if (step.kind === 'model') {
    // Nothing but words was lost: what there was of them is kept, and the model is asked again.
    const { partial } = desk.turn.value
    return { events: partial === '' ? [] : [partialNote(partial)] }
  }
  if (step.kind === 'call') {
    const { key, actionId, repeatable } = step
    if (repeatable) return { events: [], stored: () => desk.calls.mark(key, 'confirmed', actionId) }
    return unknownOutcome(step, desk, {
      text: 'The service restarted while this ran. Its outcome is unknown; it was not run again.',
      errorId: FAILED,
    })
  }
  const text = 'The service restarted while this command ran. Its outcome is unknown; it was not run again.'
  return { events: [errorObservation(step.from, text, { cause: step.actionId, errorId: FAILED })] }
}

/** When the session is closed. */
export function cutShort(step: OpenStep, desk: Desk): StepOutcome {
  if (step.kind === 'command') return { events: [stoppedCommand(step, '')] }
  if (step.kind === 'model') return { events: [] }
  return unknownOutcome(step, desk, { text: 'Stopped: the session was closed.', errorId: STOPPED })
}

function unknownOutcome(
  { key, actionId }: Extract<OpenStep, { kind: 'call' }>,
  desk: Desk,
  { text, errorId }: { text: string; errorId: typeof FAILED | typeof STOPPED },
): StepOutcome {
  const action = actionAt(desk, actionId)
  const event: ObservationEvent = errorObservation(action?.source ?? 'agent', text, { cause: actionId, errorId })
  const metadata = action?.tool_call_metadata
  return {
    events: [metadata === undefined ? event : { ...event, tool_call_metadata: metadata }],
    stored: (first) => desk.calls.settle(key, { observationId: first }),
  }
}
