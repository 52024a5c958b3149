// Tools without an effect on the workspace: the agent's thoughts, and the end of its task.

import { z } from 'zod'
import { type ActionKind, always, contentOf, plainText, type Risk, withoutRemarks } from './action-kind.ts'
import { AGENT, defineTool, type Outcome, type ToolUnit } from './tool.ts'

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

/** A note of the agent to itself. */
const THOUGHT: ActionKind = {
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
  // It has no other arguments.
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

function noted(content: string): Outcome {
  return { source: AGENT, message: content, observation: THOUGHT.observation, content, extras: {} }
}

// The agent's list of tasks. It is shown as a thought, and is kept as long as the conversation.

const LIST = 'tasks'

const DESCRIPTION = `Keeps a list of tasks for work of several steps: \`plan\` replaces the whole list, \`view\` shows it. Have exactly one task
in progress, mark a task done as soon as it is, and leave the list alone for work of one or two steps.`

const Task = z.object({
  title: z.string().min(1).max(500),
  status: z.enum(['todo', 'in_progress', 'done']),
  notes: z.string().max(2000).optional(),
})
const TaskList = z.array(Task).max(100)
type Task = z.infer<typeof Task>

const Arguments = z.object({
  command: z.enum(['view', 'plan']).describe('What to do.'),
  task_list: TaskList.optional().describe('For plan: all tasks, in their order.'),
})

export const TASK_TOOL: ToolUnit = defineTool<z.infer<typeof Arguments>>({
  name: 'task_tracker',
  description: DESCRIPTION,
  schema: Arguments,
  agents: ['CodeActAgent'],
  kinds: [THOUGHT],
  repeatable: true,
  isPage: false,
  prepare:
    () =>
    ({ command, task_list: tasks }) => {
      const isPlan = command === 'plan' && tasks !== undefined
      const thought = isPlan ? listed(tasks) : 'Looking at the list of tasks.'
      return {
        action: { source: AGENT, message: thought, action: THOUGHT.action, args: { thought } },
        run: async ({ recall, remember }) => {
          if (command === 'plan' && tasks === undefined)
            return noted('ERROR: The command plan needs task_list. The list is as it was.')
          if (isPlan) remember(LIST, tasks)
          const current = TaskList.safeParse(recall(LIST)).data ?? []
          return noted(
            isPlan
              ? `The list is kept: ${counted(current)}.`
              : current.length === 0
                ? 'The list is empty.'
                : listed(current),
          )
        },
      }
    },
})

const MARKS = { todo: '[ ]', in_progress: '[>]', done: '[x]' } as const

function listed(tasks: readonly Task[]): string {
  const lines = tasks.map(
    ({ title, status, notes }, i) => `${i + 1}. ${MARKS[status]} ${title}${notes ? `\n   ${notes}` : ''}`,
  )
  return lines.join('\n') || 'No tasks.'
}

function counted(tasks: readonly Task[]): string {
  const done = tasks.filter(({ status }) => status === 'done').length
  return `${tasks.length} tasks, ${done} done`
}
