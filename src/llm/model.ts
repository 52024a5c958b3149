// What the rest of the product knows of a language model: a prompt goes in, deltas come by, one reply comes out. Which
// vendor answers, and in which of its dialects, stays behind this.

/** The parameters of a tool, as JSON Schema (2020-12) of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

export type ToolSpec = { readonly name: string; readonly description: string; readonly parameters: JsonSchema }

/** A call as the model wrote it. `arguments` is its text: it may be broken JSON, and need not meet the schema. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string }

/** `url` is a `data:` URL, or an address that the vendor is to fetch. */
export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string }

export type PromptMessage =
  | { readonly role: 'user'; readonly content: readonly PromptPart[] }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ToolCall[]
      /** What the vendor wants back with this message, signed reasoning for one; JSON, opaque to everybody else. */
      readonly vendor?: unknown
    }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly content: readonly PromptPart[] }

export type Prompt = {
  readonly system: string
  readonly messages: readonly PromptMessage[]
  readonly tools: readonly ToolSpec[]
}

/** What comes by while the model writes. `index` counts the calls of the reply from 0. */
export type ModelDelta =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly id: string; readonly name: string; readonly text: string }

/** In tokens; what a vendor does not tell is 0. `promptTokens` includes those read from its cache. */
export type TokenUsage = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

export type ModelReply = {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: TokenUsage
  /** In US dollars, from the vendor's answer or the catalogue's prices; 0 when neither knows. */
  readonly cost: number
  readonly responseId: string
  /** Why the model stopped writing. `length`: its limit of output; the reply is what it had until then. */
  readonly finish: 'stop' | 'calls' | 'length' | 'other'
  readonly latencyMs: number
  readonly vendor?: unknown
}

export type AskOptions = {
  readonly signal?: AbortSignal
  readonly onDelta?: (delta: ModelDelta) => void
  readonly maxOutputTokens?: number
  /** The reply is to be one JSON value that meets this schema; the caller still checks it. */
  readonly schema?: JsonSchema
}

export interface LanguageModel {
  /** `provider/model`. */
  readonly id: string
  /** In tokens; null when nobody knows. */
  readonly contextWindow: number | null
  readonly seesImages: boolean
  /** One request, never repeated here. Throws `ModelError`, or the signal's reason when it was aborted. */
  ask(prompt: Prompt, options?: AskOptions): Promise<ModelReply>
}

export type ModelFailure =
  | 'authentication'
  | 'out_of_credits'
  | 'rate_limit'
  | 'context_too_long'
  | 'content_policy'
  | 'unavailable'
  | 'internal'
  | 'timeout'
  | 'broken_stream'
  | 'unusable_reply'
  | 'bad_request'
  | 'address_refused'

const WORTH_RETRYING: ReadonlySet<ModelFailure> = new Set([
  'rate_limit',
  'unavailable',
  'internal',
  'timeout',
  'broken_stream',
  'unusable_reply',
])

/** `message` is a sentence for the user: what happened and what to do about it; it holds no secret. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly kind: ModelFailure
  /** What the vendor asks to wait, in milliseconds; null when it says nothing. */
  readonly retryAfterMs: number | null
  /** What had been written when it broke. */
  readonly partialText: string

  constructor(
    kind: ModelFailure,
    message: string,
    more: { retryAfterMs?: number | null; partialText?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.kind = kind
    this.retryAfterMs = more.retryAfterMs ?? null
    this.partialText = more.partialText ?? ''
  }

  /** Whether the same question may be answered a little later. */
  get isPassing(): boolean {
    return WORTH_RETRYING.has(this.kind)
  }
}
