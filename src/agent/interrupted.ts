// The events for a step that a restart or the end of the session interrupted. Its progress is unknown, so it does not run
// again by itself, unless a second run does no harm.

import { runCommandStep, stoppedCommand } from './command-step.ts'
import { actionAt } from './confirmation.ts'
import type { ObservationEvent } from './events.ts'
import { partialNote } from './model-step.ts'
import { errorObservation } from './observations.ts'
import { followCall } from './tool-step.ts'
import type { OpenStep, StepOutcome } from './turn.ts'
import type { TurnDeps, TurnStore } from './turn-deps.ts'

const FAILED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_ERROR'
const STOPPED = 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'

export const GIVEN_UP =
  'RuntimeError: the service was restarted in the middle of this step again and again; send a message to go on'

/** The wait in ms before a step that was interrupted this many times in a row runs again; null to give up. */
export function delayAfter(interruptions: number): number | null {
  if (interruptions < 3) return 0
  return interruptions >= 40 ? null : Math.min(1000 * 2 ** (interruptions - 3), 30_000)
}

/** After a restart. */
export function interrupted(step: OpenStep, store: TurnStore): StepOutcome {
  if (step.kind === 'model') {
    // Only text was lost: the part that was stored is kept, and the model is asked again.
    const { partial } = store.turn.value
    return { events: partial === '' ? [] : [partialNote(partial)] }
  }
  if (step.kind === 'call') {
    const { key, actionId, repeatable } = step
    if (repeatable) return { events: [], stored: () => store.calls.mark(key, 'confirmed', actionId) }
    return unknownOutcome(step, store, {
      text: 'The service restarted while this ran. Its outcome is unknown; it was not run again.',
      errorId: FAILED,
    })
  }
  const text = 'The service restarted while this command ran. Its outcome is unknown; it was not run again.'
  return { events: [errorObservation(step.from, text, { cause: step.actionId, errorId: FAILED })] }
}

/** When the session is closed. */
export function cutShort(step: OpenStep, store: TurnStore): StepOutcome {
  if (step.kind === 'command') return { events: [stoppedCommand(step, '')] }
  if (step.kind === 'model') return { events: [] }
  return unknownOutcome(step, store, { text: 'Stopped: the session was closed.', errorId: STOPPED })
}

function unknownOutcome(
  { key, actionId }: Extract<OpenStep, { kind: 'call' }>,
  store: TurnStore,
  { text, errorId }: { text: string; errorId: typeof FAILED | typeof STOPPED },
): StepOutcome {
  const action = actionAt(store, actionId)
  const event: ObservationEvent = errorObservation(action?.source ?? 'agent', text, { cause: actionId, errorId })
  const metadata = action?.tool_call_metadata
  return {
    events: [metadata === undefined ? event : { ...event, tool_call_metadata: metadata }],
    stored: (first) => store.calls.settle(key, { observationId: first }),
  }
}

// A step that a runner was given before this instance began. It is not closed as interrupted: it runs again with the same key,
// and what the runner has begun is only followed to its end.

/** Whether the outcome of the step can still be learned. */
export function isFollowed(step: OpenStep, { runtimes }: Pick<TurnDeps, 'runtimes'>): boolean {
  return step.kind !== 'model' && runtimes.isOpen(runtimes.keyOf(step.actionId))
}

export async function followStep(step: OpenStep, deps: TurnDeps, signal: AbortSignal): Promise<StepOutcome> {
  if (step.kind === 'command') return runCommandStep(step, deps, signal)
  const call = step.kind === 'call' ? deps.calls.get(step.key) : null
  if (step.kind !== 'call' || call === null) return { events: [] }
  const outcome = await followCall(deps, { call, actionId: step.actionId, signal })
  return deps.turn.value.state === 'user_confirmed' ? { ...outcome, next: { state: 'running' } } : outcome
}
