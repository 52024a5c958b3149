// The interface of a language model for the rest of the product: a prompt goes in, deltas are streamed, one reply comes out.
// Vendors and dialects are hidden behind it.

/** The parameters of a tool, as JSON Schema (2020-12) of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

export type ToolSpec = { readonly name: string; readonly description: string; readonly parameters: JsonSchema }

/** A call as the model wrote it. `arguments` is its text: it may be invalid JSON, and may not match the schema. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string }

/** `url` is a `data:` URL, or an address that the vendor fetches. */
export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string }

export type PromptMessage =
  | { readonly role: 'user'; readonly content: readonly PromptPart[] }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ToolCall[]
      /** Data that the vendor wants back with this message, for example signed reasoning; JSON, opaque to all other code. */
      readonly vendor?: unknown
    }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly content: readonly PromptPart[] }

export type Prompt = {
  readonly system: string
  readonly messages: readonly PromptMessage[]
  readonly tools: readonly ToolSpec[]
}

/** A piece of the streamed answer. `index` counts the calls of the reply from 0. */
export type ModelDelta =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly id: string; readonly name: string; readonly text: string }

/** In tokens; numbers that a vendor does not report are 0. `promptTokens` includes those read from its cache. */
export type TokenUsage = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** No call of any model uses more; larger numbers from a vendor are ignored. */
const MOST_TOKENS = 100_000_000
const MOST_DOLLARS = 10_000

/** Tokens as a vendor reports them; 0 for an invalid number. */
export const toldTokens = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value <= MOST_TOKENS ? Math.round(value) : 0

/** The cost of an answer as a vendor reports it, in dollars; null for an invalid price. */
export const toldCost = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= MOST_DOLLARS ? value : null

export type ModelReply = {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: TokenUsage
  /** In US dollars, from the vendor's answer or the catalogue's prices; 0 when both are unknown. */
  readonly cost: number
  readonly responseId: string
  /** Why the model stopped. `length`: it reached its output limit; the reply is incomplete. */
  readonly finish: 'stop' | 'calls' | 'length' | 'other'
  readonly latencyMs: number
  readonly vendor?: unknown
  /** `provider/model` of the fallback model that answered; absent without a fallback. */
  readonly answeredBy?: string
}

export type AskOptions = {
  readonly signal?: AbortSignal
  readonly onDelta?: (delta: ModelDelta) => void
  readonly maxOutputTokens?: number
  /** The reply must be one JSON value that matches this schema; the caller still checks it. */
  readonly schema?: JsonSchema
  /** The request is about its pictures: a server that refuses them is not asked again without them. */
  readonly needsImages?: boolean
  /** For models with fallbacks: called for each failure with the model that is asked next; null for the last one. */
  readonly onFailed?: (failed: {
    readonly error: ModelError
    readonly id: string
    readonly next: string | null
  }) => void
}

export interface LanguageModel {
  /** `provider/model`. */
  readonly id: string
  /** In tokens; null when unknown. */
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
  /** A budget of the owner is used up, or the rest of it is reserved for open calls. */
  | 'budget_spent'
  | 'budget_held'

const WORTH_RETRYING: ReadonlySet<ModelFailure> = new Set([
  'rate_limit',
  'unavailable',
  'internal',
  'timeout',
  'broken_stream',
  'unusable_reply',
  'budget_held',
])

/** `message` is a sentence for the user: what happened and what to do about it; it contains no secret. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly kind: ModelFailure
  /** The wait that the vendor asks for, in milliseconds; null when it gives none. */
  readonly retryAfterMs: number | null
  /** The text so far when the answer was interrupted. */
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

  /** Whether the same request may succeed a little later. */
  get isPassing(): boolean {
    return WORTH_RETRYING.has(this.kind)
  }
}
