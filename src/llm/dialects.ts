// One request in the dialect of its vendor. The heavy packages are loaded with the first request in their dialect.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { WorkersAISettings } from 'workers-ai-provider'
import { assertNever } from '../lib/assert.ts'
import { unlessAborted } from '../lib/wait-at-most.ts'
import type { Ask } from './ask.ts'
import { askChat } from './chat.ts'
import { ToldFailure } from './chat-stream.ts'
import { RefusedRequest, UnreadableAnswer } from './failures.ts'
import { toSdkPrompt, type VendorParts } from './messages.ts'
import { ModelError, type TokenUsage, toldTokens } from './model.ts'
import type { Ending, ReplyBuilder } from './reply-builder.ts'
import { type Course, type Patience, type Wire, watchedFetch } from './wire.ts'

// The same time limits for a model behind a binding, where bytes are not visible: measured between pieces.

class Silence {
  readonly #controller = new AbortController()
  readonly #patience: Patience
  readonly #startedAt = Date.now()
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.#controller.abort(this.#outer?.reason)
  #lastHeardAt = Date.now()
  #hasBegun = false
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(patience: Patience, outer: AbortSignal | undefined) {
    this.#patience = patience
    this.#outer = outer
    outer?.addEventListener('abort', this.#forward)
    this.#watch()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  heard(): void {
    this.#lastHeardAt = Date.now()
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#watch()
  }

  /** The result of the work, or the abort's reason; the work itself may ignore the signal. */
  async unlessCut<T>(work: Promise<T>): Promise<T> {
    try {
      return await unlessAborted(this.signal, work)
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer)
      this.#outer?.removeEventListener('abort', this.#forward)
    }
  }

  #watch(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const { firstByteMs, idleMs, totalMs } = this.#patience
    const now = Date.now()
    const silence = this.#lastHeardAt + (this.#hasBegun ? idleMs : firstByteMs) - now
    const leftMs = totalMs === null ? silence : Math.min(silence, this.#startedAt + totalMs - now)
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#watch(), leftMs)
      return
    }
    const what = this.#hasBegun ? 'stopped in the middle of its answer' : 'did not begin to answer'
    const advice = 'Try again, or choose another model.'
    this.#controller.abort(new ModelError('timeout', `The model ${what} within the time allowed. ${advice}`))
  }
}

export async function askDialect(ask: Ask, builder: ReplyBuilder): Promise<void> {
  const { choice } = ask
  if (choice.dialect === 'openai-chat') return askChat(ask, { builder, callOptions: callOptions(ask) })
  const course: Course = { hasBegun: false, trouble: null }
  const parts = await throughSdk(ask, { builder, course })
  const vendor: VendorParts = { dialect: choice.dialect, model: choice.model, parts }
  // Only signed or numbered parts must be sent back unchanged.
  if (parts.some(({ options }) => options !== undefined)) builder.vendor = vendor
}

type Reading = { builder: ReplyBuilder; course: Course }

async function throughSdk(ask: Ask, { builder, course }: Reading): Promise<VendorParts['parts']> {
  const { deps, options } = ask
  if (ask.choice.dialect === 'workers-ai') return throughBinding(ask, builder)
  const transport = { fetch: deps.fetch, patience: deps.patience, signal: options.signal }
  try {
    const model = await sdkModel(ask, watchedFetch(transport, { course, inspect: refuseUnlessStream }))
    const { stream } = await model.doStream(callOptions(ask))
    return await readSdkStream(stream, builder)
  } catch (error) {
    if (course.trouble !== null) throw course.trouble.error
    throw course.hasBegun && !isTold(error) ? new UnreadableAnswer(error) : error
  }
}

async function throughBinding(ask: Ask, builder: ReplyBuilder): Promise<VendorParts['parts']> {
  ask.options.signal?.throwIfAborted()
  const silence = new Silence(ask.deps.patience, ask.options.signal)
  const read = async () => {
    const model = await sdkModel(ask, ask.deps.fetch)
    const { stream } = await model.doStream({ ...callOptions(ask), abortSignal: silence.signal })
    return readSdkStream(stream, builder, () => silence.heard())
  }
  return silence.unlessCut(read())
}

/** Whether the error contains the vendor's message; false when the answer could not be read. */
const isTold = (error: unknown): boolean =>
  error instanceof ToldFailure ||
  error instanceof ModelError ||
  (error instanceof Error && error.name === 'AI_APICallError')

async function sdkModel({ choice, deps }: Ask, fetch: typeof globalThis.fetch): Promise<LanguageModelV4> {
  const { dialect, model, baseUrl, apiKey } = choice
  const settings = { apiKey: apiKey ?? '', fetch, ...(baseUrl === null ? {} : { baseURL: baseUrl }) }
  switch (dialect) {
    case 'anthropic':
      return (await import('./lazy/anthropic.ts')).createAnthropic(settings)(model)
    case 'google':
      return (await import('./lazy/google.ts')).createGoogleGenerativeAI(settings)(model)
    case 'openai-responses':
      return (await import('./lazy/openai.ts')).createOpenAI(settings).responses(model)
    case 'workers-ai': {
      const { createWorkersAI } = await import('./lazy/workers-ai.ts')
      return createWorkersAI({ binding: deps.ai } as WorkersAISettings)(model)
    }
    case 'openai-chat':
      throw new Error('the chat dialect is read by hand')
    default:
      return assertNever(dialect)
  }
}

/** The options of every dialect besides the messages. Parameters that the vendor refused are left out. */
function callOptions({ choice, facts, leftOut, prompt, options }: Ask): LanguageModelV4CallOptions {
  const { dialect, model } = choice
  const seesImages = facts.seesImages
  const tools = prompt.tools.map(
    ({ name, description, parameters }): LanguageModelV4FunctionTool => ({
      type: 'function',
      name,
      description,
      inputSchema: parameters as LanguageModelV4FunctionTool['inputSchema'],
    }),
  )
  const reasons = facts.reasons && !leftOut.reasoning
  const providerOptions = vendorOptions(dialect)
  return {
    prompt: toSdkPrompt(prompt, { dialect, model, seesImages }),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } as const }),
    ...(facts.takesTemperature && !reasons && !leftOut.temperature ? { temperature: 0 } : {}),
    ...(reasons ? { reasoning: 'high' as const } : {}),
    ...(options.maxOutputTokens === undefined ? {} : { maxOutputTokens: options.maxOutputTokens }),
    ...(options.schema === undefined || leftOut.schema ? {} : { responseFormat: jsonFormat(options.schema) }),
    ...(providerOptions === null ? {} : { providerOptions }),
  }
}

type JsonFormat = Extract<NonNullable<LanguageModelV4CallOptions['responseFormat']>, { type: 'json' }>

const jsonFormat = (schema: Readonly<Record<string, unknown>>): JsonFormat => ({
  type: 'json',
  name: 'answer',
  schema: schema as NonNullable<JsonFormat['schema']>,
})

function vendorOptions(dialect: Ask['choice']['dialect']): SharedV4ProviderOptions | null {
  // The vendor stores nothing, so its encrypted reasoning must be returned with the answer, to be sent back later.
  if (dialect === 'openai-responses') return { openai: { store: false, include: ['reasoning.encrypted_content'] } }
  return null
}

const MAX_ERROR_CHARS = 64 * 1024

/** A 200 may contain anything: an error, a page of a proxy. Only a stream is passed to the SDK. */
async function refuseUnlessStream(response: Response, wire: Wire): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  if (!response.ok || type === '' || /event-stream|octet-stream/i.test(type)) return
  const body = await wire.readText(MAX_ERROR_CHARS)
  // HTML or plain text comes from a failing proxy, or from something that is not a model server.
  throw /json/i.test(type) ? new ToldFailure(body) : new RefusedRequest(502, response.headers, body)
}

// Reads the stream of the SDK's dialects into a reply.

type Part = VendorParts['parts'][number]
type Metadata = Record<string, Record<string, unknown>> | undefined
type Stream = ReadableStream<LanguageModelV4StreamPart>

/** Reads to the end. Returns the parts that the vendor wants back; throws the errors of the SDK or the vendor. */
async function readSdkStream(stream: Stream, builder: ReplyBuilder, heard?: () => void): Promise<Part[]> {
  const reading = new SdkReader(builder)
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      heard?.()
      reading.take(next.value)
    }
  } finally {
    reader.releaseLock()
  }
  return reading.parts
}

class SdkReader {
  readonly #builder: ReplyBuilder
  readonly parts: Part[] = []
  /** Open reasoning and text parts, by the SDK's id. */
  readonly #open = new Map<string, Part>()
  /** The key of the call that an id means now: some vendors use one id twice. */
  readonly #keyOfId = new Map<string, string>()
  readonly #callPart = new Map<string, Part>()

  constructor(builder: ReplyBuilder) {
    this.#builder = builder
  }

  take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'reasoning-start':
        this.#begin(part.id, { type: 'reasoning', text: '' }, part.providerMetadata)
        return
      case 'reasoning-delta':
        this.#reasoning(part.id, part.delta, part.providerMetadata)
        return
      case 'text-start':
        this.#begin(part.id, { type: 'text', length: 0 }, part.providerMetadata)
        return
      case 'text-delta':
        this.#text(part.id, part.delta, part.providerMetadata)
        return
      case 'reasoning-end':
      case 'text-end':
        this.#note(this.#open.get(part.id), part.providerMetadata)
        this.#open.delete(part.id)
        return
      case 'tool-input-start':
        this.#call(part.id, part.toolName)
        return
      case 'tool-input-delta':
        this.#builder.addCall(this.#keyOfId.get(part.id) ?? part.id, { text: part.delta })
        return
      case 'tool-call':
        this.#settle(part.toolCallId, part.toolName, part)
        return
      case 'response-metadata':
        if (part.id !== undefined) this.#builder.responseId = part.id
        return
      case 'finish':
        this.#builder.usage = usageOf(part.usage)
        this.#builder.ending = endingOf(part.finishReason.unified)
        return
      case 'error':
        throw thrown(part.error)
      default:
    }
  }

  #begin(id: string, part: Part, metadata: Metadata): void {
    this.parts.push(part)
    this.#open.set(id, part)
    this.#note(part, metadata)
  }

  #reasoning(id: string, delta: string, metadata: Metadata): void {
    const part = this.#open.get(id)
    if (part?.type === 'reasoning') part.text += delta
    this.#note(part, metadata)
    this.#builder.addReasoning(delta)
  }

  #text(id: string, delta: string, metadata: Metadata): void {
    const part = this.#open.get(id)
    if (part?.type === 'text') part.length += delta.length
    this.#note(part, metadata)
    this.#builder.addText(delta)
  }

  #call(id: string, name: string): void {
    const key = this.#keyOfId.has(id) ? `${id}#${this.#builder.callCount}` : id
    this.#keyOfId.set(id, key)
    const part: Part = { type: 'call' }
    this.parts.push(part)
    this.#callPart.set(key, part)
    this.#builder.addCall(key, { id, name })
  }

  #settle(id: string, name: string, part: { input: string; providerMetadata?: Metadata }): void {
    if (!this.#keyOfId.has(id)) this.#call(id, name)
    const key = this.#keyOfId.get(id) ?? id
    this.#builder.settleCall(key, { id, name, text: part.input })
    this.#note(this.#callPart.get(key), part.providerMetadata)
  }

  #note(part: Part | undefined, metadata: Metadata): void {
    if (part === undefined || metadata === undefined) return
    const merged: Record<string, Record<string, unknown>> = { ...part.options }
    for (const [vendor, options] of Object.entries(metadata)) merged[vendor] = { ...merged[vendor], ...options }
    part.options = JSON.parse(JSON.stringify(merged)) as NonNullable<Part['options']>
  }
}

/** An error inside a stream is treated like the body of a refused request. */
function thrown(error: unknown): unknown {
  if (error instanceof Error) return error
  if (typeof error === 'string') return new ToldFailure(JSON.stringify({ error: { message: error } }))
  const isWrapped = typeof error === 'object' && error !== null && 'error' in error
  return new ToldFailure(JSON.stringify(isWrapped ? error : { error }))
}

function endingOf(unified: string): Ending | null {
  switch (unified) {
    case 'stop':
      return 'stop'
    case 'length':
      return 'length'
    case 'tool-calls':
      return 'calls'
    case 'content-filter':
      return 'content_filter'
    case 'interrupted':
    case 'error':
      return null
    default:
      return 'other'
  }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  return {
    promptTokens: toldTokens(inputTokens.total),
    completionTokens: toldTokens(outputTokens.total),
    cacheReadTokens: toldTokens(inputTokens.cacheRead),
    cacheWriteTokens: toldTokens(inputTokens.cacheWrite),
  }
}
