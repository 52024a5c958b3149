// Limits between the SDK's transports and the guarded fetch: the size of an answer, and an early error when a stream
// ends without an answer.

import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import { GuardedFetchError } from '../lib/guarded-fetch.ts'

export const CALL_DEADLINE_MS = 110_000

/** For one answer, or for all data of one event stream. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024
export const GOODBYE_MS = 2_000

type Question = { answered: boolean; resumable: boolean; fail: (error: unknown) => void }
/** The transports' own type of fetch. */
type Ask = (input: string | URL, init?: RequestInit) => Promise<Response>

/** Each connection sends one request at a time. */
export class Wire {
  readonly #ask: Ask
  readonly #transport: 'sse' | 'http'
  readonly #signal: AbortSignal
  #question: Question | null = null

  /**
   * When the signal fires, open requests are aborted; after that only the end of the session is sent, with a short
   * deadline.
   */
  constructor(ask: typeof fetch, { transport, signal }: { transport: 'sse' | 'http'; signal: AbortSignal }) {
    this.#ask = (input, init) => ask(input, init)
    this.#transport = transport
    this.#signal = signal
  }

  /** Runs one request; `onToken` must be called for each event id, which makes a stream resumable. */
  async question<T>(exchange: (onToken: () => void) => Promise<T>): Promise<T> {
    const question: Question = { answered: false, resumable: false, fail: () => {} }
    const failed = new Promise<never>((_, reject) => {
      question.fail = reject
    })
    this.#question = question
    return Promise.race([exchange(() => (question.resumable = true)), failed])
  }

  /** Must be called for every message; messages with a result or an error are answers. */
  received(message: object): void {
    if (this.#question && ('result' in message || 'error' in message)) this.#question.answered = true
  }

  /** For errors that the transport only reports: some of them mean that no answer will come. */
  mention(error: unknown): void {
    const unreadable = error instanceof SyntaxError || (error instanceof Error && 'issues' in error)
    if (unreadable || isStreamLost(error)) this.#question?.fail(error)
  }

  readonly fetch: Ask = async (input, init = {}) => {
    const question = this.#question
    const method = init.method ?? 'GET'
    // The stream for unsolicited messages of a server is not opened, because nothing here reads them. Resuming an
    // answer is different.
    if (this.#transport === 'http' && method === 'GET' && !new Headers(init.headers).has('last-event-id')) {
      return new Response(null, { status: 405 })
    }
    const ends = this.#signal.aborted ? AbortSignal.timeout(GOODBYE_MS) : this.#signal
    const signal = init.signal ? AbortSignal.any([init.signal, ends]) : ends
    const response = await this.#failing(question, () => this.#ask(input, { ...init, signal }))
    if (response.body === null) return response
    const { status, statusText, headers } = response
    const body = response.body.pipeThrough(this.#bounded(question, method === 'POST' && this.#transport === 'http'))
    return new Response(body, { status, statusText, headers })
  }

  /** The transports keep at most the text of an error; the request gets the error itself. */
  async #failing<T>(question: Question | null, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      question?.fail(error)
      throw error
    }
  }

  #bounded(question: Question | null, isAnswer: boolean): TransformStream<Uint8Array, Uint8Array> {
    let received = 0
    return new TransformStream({
      transform: (chunk, controller) => {
        received += chunk.byteLength
        if (received <= MAX_ANSWER_BYTES) return controller.enqueue(chunk)
        const error = new McpFailure(`The server answers with more than ${MAX_ANSWER_BYTES} bytes`)
        question?.fail(error)
        controller.error(error)
      },
      // The data that was read last must still be processed before it is certain that no answer comes.
      flush: () => {
        if (isAnswer) setTimeout(() => this.#ended(question))
      },
    })
  }

  #ended(question: Question | null): void {
    if (question === null || question.answered || question.resumable) return
    question.fail(new McpFailure('The server closes the connection without an answer'))
  }
}

/**
 * Errors by which the transports report that a stream is finally lost. Other errors are ignored: the runtime's event
 * targets call both the listeners and the `on…` property of the SSE client, so each message arrives twice, once as
 * unknown.
 */
function isStreamLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return 'event' in error || error.message.startsWith('Maximum reconnection attempts')
}

/**
 * The SDK would compile the server's schemas to code, which the runtime forbids. Nothing here needs that: input is
 * validated with our own schemas.
 */
export const NOTHING_COMPILED: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
}

// The message for a user about a failed tool server. From an answer's body it contains only the message of a protocol
// error: the rest could contain secrets.

const MAX_MESSAGE_CHARS = 500

/** A failure whose message is meant for users. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
}

/** The call was not sent: it can be retried. */
export class NotAsked extends McpFailure {}

export function explainFailure(error: unknown): string {
  for (const cause of chain(error)) {
    if (cause instanceof McpFailure || cause instanceof GuardedFetchError) return cause.message
  }
  if (!(error instanceof Error)) return 'The server cannot be used'
  if (error instanceof SyntaxError) return 'The server answers with something that is not JSON'
  if ('issues' in error) return 'The server answers with something that is not a message of the protocol'
  if (error.name === 'McpError') return protocolError(error.message)
  const status = 'code' in error && typeof error.code === 'number' ? error.code : null
  if (status !== null && status >= 300 && status < 600) return statusMessage(status)
  if (/endpoint origin/i.test(error.message)) return 'The server wants its messages sent to another host'
  if ('event' in error && status === null) return 'The server closes the connection without an answer'
  if (/content type/i.test(error.message)) return 'The server answers with something that is not the protocol'
  if (/protocol version/.test(error.message)) return 'The server speaks another version of the protocol'
  return 'The server cannot be reached'
}

function* chain(error: unknown): Generator<unknown> {
  for (let at = error, depth = 0; at !== undefined && depth < 5; depth++) {
    yield at
    at = at instanceof Error ? at.cause : undefined
  }
}

function protocolError(message: string): string {
  const text = message.replace(/^MCP error -?\d+: /, '').trim()
  return text === '' ? 'The server answers with an error' : text.slice(0, MAX_MESSAGE_CHARS)
}

function statusMessage(status: number): string {
  if (status === 401 || status === 403) return `The server wants another key (status ${status})`
  if (status === 404 || status === 405) return `There is no tool server at this address (status ${status})`
  return status < 400
    ? `The server sends its callers elsewhere (status ${status})`
    : `The server fails (status ${status})`
}
