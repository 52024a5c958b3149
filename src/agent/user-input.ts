// Inputs of users: messages, commands, and requests for another state. They are stored and acknowledged at once; the
// loop processes them later.

import { changeAgentState, recallAction } from './actions.ts'
import { answerAwaited, isAnswer, refuseAwaited, tellUnanswerable } from './confirmation.ts'
import { extendLimits } from './context/limits.ts'
import type { ActionEvent, NewEvent } from './events.ts'
import { stateChanged } from './observations.ts'
import { AT_REST, enter, isIdle, messageWaits, waitingTexts } from './transitions.ts'
import type { RequestedState } from './turn.ts'
import type { TurnDeps, TurnStore } from './turn-deps.ts'

type InputDeps = TurnStore & Pick<TurnDeps, 'wake'>

/** Returns the id of the event. `isTask`: the message is a task in natural language, not a script. */
export function receiveMessage(deps: InputDeps, event: ActionEvent, isTask: boolean): number {
  const id = deps.turn.value.opened ? takeMessage(deps, event) : deps.emit([event])
  if (isTask) deps.turn.change({ task: id })
  return id
}

/** Processes what arrived during the set-up. Each message triggers its microagents, as if it arrived now. */
export function takeUpWaiting(deps: InputDeps): void {
  deps.emit([changeAgentState('environment', 'running')])
  const [first = '', ...others] = waitingTexts(deps)
  promiseRecall(deps, first)
  deps.turn.change({ state: 'running', introduced: true })
  for (const text of others) promiseRecall(deps, text)
  deps.wake(Date.now())
}

/** Handles any state except `stopped`, which the loop handles. `actionId` names the action that is answered. */
export function requestState(deps: InputDeps, state: Exclude<RequestedState, 'stopped'>, actionId: unknown): void {
  if (state === 'user_confirmed' || state === 'user_rejected') {
    answer(deps, state, actionId)
    return
  }
  const current = deps.turn.value.state
  if (current === 'awaiting_user_confirmation' && state !== 'paused')
    refuseAwaited(deps, 'The user went on without it.')
  if (state === 'paused' && current !== 'paused') deps.turn.change({ pausedAtRest: AT_REST.has(current) })
  enter(deps, state === 'running' && isIdle(deps) ? 'awaiting_user_input' : state)
  if (state === 'running') deps.wake(Date.now())
}

function answer(deps: InputDeps, state: 'user_confirmed' | 'user_rejected', actionId: unknown): void {
  if (isAnswer(deps, actionId)) answerAwaited(deps, state)
  else {
    if (actionId !== undefined) tellUnanswerable(deps)
    return
  }
  // A message that was written before the answer is the model's next question.
  if (deps.turn.value.state === 'user_rejected') enter(deps, messageWaits(deps) ? 'running' : 'awaiting_user_input')
  deps.wake(Date.now())
}

function takeMessage(deps: InputDeps, event: ActionEvent): number {
  const text = String(event.args.content)
  const { state, introduced } = deps.turn.value
  if (state === 'awaiting_user_confirmation')
    refuseAwaited(deps, `The user did not confirm this, and wrote instead: ${text}`)
  const id = deps.log.last + 1
  deps.emit(introduced ? [event] : [event, changeAgentState('environment', 'running')])
  promiseRecall(deps, text)
  extendLimits(deps.turn)
  deps.turn.change({ state: 'running', introduced: true, failures: { count: 0, retryAt: 0 }, interruptions: 0 })
  deps.wake(Date.now())
  return id
}

/** Stores the recall action for this message, around the change to `running`. */
function promiseRecall(deps: TurnStore, query: string): void {
  const { introduced, state, agent, recalls } = deps.turn.value
  const isFirst = !introduced
  // The shell agent gets the description of the workspace once; it has no use for triggered microagents.
  const isTold = isFirst || agent !== 'ShellAgent'
  const cause = deps.log.last + 1
  const events: NewEvent[] = []
  if (isTold) events.push(recallAction(isFirst ? 'workspace_context' : 'knowledge', query))
  if (isFirst || state !== 'running') events.push(stateChanged('running'))
  if (events.length > 0) deps.emit(events)
  if (isTold) deps.turn.change({ recalls: [...recalls, { cause, query, isFirst }] })
}
