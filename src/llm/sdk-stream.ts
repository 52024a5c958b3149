// Reads the stream of the SDK's dialects into a reply.

import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import { ToldFailure } from './chat-stream.ts'
import type { VendorParts } from './messages.ts'
import type { TokenUsage } from './model.ts'
import type { Ending, ReplyBuilder } from './reply-builder.ts'

type Part = VendorParts['parts'][number]
type Metadata = Record<string, Record<string, unknown>> | undefined
type Stream = ReadableStream<LanguageModelV4StreamPart>

/** Reads to the end. Returns what the vendor wants back; throws what the SDK or the vendor tells of errors. */
export async function readSdkStream(stream: Stream, builder: ReplyBuilder, heard?: () => void): Promise<Part[]> {
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
  /** Reasoning and text that are still being written, by the SDK's id. */
  readonly #open = new Map<string, Part>()
  /** The key of the call that an id means at this moment: some vendors use one id twice. */
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

/** What a vendor sends in the middle of a stream is told like the body of a refused request. */
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
    promptTokens: inputTokens.total ?? 0,
    completionTokens: outputTokens.total ?? 0,
    cacheReadTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
  }
}
