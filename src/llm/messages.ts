// A prompt in the form of the SDK's dialects. Parts that a vendor wants back, such as signed reasoning, are stored with
// the answer and sent back only in the dialect that they came from.

import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { z } from 'zod'
import type { Prompt, PromptMessage, PromptPart } from './model.ts'
import type { Dialect } from './providers.ts'

const Options = z.record(z.string(), z.record(z.string(), z.json()))

/** The parts of an answer in their original order. The contents of texts and calls are in the message itself. */
const VendorParts = z.object({
  dialect: z.string(),
  model: z.string(),
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('reasoning'), text: z.string(), options: Options.optional() }),
      z.object({ type: z.literal('text'), length: z.number(), options: Options.optional() }),
      z.object({ type: z.literal('call'), options: Options.optional() }),
    ]),
  ),
  /** For the message as a whole. */
  message: Options.optional(),
})
export type VendorParts = z.infer<typeof VendorParts>

export type Spoken = { readonly dialect: Dialect; readonly model: string; readonly seesImages: boolean }

type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

const UNSEEN = '[an image, which this model cannot see]'

export function toSdkPrompt(prompt: Prompt, spoken: Spoken): LanguageModelV4Prompt {
  const messages: LanguageModelV4Message[] = []
  if (prompt.system !== '') messages.push({ role: 'system', content: prompt.system })
  // Images of tool results follow in a separate message, because few servers accept them inside a result.
  let images: UserPart[] = []
  const showImages = () => {
    if (images.length > 0) messages.push({ role: 'user', content: images })
    images = []
  }
  for (const message of prompt.messages) {
    if (message.role === 'tool') {
      images.push(...pushResult(messages, message, spoken))
      continue
    }
    showImages()
    if (message.role === 'user') messages.push({ role: 'user', content: userParts(message.content, spoken) })
    else messages.push(assistantMessage(message, spoken))
  }
  showImages()
  return spoken.dialect === 'anthropic' ? withCachePoints(messages) : messages
}

function userParts(content: readonly PromptPart[], spoken: Spoken): UserPart[] {
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    return spoken.seesImages ? imagePart(part.url) : { type: 'text', text: UNSEEN }
  })
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/

function imagePart(url: string): UserPart {
  const [head, mediaType] = DATA_URL.exec(url) ?? []
  if (head !== undefined && mediaType !== undefined) {
    return { type: 'file', mediaType, data: { type: 'data', data: url.slice(head.length) } }
  }
  if (!URL.canParse(url) || !/^https?:/.test(url)) return { type: 'text', text: '[an image that cannot be read]' }
  return { type: 'file', mediaType: 'image/*', data: { type: 'url', url: new URL(url) } }
}

/** The results of one answer's calls are in one message. Returns the images of this result. */
function pushResult(
  messages: LanguageModelV4Message[],
  message: Extract<PromptMessage, { role: 'tool' }>,
  spoken: Spoken,
): UserPart[] {
  const text = message.content.map((part) => (part.type === 'text' ? part.text : imageNote(spoken))).join('\n')
  const result = {
    type: 'tool-result',
    toolCallId: message.callId,
    toolName: message.name,
    output: { type: 'text', value: text },
  } as const
  const last = messages.at(-1)
  if (last?.role === 'tool') last.content.push(result)
  else messages.push({ role: 'tool', content: [result] })
  if (!spoken.seesImages) return []
  return message.content.flatMap((part) => (part.type === 'image' ? [imagePart(part.url)] : []))
}

const imageNote = (spoken: Spoken): string => (spoken.seesImages ? '[an image, shown below]' : UNSEEN)

function assistantMessage(message: AssistantMessage, spoken: Spoken): LanguageModelV4Message {
  const vendor = VendorParts.safeParse(message.vendor).data ?? null
  const isOwn = vendor !== null && vendor.dialect === spoken.dialect && vendor.model === spoken.model
  const parts = isOwn ? ownParts(message, vendor.parts) : null
  if (parts === null) return { role: 'assistant', content: plainParts(message) }
  const options = vendor?.message === undefined ? {} : { providerOptions: vendor.message as SharedV4ProviderOptions }
  return { role: 'assistant', content: parts, ...options }
}

function plainParts(message: AssistantMessage): AssistantPart[] {
  const text = message.text === '' ? [] : [{ type: 'text', text: message.text } as const]
  const calls = message.calls.map((call) => callPart(call))
  // No vendor accepts an empty message.
  return text.length + calls.length === 0 ? [{ type: 'text', text: '(nothing)' }] : [...text, ...calls]
}

/** Null when texts or calls differ from those that the vendor knows, for example because secrets were masked. */
function ownParts(message: AssistantMessage, parts: VendorParts['parts']): AssistantPart[] | null {
  const calls = [...message.calls]
  let text = message.text
  const rebuilt: AssistantPart[] = []
  for (const part of parts) {
    const options = part.options === undefined ? {} : { providerOptions: part.options as SharedV4ProviderOptions }
    if (part.type === 'reasoning') rebuilt.push({ type: 'reasoning', text: part.text, ...options })
    else if (part.type === 'text') {
      if (text.length < part.length) return null
      rebuilt.push({ type: 'text', text: text.slice(0, part.length), ...options })
      text = text.slice(part.length)
    } else {
      const call = calls.shift()
      if (call === undefined) return null
      rebuilt.push({ ...callPart(call), ...options })
    }
  }
  return text === '' && calls.length === 0 ? rebuilt : null
}

const MAX_UNREADABLE_CHARS = 2000

function callPart(call: AssistantMessage['calls'][number]) {
  return {
    type: 'tool-call',
    toolCallId: call.id,
    toolName: soundName(call.name),
    input: argumentsOf(call.arguments),
  } as const
}

/** No vendor accepts arguments that are not an object; the model is shown its own text instead. */
function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The error is reported to the model below.
  }
  return { unreadable_arguments: text.slice(0, MAX_UNREADABLE_CHARS) }
}

/** A name that a model invented may contain characters that vendors refuse in a request. */
const soundName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'

const CACHED: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/** Anthropic caches everything before a mark: one after the system text, and one after each of the last two turns. */
function withCachePoints(messages: LanguageModelV4Message[]): LanguageModelV4Message[] {
  const turns = messages.flatMap(({ role }, at) => (role === 'user' || role === 'tool' ? [at] : []))
  const marked = new Set(turns.slice(-2))
  return messages.map((message, at) =>
    message.role === 'system' || marked.has(at) ? { ...message, providerOptions: CACHED } : message,
  )
}
