// Tools that touch nothing: they say what the agent thinks, and that it is done.

import { z } from 'zod'
import { defineTool } from './define-tool.ts'
import { AGENT } from './outcomes.ts'
import type { Outcome, Tool } from './tool.ts'

const THINK = `Notes a thought. It changes nothing and finds out nothing new: use it to reason about what was found, to compare ways
to solve something, or to plan, when that is worth more than the next command.`

const FINISH = `Says that the task is done, or cannot be done, and ends your work until the user writes again. Call it when everything
that was asked for is done and checked, or when only the user can help on.`

const Thought = z.object({ thought: z.string().describe('The thought to note.') })
const Ending = z.object({
  message: z.string().describe('The last words to the user: what was done, how it was checked, what is left.'),
})

export const THINK_TOOL: Tool = defineTool<z.infer<typeof Thought>>({
  name: 'think',
  description: THINK,
  schema: Thought,
  repeatable: true,
  prepare: ({ thought }) => ({
    action: { source: AGENT, message: `I am thinking...: ${thought}`, action: 'think', args: { thought } },
    run: async () => noted('Your thought has been noted.'),
  }),
})

export const FINISH_TOOL: Tool = defineTool<z.infer<typeof Ending>>({
  name: 'finish',
  description: FINISH,
  schema: Ending,
  repeatable: true,
  prepare: ({ message }) => ({
    action: {
      source: AGENT,
      message,
      action: 'finish',
      args: { final_thought: message, outputs: {}, thought: '' },
    },
    run: async () => ({ source: AGENT, message: '', observation: 'null', content: '', extras: {} }),
  }),
})

export function noted(content: string): Outcome {
  return { source: AGENT, message: content, observation: 'think', content, extras: {} }
}
