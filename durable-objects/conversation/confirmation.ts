// An action that waits for the user's word.

import type { ActionEvent } from '../../src/agent/events.ts'
import { stateChanged, userRejected } from '../../src/agent/observations.ts'
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

/** The action is not going to run; the model is told why. */
export function refuseAwaited(desk: Desk, why: string): void {
  const { awaiting } = desk.turn.value
  if (awaiting === null) return
  desk.turn.change({ awaiting: null })
  desk.calls.settle(awaiting, { answer: why })
  desk.calls.dropQueued('Not run: the user did not confirm an action before it.')
}

export function actionAt(desk: Desk, id: number): ActionEvent | null {
  const text = desk.log.get(id)
  if (text === null) return null
  // Our own row: an action that was stored with the call.
  const stored = JSON.parse(text) as ActionEvent & { id: number; timestamp: string }
  const { id: _id, timestamp: _timestamp, ...action } = stored
  return action
}
