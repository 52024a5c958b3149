// Which tools an agent has, in the order in which the model is told of them.

import type { ShellCommand } from '../../workspace/shell-extensions.ts'
import { bashTool } from './bash.ts'
import { type BrowseParts, browseTool } from './browse.ts'
import { FINISH_TOOL, THINK_TOOL } from './control.ts'
import { editorTool } from './editor.ts'
import { readOnlyTools } from './read-only.ts'
import { TASK_TOOL } from './tasks.ts'
import type { Tool } from './tool.ts'

export type ToolParts = {
  /** Commands of the shell besides those that it has anyway: `git`, and those of `workspace/commands`. */
  readonly commands: readonly ShellCommand[]
  readonly shellTimeoutMs: number
  readonly seesImages: boolean
  /** What pages may be fetched, and how; without it the agent has no tool for that. */
  readonly browse?: BrowseParts
}

/** As much as the model may ask for, whatever the limit is otherwise. */
const MAX_TIMEOUT_MS = 600_000

export type ToolAgent = 'CodeActAgent' | 'ReadOnlyAgent'

export function toolsOf(agent: ToolAgent, parts: ToolParts): Tool[] {
  const { commands, shellTimeoutMs: timeoutMs, seesImages, browse } = parts
  if (agent === 'ReadOnlyAgent') return [THINK_TOOL, FINISH_TOOL, ...readOnlyTools({ seesImages })]
  const maxTimeoutMs = Math.max(timeoutMs, MAX_TIMEOUT_MS)
  return [
    bashTool({ commands, timeoutMs, maxTimeoutMs }),
    THINK_TOOL,
    FINISH_TOOL,
    ...(browse === undefined ? [] : [browseTool(browse)]),
    editorTool({ seesImages }),
    TASK_TOOL,
  ]
}
