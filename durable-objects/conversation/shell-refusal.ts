// What comes to the agent without a model and is no script: a task in words, made for a model, or a message of nothing but
// pictures. To run it would do something that nobody asked for, so it is answered.

import type { StoredEvent } from './event-log.ts'
import type { Turn } from './turn.ts'

const HOW =
  'Name a model in the settings (llm_model, and llm_api_key where it needs a key), with an agent other than ShellAgent'

const TASK = `This task is written for a language model, and this conversation has none, so nothing of it was run. ${HOW}, and send it again.`

const PICTURES = `Nothing was run: only a language model can look at a picture, and this conversation has none. ${HOW}, and send it again.`

/** Null for what is to be run. */
export function refusalOf(input: StoredEvent, { agent, task }: Turn): string | null {
  if (agent !== 'ShellAgent' || input.kind !== 'action:message') return null
  if (input.id === task) return TASK
  // Our own row: an action that was validated when it came in.
  const { args } = JSON.parse(input.text) as { args: { content: string; image_urls: string[] | null } }
  return args.content.trim() === '' && (args.image_urls ?? []).length > 0 ? PICTURES : null
}
