// A request in the chat dialect: the SDK makes its body; the answer is read by our own code.

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Ask } from './ask.ts'
import { ChatReader, DataLines, ToldFailure } from './chat-stream.ts'
import { RefusedRequest } from './failures.ts'
import type { VendorParts } from './messages.ts'
import type { ReplyBuilder } from './reply-builder.ts'
import { Wire } from './wire.ts'

const MAX_ERROR_CHARS = 64 * 1024
const MAX_WHOLE_CHARS = 32 * 1024 * 1024

type ReplyTarget = { builder: ReplyBuilder; callOptions: LanguageModelV4CallOptions }

export async function askChat(ask: Ask, { builder, callOptions }: ReplyTarget): Promise<void> {
  const { choice, deps, options } = ask
  const wire = new Wire({ fetch: deps.fetch, patience: deps.patience, signal: options.signal })
  const body = await bodyOf(ask, callOptions)
  const response = await wire.open(`${choice.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(choice.apiKey === null ? {} : { authorization: `Bearer ${choice.apiKey}` }),
      ...(isOpenRouter(ask) ? { 'x-title': 'Bellwether' } : {}),
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new RefusedRequest(response.status, response.headers, await wire.readText(MAX_ERROR_CHARS))
  const reader = new ChatReader(builder)
  const type = response.headers.get('content-type') ?? ''
  if (/json/i.test(type) && !/ndjson|stream/i.test(type)) readWhole(reader, await wire.readText(MAX_WHOLE_CHARS))
  else if (/html|xml/i.test(type)) throw new RefusedRequest(502, response.headers, await wire.readText(MAX_ERROR_CHARS))
  else await readStream(wire, reader)
  // A server may omit the reason why the model stopped, but the end itself must be marked.
  if (builder.ending === null && reader.isDone && !builder.isEmpty) builder.ending = 'stop'
  const vendor = vendorOf(ask, { reader, builder })
  if (vendor !== null) builder.vendor = vendor
}

async function readStream(wire: Wire, reader: ChatReader): Promise<void> {
  const lines = new DataLines((payload) => reader.take(payload))
  try {
    for (let bytes = await wire.read(); bytes !== null; bytes = await wire.read()) {
      lines.push(bytes)
      // Some servers keep the connection open after the last piece.
      if (reader.isDone) break
    }
  } finally {
    wire.abandon()
  }
}

/** Some gateways send a complete answer although a stream was requested. */
function readWhole(reader: ChatReader, text: string): void {
  const value: unknown = JSON.parse(text)
  const isAnswer = typeof value === 'object' && value !== null && 'choices' in value && Array.isArray(value.choices)
  if (!isAnswer) throw new ToldFailure(text)
  reader.read(value, text)
}

const isOpenRouter = ({ choice }: Ask): boolean => choice.baseUrl?.includes('//openrouter.ai/') ?? false

async function bodyOf(ask: Ask, callOptions: LanguageModelV4CallOptions): Promise<Record<string, unknown>> {
  const { OpenAICompatibleChatLanguageModel } = await import('./lazy/openai-chat.ts')
  const { choice, leftOut } = ask
  const model = new OpenAICompatibleChatLanguageModel(choice.model, {
    provider: 'chat',
    url: () => '',
    supportsStructuredOutputs: true,
  })
  const { body } = await model.prepareRequest(callOptions)
  return {
    ...body,
    stream: true,
    ...(leftOut.usage ? {} : { stream_options: { include_usage: true } }),
    ...(isOpenRouter(ask) ? { usage: { include: true } } : {}),
    ...cachedTail(ask, body.messages),
  }
}

/** Behind the gateway, Anthropic's models cache only marked parts. */
function cachedTail(ask: Ask, messages: unknown): Record<string, unknown> {
  if (!isOpenRouter(ask) || !ask.choice.model.startsWith('anthropic/') || !Array.isArray(messages)) return {}
  const last = messages.findLastIndex(
    (message: { role?: string }) => message.role === 'user' || message.role === 'tool',
  )
  return {
    messages: messages.map((message: { role?: string; content?: unknown }, at) => {
      const isMarked = message.role === 'system' || at === last
      if (!isMarked || typeof message.content !== 'string') return message
      return { ...message, content: [{ type: 'text', text: message.content, cache_control: { type: 'ephemeral' } }] }
    }),
  }
}

type Read = { reader: ChatReader; builder: ReplyBuilder }

/** Servers that sign their reasoning, or want to see it again, get it back with the message. */
function vendorOf({ choice }: Ask, { reader, builder }: Read): VendorParts | null {
  const { reasoningDetails, signatures } = reader
  const wantsThoughts = /deepseek/i.test(choice.id) && builder.callCount > 0 && builder.reasoning !== ''
  if (reasoningDetails.length === 0 && signatures.size === 0 && !wantsThoughts) return null
  const parts: VendorParts['parts'] = []
  if (wantsThoughts) parts.push({ type: 'reasoning', text: builder.reasoning })
  if (builder.text !== '') parts.push({ type: 'text', length: builder.text.length })
  for (let index = 0; index < builder.callCount; index++) {
    const thoughtSignature = signatures.get(index)
    parts.push({
      type: 'call',
      ...(thoughtSignature === undefined ? {} : { options: { google: { thoughtSignature } } }),
    })
  }
  const message =
    reasoningDetails.length === 0
      ? {}
      : { message: { openaiCompatible: { reasoning_details: JSON.parse(JSON.stringify(reasoningDetails)) } } }
  return { dialect: choice.dialect, model: choice.model, parts, ...message }
}
