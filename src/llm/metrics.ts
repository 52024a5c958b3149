// The use of a model: of one request, including failed ones, and of a whole conversation, in the form that clients
// show. Numbers that the vendor does not report are estimated and marked.

import { type LanguageModel, ModelError, type ModelFailure, type ModelReply, type Prompt } from './model.ts'

export type Metrics = {
  readonly model: string
  /** In US dollars. */
  readonly cost: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** The model's window; 0 when unknown. */
  readonly contextWindow: number
  /** Tokens of the newest request and answer. */
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

/** The `llm_metrics` of an action. The lists of single answers are empty, because they would grow without end. */
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

// The use of one request, including failed ones. Numbers that the vendor does not report are estimated and marked.

export type CallNote = {
  /** Epoch ms. */
  readonly at: number
  /** `provider/model`. */
  readonly model: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly isEstimated: boolean
}

type Called = { readonly at: number; readonly model: string; readonly prompt: Prompt }

export function answeredNote({ at, model, prompt }: Called, reply: ModelReply): CallNote {
  const { promptTokens, completionTokens } = reply.usage
  if (promptTokens + completionTokens > 0) return { at, model, promptTokens, completionTokens, isEstimated: false }
  const written = textTokens(reply.text) + textTokens(reply.calls.map((call) => call.name + call.arguments).join(''))
  return { at, model, promptTokens: tokensOf(prompt), completionTokens: written, isEstimated: true }
}

/** The vendor refused before the model began. */
const REFUSED: ReadonlySet<ModelFailure> = new Set([
  'authentication',
  'out_of_credits',
  'rate_limit',
  'context_too_long',
  'unavailable',
  'bad_request',
  'address_refused',
])

/** A call that failed, or was stopped. */
export function failedNote({ at, model, prompt }: Called, error: unknown): CallNote {
  if (error instanceof ModelError && REFUSED.has(error.kind) && error.partialText === '') {
    return { at, model, promptTokens: 0, completionTokens: 0, isEstimated: false }
  }
  const written = error instanceof ModelError ? textTokens(error.partialText) : 0
  return { at, model, promptTokens: tokensOf(prompt), completionTokens: written, isEstimated: true }
}

/** The tokens that vendors count for a picture of typical size. */
const PER_IMAGE = 1_200

export function tokensOf({ system, messages, tools }: Prompt): number {
  const said = messages.reduce((sum, message) => {
    if (message.role === 'assistant') return sum + textTokens(message.text) + textTokens(JSON.stringify(message.calls))
    const parts = message.content.map((part) => (part.type === 'text' ? textTokens(part.text) : PER_IMAGE))
    return sum + parts.reduce((all, one) => all + one, 0)
  }, 0)
  return textTokens(system) + said + (tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)))
}

// Estimates the tokens of a text. No tokenizer is needed, because the vendor's own counts correct the estimate, and its
// tables would be larger than the rest of the service.

/** In scripts without spaces between words, one character is about one token. */
const DENSE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/g

export function textTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0
  return Math.ceil((text.length - dense) / 3.6 + dense * 0.9)
}
