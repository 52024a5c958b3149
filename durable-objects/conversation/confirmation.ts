// An action that waits for the user's word.

import type { ActionEvent } from '../../src/agent/events.ts'
import { errorObservation, stateChanged, userRejected } from '../../src/agent/observations.ts'
import { cutTo, MAX_ANSWER_LENGTH } from './call-queue.ts'
import { USER_ONLY } from './history.ts'
import type { Desk } from './turn.ts'

/** The action is told a second time, with what became of it; a confirmed one is then ready to run. */
export function answerAwaited(desk: Desk, answer: 'user_confirmed' | 'user_rejected'): void {
  const { awaiting } = desk.turn.value
  const call = awaiting === null ? null : desk.calls.get(awaiting)
  const action = call === null || call.action_id === null ? null : actionAt(desk, call.action_id)
  if (call === null || action === null) return
  const confirmation = answer === 'user_confirmed' ? 'confirmed' : 'rejected'
  const again = { ...action, args: { ...action.args, thought: '', confirmation_state: confirmation } }
  const id = desk.emit([again, stateChanged(answer)])
  desk.turn.change({ state: answer })
  if (answer === 'user_confirmed') {
    desk.calls.mark(call.key, 'confirmed', id)
    return
  }
  const refusal = desk.emit([userRejected('The user rejected this action.', id, action.tool_call_metadata)])
  desk.calls.settle(call.key, { observationId: refusal })
  desk.calls.dropQueued('Not run: the user rejected an action before it.')
  desk.turn.change({ awaiting: null })
}

/** Whether something waits, and is what the answer is meant for. One that names no action is for whatever waits. */
export function isAnswer({ turn, calls }: Desk, actionId: unknown): boolean {
  const { state, awaiting } = turn.value
  if (state !== 'awaiting_user_confirmation' || awaiting === null) return false
  return actionId === undefined || calls.get(awaiting)?.action_id === actionId
}

/** Nothing is done for an answer to what does not wait, and that is said. */
export function tellUnanswerable({ emit }: Desk): void {
  const text = 'No action that this answer is for waits for one. It was answered, or given up, before.'
  emit([errorObservation('environment', text, { errorId: USER_ONLY })])
}

/** The action is not going to run; the user and the model are told why. */
export function refuseAwaited(desk: Desk, reason: string): void {
  // A message that stands for an answer is an event by itself; its beginning says enough here.
  const why = cutTo(reason, MAX_ANSWER_LENGTH)
  const { awaiting } = desk.turn.value
  if (awaiting === null) return
  const actionId = desk.calls.get(awaiting)?.action_id ?? null
  const action = actionId === null ? null : actionAt(desk, actionId)
  desk.turn.change({ awaiting: null })
  if (actionId === null || action === null) desk.calls.settle(awaiting, { answer: why })
  else
    desk.calls.settle(awaiting, { observationId: desk.emit([userRejected(why, actionId, action.tool_call_metadata)]) })
  desk.calls.dropQueued('Not run: the user did not confirm an action before it.')
}

/** In a fork of a conversation whose newest action waits, nobody can answer it any more. */
export function closeForked(desk: Desk): void {
  const id = desk.log.last
  const action = id < 0 ? null : actionAt(desk, id)
  if (action?.args?.confirmation_state !== 'awaiting_confirmation') return
  desk.emit([userRejected('Not run: the conversation was forked while this waited.', id, action.tool_call_metadata)])
}

export function actionAt(desk: Desk, id: number): ActionEvent | null {
  const text = desk.log.get(id)
  if (text === null) return null
  // Our own row: an action that was stored with the call.
  const stored = JSON.parse(text) as ActionEvent & { id: number; timestamp: string }
  const { id: _id, timestamp: _timestamp, ...action } = stored
  return action
}
