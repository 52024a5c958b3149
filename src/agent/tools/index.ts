// The list of tools, and of the kinds of actions that they make. Each tool describes itself in its own file.

import { type ActionKind, contentOf, plainText, withoutRemarks } from './action-kind.ts'
import { BASH_TOOL } from './bash.ts'
import { BROWSE_TOOL } from './browse.ts'
import { BROWSER_TOOL_UNIT } from './browser.ts'
import { FINISH_TOOL, RISK_OF_NOTHING, TASK_TOOL, THINK_TOOL } from './control.ts'
import { EDITOR_TOOL, WRITE } from './editor.ts'
import { REMOTE_CALL } from './mcp.ts'
import { NOTEBOOK_TOOL } from './notebook.ts'
import { GLOB_TOOL, GREP_TOOL, VIEW_TOOL } from './read-only.ts'
import type { Tool, ToolAgent, ToolDeps, ToolUnit } from './tool.ts'

// Kinds of actions that no tool makes: events of the conversation itself, and actions in recordings of other services.

const OWN: Omit<ActionKind, 'action'> = {
  observation: 'null',
  risk: RISK_OF_NOTHING,
  asks: () => 'never',
  view: () => '',
  ends: null,
  modelText: plainText,
  replay: 'by-itself',
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

/** A message is replayed as a message, and not as a call. */
const SPOKEN: readonly ActionKind[] = ['message', 'null'].map((action) => ({ ...OWN, action, replay: null }))

const BOOKKEEPING: readonly ActionKind[] = [
  ...['system', 'change_agent_state', 'condensation', 'condensation_request'].map((action) => ({ ...OWN, action })),
  { ...OWN, action: 'recall', observation: 'recall' },
]

const REFUSAL: ActionKind = { ...OWN, action: 'reject', ends: 'rejected', replay: null }

const NO_TOOL_KINDS: readonly ActionKind[] = [...SPOKEN, ...BOOKKEEPING, REFUSAL, WRITE]

/** In the order in which the model sees the tools of its agent. */
export const TOOLS: readonly ToolUnit[] = [
  BASH_TOOL,
  THINK_TOOL,
  FINISH_TOOL,
  BROWSE_TOOL,
  BROWSER_TOOL_UNIT,
  NOTEBOOK_TOOL,
  EDITOR_TOOL,
  TASK_TOOL,
  GREP_TOOL,
  GLOB_TOOL,
  VIEW_TOOL,
]

/** Every known kind of action, each once. */
export const ACTION_KINDS: readonly ActionKind[] = [
  ...new Set([...TOOLS.flatMap(({ kinds }) => kinds), REMOTE_CALL, ...NO_TOOL_KINDS]),
]

const byAction = new Map(ACTION_KINDS.map((kind) => [kind.action, kind]))
// If two kinds have the same observation, the kind of our own tool counts: it comes first.
const byObservation = new Map(ACTION_KINDS.toReversed().map((kind) => [kind.observation, kind]))

/** Null for an unknown kind: such an action gets the highest risk. */
export const actionKind = (action: string): ActionKind | null => byAction.get(action) ?? null

/** The kind of the actions with this observation; null when no known kind has it. */
export const observedKind = (observation: string): ActionKind | null => byObservation.get(observation) ?? null

/** The tools that the agent gets with these dependencies. */
export function toolsOf(agent: ToolAgent, deps: ToolDeps): Tool[] {
  return unitsOf(agent).flatMap((unit) => unit.open(deps) ?? [])
}

/** Names that no other tool of the agent may have. */
export const toolNamesOf = (agent: ToolAgent): string[] => unitsOf(agent).map(({ name }) => name)

const unitsOf = (agent: ToolAgent): ToolUnit[] => TOOLS.filter(({ agents }) => agents.includes(agent))

const PAGE_TOOLS: ReadonlySet<string> = new Set(TOOLS.filter(({ isPage }) => isPage).map(({ name }) => name))

/** Whether the results of the tool are pages of the web. */
export const showsPages = (tool: string): boolean => PAGE_TOOLS.has(tool)
