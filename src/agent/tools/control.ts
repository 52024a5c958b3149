// Tools without an effect on the workspace: the agent's thoughts, and the end of its task.

import { z } from 'zod'
import { type ActionKind, always, contentOf, plainText, type Risk, withoutRemarks } from './action-kind.ts'
import { AGENT, defineTool } from './define-tool.ts'
import type { Outcome, ToolUnit } from './tool.ts'

const THINK = `Notes a thought. It changes nothing and finds out nothing new: use it to reason about what was found, to compare ways
to solve something, or to plan, when that is worth more than the next command.`

const FINISH = `Says that the task is done, or cannot be done, and ends your work until the user writes again. Call it when everything
that was asked for is done and checked, or when only the user can help on.`

const Thought = z.object({ thought: z.string().describe('The thought to note.') })
const Ending = z.object({
  message: z.string().describe('The last words to the user: what was done, how it was checked, what is left.'),
})

export const RISK_OF_NOTHING: Risk = {
  by: 'rules',
  rules: [
    { risk: 'low', about: 'agent', says: 'thinks, speaks, recalls, ends, or works on its own memory', given: always },
  ],
}

/** A note of the agent's to itself. */
export const THOUGHT: ActionKind = {
  action: 'think',
  observation: 'think',
  risk: RISK_OF_NOTHING,
  asks: () => 'never',
  view: ({ thought }) => `Thinking: ${String(thought)}`,
  ends: null,
  modelText: plainText,
  replay: ({ thought }) => ({
    name: 'think',
    arguments: { thought: typeof thought === 'string' ? thought : '' },
    thought: '',
  }),
  // It is all there is.
  sameAction: ({ thought }) => thought,
  sameOutcome: contentOf,
}

export const THINK_TOOL: ToolUnit = defineTool<z.infer<typeof Thought>>({
  name: 'think',
  description: THINK,
  schema: Thought,
  agents: ['CodeActAgent', 'ReadOnlyAgent'],
  kinds: [THOUGHT],
  repeatable: true,
  isPage: false,
  prepare:
    () =>
    ({ thought }) => ({
      action: { source: AGENT, message: `I am thinking...: ${thought}`, action: THOUGHT.action, args: { thought } },
      run: async () => noted('Your thought has been noted.'),
    }),
})

const ENDING: ActionKind = {
  action: 'finish',
  observation: 'null',
  risk: RISK_OF_NOTHING,
  asks: () => 'never',
  view: () => 'Finishing',
  ends: 'finished',
  modelText: plainText,
  replay: ({ final_thought: message }) => ({ name: 'finish', arguments: { message: message ?? '' } }),
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

export const FINISH_TOOL: ToolUnit = defineTool<z.infer<typeof Ending>>({
  name: 'finish',
  description: FINISH,
  schema: Ending,
  agents: ['CodeActAgent', 'ReadOnlyAgent'],
  kinds: [ENDING],
  repeatable: true,
  isPage: false,
  prepare:
    () =>
    ({ message }) => ({
      action: {
        source: AGENT,
        message,
        action: ENDING.action,
        args: { final_thought: message, outputs: {}, thought: '' },
      },
      run: async () => ({ source: AGENT, message: '', observation: ENDING.observation, content: '', extras: {} }),
    }),
})

export function noted(content: string): Outcome {
  return { source: AGENT, message: content, observation: THOUGHT.observation, content, extras: {} }
}
