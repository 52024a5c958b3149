// The transitions between the agent's states. Each is an event, stored together with the changed row.

import { refuseAwaited } from './confirmation.ts'
import type { NewEvent, StoredEvent } from './events.ts'
import { errorObservation, stateChanged } from './observations.ts'
import type { AgentState } from './turn.ts'
import type { TurnDeps, TurnStore } from './turn-deps.ts'

/** States in which the user has to act: starting the agent would give it nothing to do. */
export const AT_REST: ReadonlySet<AgentState> = new Set<AgentState>(['awaiting_user_input', 'finished', 'rejected'])

export function enter(store: TurnStore, state: AgentState, before: NewEvent[] = [], reason = ''): void {
  if (state === store.turn.value.state) return
  store.emit([...before, stateChanged(state, reason)])
  store.turn.change({ state })
}

/** Without a model nothing follows the last input, so the agent waits for the user. */
export function restIfShellIsDone(store: TurnStore): void {
  const { agent, state, step } = store.turn.value
  const isDone = agent === 'ShellAgent' && state === 'running' && step === null && nextInput(store) === null
  if (isDone) enter(store, 'awaiting_user_input')
}

/** Whether there is no work: no step, no input, no call, and no question for a model. */
export function isIdle(store: TurnStore): boolean {
  const { state, step, agent, introduced, pausedAtRest } = store.turn.value
  if (step !== null || nextInput(store) !== null) return false
  if (agent === 'ShellAgent' || !introduced) return true
  return state === 'paused' ? pausedAtRest : AT_REST.has(state)
}

/** States that only the user can end, whatever waits. */
const HELD: ReadonlySet<AgentState> = new Set<AgentState>(['paused', 'stopped', 'error', 'awaiting_user_confirmation'])

/** Whether nothing more will happen unless the user acts. */
export function isSettled(store: TurnStore): boolean {
  const { state, step } = store.turn.value
  if (step !== null) return false
  return HELD.has(state) || (AT_REST.has(state) && nextInput(store) === null)
}

/** Inputs that waited behind a stopped step are not run: a user who presses stop wants everything to stop. */
export function dropWaiting(store: TurnStore): void {
  refuseAwaited(store, 'Not run: the user stopped the agent before it was confirmed.')
  store.calls.dropQueued('Not run: the user stopped the agent before it.')
  const dropped = skipInputs(store)
  if (dropped === 0) return
  const what = dropped === 1 ? 'One waiting message was' : `${dropped} waiting messages were`
  store.emit([errorObservation('agent', `Stopped. ${what} not run; send again what is still wanted.`)])
}

// User inputs that are not processed yet. They wait in the event log; the turn stores only how far processing has got.

type Inputs = Pick<TurnDeps, 'log' | 'turn'>

/** The first waiting input: a message or a command. */
export function nextInput({ log, turn }: Inputs): StoredEvent | null {
  return log.firstAfter(turn.value.cursor, 'user', ['action:message', 'action:run'])
}

/** Whether the user has written something that the model has not seen yet. */
export function messageWaits({ log, turn }: Inputs): boolean {
  return log.firstAfter(turn.value.cursor, 'user', ['action:message']) !== null
}

/** The messages that were not processed yet, in order. */
export function waitingTexts({ log, turn }: Inputs): string[] {
  const texts: string[] = []
  const next = (after: number) => log.firstAfter(after, 'user', ['action:message'])
  for (let message = next(turn.value.cursor); message !== null; message = next(message.id)) {
    // Stored by this service: an action that was validated when it arrived.
    const { args } = JSON.parse(message.text) as { args: { content: string } }
    texts.push(args.content)
  }
  return texts
}

/** The model sees the whole log, so every message so far counts as processed. Commands still wait. */
export function takeMessages(inputs: Inputs): void {
  for (let input = nextInput(inputs); input?.kind === 'action:message'; input = nextInput(inputs)) {
    inputs.turn.change({ cursor: input.id })
  }
}

/** Marks everything as processed without acting on it; returns how many inputs there were. */
function skipInputs(inputs: Inputs): number {
  let skipped = 0
  for (let input = nextInput(inputs); input !== null; input = nextInput(inputs)) {
    inputs.turn.change({ cursor: input.id })
    skipped += 1
  }
  return skipped
}
