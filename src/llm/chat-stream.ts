// Reads the stream of the chat dialect without the SDK. Most servers use this dialect, each with small differences, and
// this code is the only delay between a token and the clients. So pieces are not validated with a schema; each field is
// checked where it is read, and unknown fields are ignored.

import { type TokenUsage, toldCost, toldTokens } from './model.ts'
import type { Ending, ReplyBuilder } from './reply-builder.ts'

type Json = Readonly<Record<string, unknown>>

/** An error that the server sent instead of a piece. */
export class ToldFailure extends Error {
  override readonly name = 'ToldFailure'
  readonly body: string

  constructor(body: string) {
    super('the server told of an error')
    this.body = body
  }
}

/** A longer line is not a piece of an answer. */
const MAX_LINE_CHARS = 8 * 1024 * 1024

export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

/** Splits a stream of server-sent events into the texts after `data:`. A line without an end is dropped. */
export class DataLines {
  readonly #decoder = new TextDecoder()
  readonly #take: (payload: string) => void
  #pending: string[] = []
  #pendingChars = 0

  constructor(take: (payload: string) => void) {
    this.#take = take
  }

  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true })
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const piece = text.slice(start, end)
      start = end + 1
      this.#line(this.#pendingChars === 0 ? piece : this.#joined(piece))
    }
    if (start < text.length) this.#keep(text.slice(start))
  }

  #keep(piece: string): void {
    this.#pendingChars += piece.length
    if (this.#pendingChars > MAX_LINE_CHARS) throw new LineTooLong('a line of the answer is too long')
    this.#pending.push(piece)
  }

  #joined(piece: string): string {
    this.#keep(piece)
    const line = this.#pending.join('')
    this.#pending = []
    this.#pendingChars = 0
    return line
  }

  #line(line: string): void {
    if (!line.startsWith('data:')) return
    const end = line.endsWith('\r') ? line.length - 1 : line.length
    this.#take(line.slice(line[5] === ' ' ? 6 : 5, end))
  }
}

/** Reads the pieces of one answer into its builder. */
export class ChatReader {
  readonly #builder: ReplyBuilder
  readonly #keyOfIndex = new Map<number, string>()
  readonly #idOfKey = new Map<string, string>()
  readonly #details: Record<string, unknown>[] = []
  readonly #signatures = new Map<number, string>()
  #lastKey: string | null = null
  /** Whether the server marked the end of the answer. */
  isDone = false

  constructor(builder: ReplyBuilder) {
    this.#builder = builder
  }

  /** Throws `ToldFailure` for an error of the server, and `SyntaxError` for a piece that is not JSON. */
  take(payload: string): void {
    if (payload === '[DONE]') {
      this.isDone = true
      return
    }
    if (payload === '') return
    this.read(JSON.parse(payload), payload)
  }

  /** One piece; a complete answer counts as one, too. */
  read(value: unknown, text: string): void {
    const chunk = objectOf(value)
    if (chunk === null) return
    if (isError(chunk)) throw new ToldFailure(text)
    if (this.#builder.responseId === '' && typeof chunk.id === 'string') this.#builder.responseId = chunk.id
    const usage = objectOf(chunk.usage)
    if (usage !== null) this.#readUsage(usage)
    const choice = Array.isArray(chunk.choices) ? objectOf(chunk.choices[0]) : null
    if (choice === null) return
    const delta = objectOf(choice.delta) ?? objectOf(choice.message)
    if (delta !== null) this.#readDelta(delta)
    if (typeof choice.finish_reason === 'string') {
      if (choice.finish_reason === 'error') throw new ToldFailure(text)
      this.#builder.ending = endingOf(choice.finish_reason)
    }
  }

  /** Signed reasoning from a gateway, which must be sent back with the message. */
  get reasoningDetails(): readonly unknown[] {
    return this.#details
  }

  /** By the index of the call. */
  get signatures(): ReadonlyMap<number, string> {
    return this.#signatures
  }

  #readDelta(delta: Json): void {
    const reasoning = delta.reasoning_content ?? delta.reasoning
    if (typeof reasoning === 'string') this.#builder.addReasoning(reasoning)
    if (typeof delta.content === 'string') this.#builder.addText(delta.content)
    else if (Array.isArray(delta.content)) for (const part of delta.content) this.#readPart(objectOf(part))
    // The text of a refusal is shown as the answer.
    if (typeof delta.refusal === 'string') this.#builder.addText(delta.refusal)
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.#readCall(objectOf(call))
    if (Array.isArray(delta.reasoning_details)) {
      for (const detail of delta.reasoning_details) this.#readDetail(objectOf(detail))
    }
  }

  #readPart(part: Json | null): void {
    if (part === null) return
    if (part.type === 'text' && typeof part.text === 'string') this.#builder.addText(part.text)
    if (part.type !== 'thinking' || !Array.isArray(part.thinking)) return
    for (const thought of part.thinking) {
      const text = objectOf(thought)?.text
      if (typeof text === 'string') this.#builder.addReasoning(text)
    }
  }

  #readCall(call: Json | null): void {
    if (call === null) return
    const written = objectOf(call.function)
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : null
    const key = this.#keyOf(typeof call.index === 'number' ? call.index : null, id)
    const name = typeof written?.name === 'string' ? written.name : null
    // Some servers send the arguments as an object.
    const given = written?.arguments
    const text = typeof given === 'string' ? given : given == null ? '' : JSON.stringify(given)
    const index = this.#builder.addCall(key, { id, name, text })
    const signature = objectOf(objectOf(call.extra_content)?.google)?.thought_signature
    if (typeof signature === 'string') this.#signatures.set(index, signature)
  }

  /**
   * The call that a piece belongs to. By its index, unless it has another id than the call with that index: some
   * servers send no index, others send 0 for every call.
   */
  #keyOf(index: number | null, id: string | null): string {
    const known = index === null ? this.#lastKey : (this.#keyOfIndex.get(index) ?? null)
    const isContinued = known !== null && (id === null || (this.#idOfKey.get(known) ?? id) === id)
    const key = isContinued ? known : `${this.#builder.callCount}`
    if (id !== null) this.#idOfKey.set(key, id)
    if (index !== null) this.#keyOfIndex.set(index, key)
    this.#lastKey = key
    return key
  }

  /** Joins pieces of one thought as the gateway's own clients do. */
  #readDetail(detail: Json | null): void {
    if (detail === null) return
    const last = this.#details.at(-1)
    if (last === undefined || last.type !== detail.type || last.index !== detail.index) {
      this.#details.push({ ...detail })
      return
    }
    for (const [name, value] of Object.entries(detail)) {
      const grows = (name === 'text' || name === 'summary') && typeof value === 'string'
      if (grows) last[name] = `${typeof last[name] === 'string' ? last[name] : ''}${value}`
      else if (value != null) last[name] = value
    }
  }

  #readUsage(usage: Json): void {
    const details = objectOf(usage.prompt_tokens_details)
    this.#builder.usage = {
      promptTokens: toldTokens(usage.prompt_tokens),
      completionTokens: toldTokens(usage.completion_tokens),
      cacheReadTokens: toldTokens(details?.cached_tokens ?? usage.prompt_cache_hit_tokens),
      cacheWriteTokens: toldTokens(details?.cache_write_tokens),
    } satisfies TokenUsage
    this.#builder.cost = toldCost(usage.cost) ?? this.#builder.cost
  }
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'content_filter',
}

const endingOf = (reason: string): Ending => (Object.hasOwn(ENDINGS, reason) ? (ENDINGS[reason] ?? 'other') : 'other')

/** An answer may contain an empty error besides its choices. */
function isError(chunk: Json): boolean {
  if (chunk.error !== undefined && chunk.error !== null && chunk.error !== false && chunk.error !== '') return true
  return chunk.object === 'error' || chunk.type === 'error'
}

const objectOf = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
