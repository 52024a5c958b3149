// A step that a runner was given before this instance began. It is not closed as interrupted: it runs again with the same key,
// and what the runner has begun is only followed to its end.

import { runCommandStep } from './command-step.ts'
import { followCall } from './tool-step.ts'
import type { OpenStep, StepOutcome } from './turn.ts'
import type { TurnDeps } from './turn-deps.ts'

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
