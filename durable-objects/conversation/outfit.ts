// What the agent works with in one step: which agent it is, its model, its tools and the limits that hold. It is made
// anew for each answer of the model, so that a changed setting holds from the next step on; what waits for the user is
// decided anew for each call.

import type { AgentName } from '../../src/agent/agents.ts'
import type { ActionEvent } from '../../src/agent/events.ts'
import type { Tool } from '../../src/agent/tools/tool.ts'
import type { LanguageModel } from '../../src/llm/model.ts'
import type { Judgement } from './judgement.ts'

export type Outfit = {
  readonly agent: AgentName
  /** Null for the agent that needs none. */
  readonly model: LanguageModel | null
  readonly system: string
  readonly tools: ReadonlyMap<string, Tool>
  /** The settings name an agent that does not exist here. */
  readonly isUnknownAgent: boolean
  /** Answers of the model in one turn, and dollars in the conversation; null for no limit. */
  readonly maxIterations: number
  readonly maxBudget: number | null
  readonly condenses: boolean
  /** The risk of an action, null when no analyzer is set, and whether the user must agree to it. */
  judge(action: ActionEvent): Judgement
}
