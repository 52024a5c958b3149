// The configuration of one step: the agent, its model, its tools and the limits. It is made again for each answer of
// the model, so a changed setting is used from the next step on. Whether an action waits for the user is decided for
// each call.

import { errorFields, log } from '../lib/log.ts'
import { type LanguageModel, ModelError } from '../llm/model.ts'
import type { AgentName } from './agents.ts'
import type { ActionEvent } from './events.ts'
import type { Judgement } from './security/judgement.ts'
import type { Tool } from './tools/tool.ts'

export type StepConfig = {
  readonly agent: AgentName
  /** Null for the agent without a model. */
  readonly model: LanguageModel | null
  readonly system: string
  readonly tools: ReadonlyMap<string, Tool>
  /** The settings name an agent that does not exist here. */
  readonly isUnknownAgent: boolean
  /** Answers of the model in one turn, and the cost of the conversation in US dollars; null for no limit. */
  readonly maxIterations: number
  readonly maxBudget: number | null
  readonly condenses: boolean
  /** The risk of an action, null when no analyzer is set, and whether the user must confirm it. */
  judge(action: ActionEvent): Judgement
}

/**
 * Step configurations from the owner's settings. Each call throws `ModelError` when the settings cannot be read, or
 * name a model that is not usable.
 */
export type StepConfigs = {
  /** For the next answer of the model. */
  renew(signal: AbortSignal): Promise<StepConfig>
  /** For a call of the newest answer: its tools, judged with the current settings. */
  current(signal: AbortSignal): Promise<StepConfig>
  /** The model for requests that are not a step of the agent; null when there is none. */
  model(): Promise<LanguageModel | null>
}

/** The agent that the settings name now; `working` when they cannot be read. */
export async function agentNow(configs: StepConfigs, working: AgentName, signal: AbortSignal): Promise<AgentName> {
  try {
    return (await configs.renew(signal)).agent
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    log.warn('agent.unknown_for_now', errorFields(error))
    return working
  }
}

/** The model that would be used now; null when none is set or usable. */
export async function modelNow(configs: StepConfigs): Promise<LanguageModel | null> {
  try {
    return await configs.model()
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    return null
  }
}
