// The agent's list of what is to be done. It shows as a thought, and lasts as long as the conversation.

import { z } from 'zod'
import { noted, THOUGHT } from './control.ts'
import { AGENT, defineTool } from './define-tool.ts'
import type { ToolUnit } from './tool.ts'

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
