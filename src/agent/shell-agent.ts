// The agent without a model: every message is a shell script, run in the session that the last one left.

import { runAction, systemAction } from './actions.ts'
import type { ActionEvent, StoredEvent } from './events.ts'
import type { Turn } from './turn.ts'

const ABOUT = `This conversation is a shell. Every message is run as a bash script in the workspace at /workspace; the
folder and exported variables last from one message to the next. No language model is involved.`

export function introduction(): ActionEvent {
  return systemAction(ABOUT, 'ShellAgent', [])
}

/** The action for a message. */
export function answerTo(message: string): ActionEvent {
  return runAction('agent', message)
}

// Inputs that the agent without a model cannot run as a script: a task in natural language, or a message with pictures only.
// To run them would do something that nobody asked for, so a sentence answers them.

const HOW =
  'Name a model in the settings (llm_model, and llm_api_key where it needs a key), with an agent other than ShellAgent'

const TASK = `This task is written for a language model, and this conversation has none, so nothing of it was run. ${HOW}, and send it again.`

const PICTURES = `Nothing was run: only a language model can look at a picture, and this conversation has none. ${HOW}, and send it again.`

/** The sentence; null for an input that is to be run. */
export function refusalOf(input: StoredEvent, { agent, task }: Turn): string | null {
  if (agent !== 'ShellAgent' || input.kind !== 'action:message') return null
  if (input.id === task) return TASK
  // Stored by this service: an action that was validated when it arrived.
  const { args } = JSON.parse(input.text) as { args: { content: string; image_urls: string[] | null } }
  return args.content.trim() === '' && (args.image_urls ?? []).length > 0 ? PICTURES : null
}
