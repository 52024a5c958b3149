// One monitored request to a model's server: it may take as long as data arrives, and is aborted when none does. Its
// size is limited.

import { unlessAborted } from '../lib/wait-at-most.ts'
import { ModelError } from './model.ts'

export type Patience = {
  /** From the request to the first byte of the answer. */
  readonly firstByteMs: number
  /** Between two bytes of the answer. */
  readonly idleMs: number
  /** For the whole answer; null: no limit. */
  readonly totalMs: number | null
}

export const DEFAULT_PATIENCE: Patience = { firstByteMs: 300_000, idleMs: 120_000, totalMs: null }

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** While a model thinks, servers keep the connection open with comment lines; for this long they count as data. */
const MAX_WARM_MS = 1_800_000
const COMMENT = 0x3a

export type Transport = {
  readonly fetch: typeof fetch
  readonly patience: Patience
  readonly signal: AbortSignal | undefined
}

/** The request ends for one of three reasons: the answer is complete, the caller aborted, or nothing arrived for too long. */
export class Wire {
  readonly #transport: Transport
  readonly #controller = new AbortController()
  readonly #forward = () => this.#cut(this.#transport.signal?.reason)
  #startedAt = 0
  #lastByteAt = 0
  #lastNewsAt = 0
  #receivedBytes = 0
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  #cutOff: { reason: unknown } | null = null

  constructor(transport: Transport) {
    this.#transport = transport
  }

  async open(url: string, init: RequestInit): Promise<Response> {
    const { signal, fetch: send } = this.#transport
    signal?.throwIfAborted()
    signal?.addEventListener('abort', this.#forward)
    this.#startedAt = Date.now()
    this.#lastByteAt = this.#startedAt
    this.#lastNewsAt = this.#startedAt
    this.#watch()
    try {
      const response = await unlessAborted(
        this.#controller.signal,
        send(url, { ...init, signal: this.#controller.signal }),
      )
      this.#reader = response.body?.getReader() ?? null
      return response
    } catch (error) {
      this.close()
      throw this.#cutOff === null ? error : this.#cutOff.reason
    }
  }

  /** The next bytes of the answer; null at its end. */
  async read(): Promise<Uint8Array | null> {
    try {
      const chunk = this.#reader === null ? { done: true as const } : await this.#reader.read()
      if (this.#cutOff !== null) throw this.#cutOff.reason
      if (chunk.done) {
        this.close()
        return null
      }
      this.#count(chunk.value as Uint8Array)
      return chunk.value as Uint8Array
    } catch (error) {
      this.close()
      throw this.#cutOff === null ? error : this.#cutOff.reason
    }
  }

  /** At most `maxBytes` of what is left, as text. */
  async readText(maxBytes: number): Promise<string> {
    const decoder = new TextDecoder()
    let text = ''
    for (let bytes = await this.read(); bytes !== null; bytes = await this.read()) {
      text += decoder.decode(bytes, { stream: true })
      if (this.#receivedBytes > maxBytes) break
    }
    this.abandon()
    return text
  }

  /** Ends the request; the remaining data is not wanted. */
  abandon(): void {
    this.#cut(new DOMException('no longer wanted', 'AbortError'))
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#transport.signal?.removeEventListener('abort', this.#forward)
  }

  #count(bytes: Uint8Array): void {
    this.#lastByteAt = Date.now()
    if (bytes[0] !== COMMENT) this.#lastNewsAt = this.#lastByteAt
    const isFirst = this.#receivedBytes === 0
    this.#receivedBytes += bytes.byteLength
    // From here on another limit applies, which may be shorter.
    if (isFirst) this.#watch()
    if (this.#receivedBytes <= MAX_ANSWER_BYTES) return
    const limit = `${MAX_ANSWER_BYTES / 1024 / 1024} MB`
    this.#cut(new ModelError('unusable_reply', `The model's answer is larger than ${limit} and was cut off.`))
    throw this.#cutOff?.reason
  }

  /** One timer for the whole request: it checks the silence, and sleeps for the rest of the limit. */
  #watch(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const leftMs = this.#leftMs()
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#watch(), leftMs)
      return
    }
    const hasBegun = this.#receivedBytes > 0
    const what = hasBegun ? 'stopped in the middle of its answer' : 'did not begin to answer'
    this.#cut(
      new ModelError('timeout', `The model ${what} within the time allowed. Try again, or choose another model.`),
    )
  }

  #leftMs(): number {
    const { firstByteMs, idleMs, totalMs } = this.#transport.patience
    const now = Date.now()
    const silence = this.#lastByteAt + (this.#receivedBytes > 0 ? idleMs : firstByteMs) - now
    const warm = this.#lastNewsAt + MAX_WARM_MS - now
    const total = totalMs === null ? Number.POSITIVE_INFINITY : this.#startedAt + totalMs - now
    return Math.min(silence, warm, total)
  }

  #cut(reason: unknown): void {
    if (this.#cutOff !== null) return
    this.#cutOff = { reason }
    this.close()
    this.#controller.abort(reason)
    // The reader gets the error of a broken stream itself.
    this.#reader?.cancel(reason).then(undefined, () => undefined)
  }
}

/** The progress of a monitored request. */
export type Course = { hasBegun: boolean; trouble: { error: unknown } | null }

/**
 * The monitored request as a `fetch` for the SDK's dialects. Its error is also noted, because some dialects report it
 * in their own words.
 */
export function watchedFetch(
  transport: Transport,
  { course, inspect }: { course: Course; inspect(response: Response, wire: Wire): Promise<void> },
): typeof fetch {
  const noted = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      course.trouble ??= { error }
      throw error
    }
  }
  return async (input, init) => {
    const wire = new Wire(transport)
    const response = await noted(wire.open(input instanceof Request ? input.url : String(input), init ?? {}))
    await noted(inspect(response, wire))
    course.hasBegun = response.ok
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const bytes = await noted(wire.read())
        if (bytes === null) controller.close()
        else controller.enqueue(bytes)
      },
      cancel: () => wire.abandon(),
    })
    const { status, statusText, headers } = response
    return new Response(body, { status, statusText, headers })
  }
}
