// The agent that needs no model: every message is a shell script, run where the one before left off.

import { runAction, systemAction } from './actions.ts'
import type { ActionEvent } from './events.ts'

const ABOUT = `This conversation is a shell. Every message is run as a bash script in the workspace at /workspace; the
folder and exported variables last from one message to the next. No language model is involved.`

export function introduction(): ActionEvent {
  return systemAction(ABOUT, 'ShellAgent', [])
}

/** What the agent does about a message. */
export function answerTo(message: string): ActionEvent {
  return runAction('agent', message)
}
