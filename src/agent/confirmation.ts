// An action that waits for the user's confirmation.

import type { ActionEvent } from './events.ts'
import { errorObservation, stateChanged, USER_ONLY, userRejected } from './observations.ts'
import { cutTo, MAX_ANSWER_LENGTH } from './turn.ts'
import type { TurnStore } from './turn-deps.ts'

/** Stores the action a second time with the user's answer; a confirmed action is then ready to run. */
export function answerAwaited(store: TurnStore, answer: 'user_confirmed' | 'user_rejected'): void {
  const { awaiting } = store.turn.value
  const call = awaiting === null ? null : store.calls.get(awaiting)
  const action = call === null || call.action_id === null ? null : actionAt(store, call.action_id)
  if (call === null || action === null) return
  const confirmation = answer === 'user_confirmed' ? 'confirmed' : 'rejected'
  const again = { ...action, args: { ...action.args, thought: '', confirmation_state: confirmation } }
  const id = store.emit([again, stateChanged(answer)])
  store.turn.change({ state: answer })
  if (answer === 'user_confirmed') {
    store.calls.mark(call.key, 'confirmed', id)
    return
  }
  const refusal = store.emit([userRejected('The user rejected this action.', id, action.tool_call_metadata)])
  store.calls.settle(call.key, { observationId: refusal })
  store.calls.dropQueued('Not run: the user rejected an action before it.')
  store.turn.change({ awaiting: null })
}

/** Whether an action waits and this answer belongs to it. An answer without an action id belongs to any waiting action. */
export function isAnswer({ turn, calls }: TurnStore, actionId: unknown): boolean {
  const { state, awaiting } = turn.value
  if (state !== 'awaiting_user_confirmation' || awaiting === null) return false
  return actionId === undefined || calls.get(awaiting)?.action_id === actionId
}

/** An answer to an action that does not wait has no effect, and an event says so. */
export function tellUnanswerable({ emit }: TurnStore): void {
  const text = 'No action that this answer is for waits for one. It was answered, or given up, before.'
  emit([errorObservation('environment', text, { errorId: USER_ONLY })])
}

/** Records for the user and the model why the action does not run. */
export function refuseAwaited(store: TurnStore, reason: string): void {
  // A message that counts as a refusal is an event of its own; its beginning is enough here.
  const why = cutTo(reason, MAX_ANSWER_LENGTH)
  const { awaiting } = store.turn.value
  if (awaiting === null) return
  const actionId = store.calls.get(awaiting)?.action_id ?? null
  const action = actionId === null ? null : actionAt(store, actionId)
  store.turn.change({ awaiting: null })
  if (actionId === null || action === null) store.calls.settle(awaiting, { answer: why })
  else
    store.calls.settle(awaiting, {
      observationId: store.emit([userRejected(why, actionId, action.tool_call_metadata)]),
    })
  store.calls.dropQueued('Not run: the user did not confirm an action before it.')
}

/** In a fork, nobody can answer an action that waited in the original conversation. */
export function closeForked(store: TurnStore): void {
  const id = store.log.last
  const action = id < 0 ? null : actionAt(store, id)
  if (action?.args?.confirmation_state !== 'awaiting_confirmation') return
  store.emit([userRejected('Not run: the conversation was forked while this waited.', id, action.tool_call_metadata)])
}

export function actionAt(store: TurnStore, id: number): ActionEvent | null {
  const text = store.log.get(id)
  if (text === null) return null
  // Stored by this service: the action that was stored with the call.
  const stored = JSON.parse(text) as ActionEvent & { id: number; timestamp: string }
  const { id: _id, timestamp: _timestamp, ...action } = stored
  return action
}
