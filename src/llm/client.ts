// A language model of a vendor: sends the prompt in the vendor's dialect and reads the streamed answer into one reply.
// Every failure becomes a `ModelError`.

import { typedByPerson } from '../lib/address-policy.ts'
import { fetchThrough } from '../lib/guarded-fetch.ts'
import { operatorFetchOnce } from '../lib/http-client.ts'
import { count, observe } from '../lib/metrics.ts'
import type { Ask, LeftOut, ModelDeps, ModelFacts, Prices } from './ask.ts'
import type { ModelChoice } from './choose.ts'
import { askDialect } from './dialects.ts'
import { failureFrom, wordsOf } from './failures.ts'
import { answeredNote, type CallNote, failedNote } from './metrics.ts'
import {
  type AskOptions,
  type LanguageModel,
  ModelError,
  type ModelFailure,
  type ModelReply,
  type Prompt,
  type PromptPart,
  type TokenUsage,
} from './model.ts'
import { modelFacts } from './models.ts'
import { promptedModel } from './prompted.ts'
import { partsOf } from './providers.ts'
import { paidModel } from './purse.ts'
import { ReplyBuilder } from './reply-builder.ts'
import { DEFAULT_PATIENCE } from './wire.ts'

export async function languageModel(choice: ModelChoice, deps: ModelDeps): Promise<LanguageModel> {
  const first = await oneModel(choice, deps)
  if (choice.fallbacks === undefined) return first
  return fallbackModel(first, await Promise.all(choice.fallbacks.map((other) => oneModel(other, deps))))
}

async function oneModel(choice: ModelChoice, deps: ModelDeps): Promise<LanguageModel> {
  const facts = await modelFacts(choice.id)
  const vendor = new VendorModel(choice, facts, deps)
  const native = deps.purse === null ? vendor : paidModel(vendor, facts, deps.purse)
  const protocol = deps.toolProtocol ?? 'auto'
  if (protocol === 'native') return native
  if (protocol === 'prompted' || !facts.callsTools) return promptedModel(native)
  return new AdaptingModel(native)
}

class VendorModel implements LanguageModel {
  readonly id: string
  readonly contextWindow: number | null
  readonly seesImages: boolean
  readonly #choice: ModelChoice
  readonly #facts: ModelFacts
  readonly #deps: ModelDeps
  readonly #leftOut: LeftOut = { temperature: false, reasoning: false, schema: false, usage: false }

  constructor(choice: ModelChoice, facts: ModelFacts, deps: ModelDeps) {
    this.id = choice.id
    this.contextWindow = facts.contextWindow
    this.seesImages = facts.seesImages
    this.#choice = choice
    this.#facts = facts
    this.#deps = deps
  }

  async ask(prompt: Prompt, options: AskOptions = {}): Promise<ModelReply> {
    let asked = prompt
    for (;;) {
      try {
        return await this.#once(asked, options)
      } catch (error) {
        options.signal?.throwIfAborted()
        if (!(error instanceof ModelError)) throw error
        // A request that was refused because of one parameter had no effect: it is sent again without that parameter.
        const refused = refusedParameter(error, this.#leftOut)
        if (refused !== null) this.#leftOut[refused] = true
        else if (!options.needsImages && this.seesImages && refusesImages(error) && holdsImages(asked))
          asked = withoutImages(asked)
        else throw error
      }
    }
  }

  async #once(prompt: Prompt, options: AskOptions): Promise<ModelReply> {
    const startedAt = Date.now()
    const builder = new ReplyBuilder(options.onDelta)
    const choice = this.#choice
    const deps = { patience: DEFAULT_PATIENCE, ...this.#deps, fetch: this.#fetch() }
    const ask: Ask = { choice, facts: this.#facts, deps, leftOut: this.#leftOut, prompt, options }
    const called = { at: startedAt, model: choice.id, prompt }
    try {
      const reply = await this.#answer(ask, builder, startedAt)
      this.#note(answeredNote(called, reply), 'ok')
      return reply
    } catch (error) {
      this.#note(failedNote(called, error), error instanceof ModelError ? error.kind : 'stopped')
      throw error
    }
  }

  #note(note: CallNote, outcome: ModelFailure | 'ok' | 'stopped'): void {
    this.#deps.onCall?.(note)
    // Owners may write any name before the slash; only known names become a metric series.
    const provider = partsOf(this.#choice.id).provider?.name ?? 'other'
    count('bellwether_model_calls_total', { provider, outcome })
    count('bellwether_model_tokens_total', { provider, direction: 'input' }, note.promptTokens)
    count('bellwether_model_tokens_total', { provider, direction: 'output' }, note.completionTokens)
    observe('bellwether_model_call_duration_seconds', { provider }, (Date.now() - note.at) / 1000)
  }

  async #answer(ask: Ask, builder: ReplyBuilder, startedAt: number): Promise<ModelReply> {
    try {
      await askDialect(ask, builder)
    } catch (error) {
      ask.options.signal?.throwIfAborted()
      throw failureFrom(error, { choice: ask.choice, partialText: builder.text })
    }
    return finished(builder, { ask, latencyMs: Date.now() - startedAt })
  }

  #fetch(): typeof fetch {
    const { addressPolicy: policy, patience, fetch: send } = this.#deps
    const { isTrustedAddress, baseUrl } = this.#choice
    if (isTrustedAddress) {
      return send === undefined ? operatorFetchOnce : (input, init) => send(input, { ...init, redirect: 'manual' })
    }
    const { firstByteMs } = patience ?? DEFAULT_PATIENCE
    const limits = {
      maxBytes: Number.MAX_SAFE_INTEGER,
      headersTimeoutMs: firstByteMs,
      totalTimeoutMs: LONGEST_TIMER_MS,
    }
    // A healthy stream has no time limit: its silence and its size are checked where it is read.
    const chosenBy = typedByPerson(...(baseUrl === null ? [] : [baseUrl]))
    return fetchThrough({ policy, chosenBy, limits, ...(send && { fetch: send }) })
  }
}

const LONGEST_TIMER_MS = 2_147_483_647

/** A model that turns out not to support tool calls gets its tools by the prompt from then on. */
class AdaptingModel implements LanguageModel {
  readonly #native: LanguageModel
  #prompted: LanguageModel | null = null

  constructor(native: LanguageModel) {
    this.#native = native
  }

  get id(): string {
    return this.#native.id
  }

  get contextWindow(): number | null {
    return this.#native.contextWindow
  }

  get seesImages(): boolean {
    return this.#native.seesImages
  }

  async ask(prompt: Prompt, options: AskOptions = {}): Promise<ModelReply> {
    if (this.#prompted !== null) return this.#prompted.ask(prompt, options)
    try {
      return await this.#native.ask(prompt, options)
    } catch (error) {
      if (!(error instanceof ModelError) || prompt.tools.length === 0 || !refusesTools(error)) throw error
      this.#prompted = promptedModel(this.#native)
      return this.#prompted.ask(prompt, options)
    }
  }
}

const refusesTools = (error: ModelError): boolean =>
  error.kind === 'bad_request' &&
  /(does not|doesn't|not) support (tool|function)|(tool|function)s?( calling| use| choice)? (is|are) not (supported|available)|no endpoints found that support tool|enable-auto-tool-choice/i.test(
    wordsOf(error),
  )

const PARAMETERS: readonly (readonly [keyof LeftOut, RegExp])[] = [
  ['temperature', /temperature/i],
  ['reasoning', /reasoning|thinking/i],
  ['schema', /response_format|json_schema|output_config|structured output/i],
  ['usage', /stream_options|include_usage/i],
]

function refusedParameter(error: ModelError, leftOut: LeftOut): keyof LeftOut | null {
  if (error.kind !== 'bad_request') return null
  return PARAMETERS.find(([name, words]) => !leftOut[name] && words.test(wordsOf(error)))?.[0] ?? null
}

/** A picture that a vendor cannot fetch or read would make every later request fail, too. */
const refusesImages = (error: ModelError): boolean => error.kind === 'bad_request' && /image/i.test(wordsOf(error))

const REFUSED_IMAGE: PromptPart = { type: 'text', text: '[an image, which the model server refused]' }

const holdsImages = ({ messages }: Prompt): boolean =>
  messages.some((message) => message.role !== 'assistant' && message.content.some(({ type }) => type === 'image'))

function withoutImages(prompt: Prompt): Prompt {
  const messages = prompt.messages.map((message) => {
    if (message.role === 'assistant') return message
    return { ...message, content: message.content.map((part) => (part.type === 'image' ? REFUSED_IMAGE : part)) }
  })
  return { ...prompt, messages }
}

function finished(builder: ReplyBuilder, { ask, latencyMs }: { ask: Ask; latencyMs: number }): ModelReply {
  const { label } = ask.choice
  const partialText = builder.text
  const fail = (kind: ModelError['kind'], message: string) => new ModelError(kind, message, { partialText })
  const { ending, usage } = builder
  if (ending === null) {
    throw fail('broken_stream', `The answer of ${label} broke off before its end. Send a message to go on.`)
  }
  if (ending === 'content_filter') {
    const advice = 'Put it in other words, or choose another model.'
    throw fail('content_policy', `${label} stopped the answer because of its content policy. ${advice}`)
  }
  if (builder.isEmpty) {
    const why = ending === 'length' ? 'spent its whole limit of output on thinking' : 'answered with nothing'
    throw fail('unusable_reply', `${label} ${why}. Send a message to try again, or choose another model.`)
  }
  const calls = builder.calls()
  return {
    text: builder.text,
    calls,
    usage,
    cost: builder.cost ?? costOf(usage, ask.facts.prices),
    responseId: builder.responseId,
    finish: ending === 'stop' && calls.length > 0 ? 'calls' : ending,
    latencyMs,
    ...(builder.vendor === undefined ? {} : { vendor: builder.vendor }),
  }
}

function costOf(usage: TokenUsage, prices: Prices | null): number {
  if (prices === null) return 0
  const { promptTokens, completionTokens, cacheReadTokens, cacheWriteTokens } = usage
  const plain = Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens)
  const millionths =
    plain * prices.input +
    cacheReadTokens * prices.cacheRead +
    cacheWriteTokens * prices.cacheWrite +
    completionTokens * prices.output
  return millionths / 1_000_000
}

// Several models as one: when the first cannot answer now, the next is asked at once.

/** Failures that every vendor would return. */
const SAME_EVERYWHERE: ReadonlySet<ModelFailure> = new Set([
  'context_too_long',
  'content_policy',
  'bad_request',
  'budget_spent',
  'budget_held',
])

export function fallbackModel(first: LanguageModel, others: readonly LanguageModel[]): LanguageModel {
  const all = [first, ...others]
  const windows = all.flatMap(({ contextWindow }) => (contextWindow === null ? [] : [contextWindow]))
  return {
    id: first.id,
    // The prompt must fit into the windows of all models.
    contextWindow: windows.length === 0 ? null : Math.min(...windows),
    seesImages: first.seesImages,
    ask: (prompt, options = {}) => askInTurn(all, prompt, options),
  }
}

async function askInTurn(models: readonly LanguageModel[], prompt: Prompt, options: AskOptions): Promise<ModelReply> {
  const failures: ModelError[] = []
  let isSilent = true
  const onDelta: AskOptions['onDelta'] = (delta) => {
    isSilent = false
    options.onDelta?.(delta)
  }
  for (const [i, model] of models.entries()) {
    try {
      const reply = await model.ask(prompt, { ...options, onDelta })
      return i === 0 ? reply : { ...reply, answeredBy: model.id }
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!(error instanceof ModelError)) throw error
      failures.push(error)
      // Streamed text cannot be taken back: the caller decides whether to begin again.
      const next = !isSilent || SAME_EVERYWHERE.has(error.kind) ? null : (models[i + 1]?.id ?? null)
      options.onFailed?.({ error, id: model.id, next })
      if (next === null) break
    }
  }
  throw failures.find(({ isPassing }) => isPassing) ?? failures[0]
}
