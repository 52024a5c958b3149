// The interface of a language model for the rest of the product: a prompt goes in, deltas are streamed, one reply comes out.
// Vendors and dialects are hidden behind it.

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

/** In tokens; what a vendor does not tell is 0. `promptTokens` includes those read from its cache. */
export type TokenUsage = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** No call used more, of whatever model; a vendor that says so has told nothing. */
const MOST_TOKENS = 100_000_000
const MOST_DOLLARS = 10_000

/** Tokens as a vendor tells them; 0 for what is no number of tokens. */
export const toldTokens = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value <= MOST_TOKENS ? Math.round(value) : 0

/** What an answer cost as a vendor tells it, in dollars; null for what is no price. */
export const toldCost = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= MOST_DOLLARS ? value : null

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
  /** `provider/model` of the one that stood in for the model that was asked; absent where none did. */
  readonly answeredBy?: string
}

export type AskOptions = {
  readonly signal?: AbortSignal
  readonly onDelta?: (delta: ModelDelta) => void
  readonly maxOutputTokens?: number
  /** The reply is to be one JSON value that meets this schema; the caller still checks it. */
  readonly schema?: JsonSchema
  /** The question is about its pictures: a server that refuses them is not asked without them. */
  readonly needsImages?: boolean
  /** Of several models that stand in for one another: told of each that fails, and which one is asked next; null of the last. */
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
  /** A budget of the owner's is used up, or what is left of it is set aside for calls that are under way. */
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

/** `message` is a sentence for the user: what happened and what to do about it; it holds no secret. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly kind: ModelFailure
  /** The wait that the vendor asks for, in milliseconds; null when it names none. */
  readonly retryAfterMs: number | null
  /** The text that had been written when the answer broke off. */
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

  /** Whether the same question may succeed a little later. */
  get isPassing(): boolean {
    return WORTH_RETRYING.has(this.kind)
  }
}
