// What a conversation has cost its owner, as clients show it: cumulative, on every action of the agent's.

import type { LanguageModel, ModelReply } from './model.ts'

export type Metrics = {
  readonly model: string
  /** In US dollars. */
  readonly cost: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** Of the model; 0 when unknown. */
  readonly contextWindow: number
  /** Of the newest answer, both ways. */
  readonly newestTokens: number
  readonly newestPromptTokens: number
}

export function newMetrics(): Metrics {
  return {
    model: '',
    cost: 0,
    promptTokens: 0,
    completionTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    contextWindow: 0,
    newestTokens: 0,
    newestPromptTokens: 0,
  }
}

export function addUsage(
  metrics: Metrics,
  { id, contextWindow }: Pick<LanguageModel, 'id' | 'contextWindow'>,
  { usage, cost }: Pick<ModelReply, 'usage' | 'cost'>,
): Metrics {
  return {
    model: id,
    cost: metrics.cost + cost,
    promptTokens: metrics.promptTokens + usage.promptTokens,
    completionTokens: metrics.completionTokens + usage.completionTokens,
    cacheReadTokens: metrics.cacheReadTokens + usage.cacheReadTokens,
    cacheWriteTokens: metrics.cacheWriteTokens + usage.cacheWriteTokens,
    contextWindow: contextWindow ?? 0,
    newestTokens: usage.promptTokens + usage.completionTokens,
    newestPromptTokens: usage.promptTokens,
  }
}

/** The `llm_metrics` of an action. The lists of single answers are empty: they would grow without end. */
export function metricsWire(metrics: Metrics, maxBudget: number | null): Record<string, unknown> {
  return {
    accumulated_cost: metrics.cost,
    max_budget_per_task: maxBudget,
    accumulated_token_usage: {
      model: metrics.model,
      prompt_tokens: metrics.promptTokens,
      completion_tokens: metrics.completionTokens,
      cache_read_tokens: metrics.cacheReadTokens,
      cache_write_tokens: metrics.cacheWriteTokens,
      context_window: metrics.contextWindow,
      per_turn_token: metrics.newestTokens,
      response_id: '',
    },
    costs: [],
    response_latencies: [],
    token_usages: [],
  }
}
