// What one request to a model used, also one that failed. What the vendor does not tell is estimated, and says so.

import { ModelError, type ModelFailure, type ModelReply, type Prompt } from './model.ts'
import { textTokens } from './tokens.ts'

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

/** The model had not begun when the vendor refused. */
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

/** The tokens that vendors count for a picture of usual size. */
const PER_IMAGE = 1_200

function tokensOf({ system, messages, tools }: Prompt): number {
  const said = messages.reduce((sum, message) => {
    if (message.role === 'assistant') return sum + textTokens(message.text) + textTokens(JSON.stringify(message.calls))
    const parts = message.content.map((part) => (part.type === 'text' ? textTokens(part.text) : PER_IMAGE))
    return sum + parts.reduce((all, one) => all + one, 0)
  }, 0)
  return textTokens(system) + said + (tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)))
}
