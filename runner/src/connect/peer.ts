// One WebSocket to the service: JSON-RPC 2.0 in text frames, content in binary frames. Incoming messages are validated
// with the protocol's schema and have size limits; an invalid message ends the connection, because nothing after it can
// be trusted.

import WebSocket from 'ws'
import { z } from 'zod'
import { BadFrame, decodeFrame, encodeFrame, type Frame } from '../../../src/runners/frames.ts'
import {
  HEARTBEAT_MS,
  MAX_FRAME_BYTES,
  MAX_TEXT_BYTES,
  METHODS,
  type Method,
  type ParamsOf,
  PING,
  PONG,
  RPC_ERRORS,
} from '../../../src/runners/wire.ts'
import { messageOf } from '../log.ts'

/** An error for the other side, with its code. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The connection ended before the answer arrived. */
export class Disconnected extends Error {}

export type Handlers = { readonly [M in Method]?: (params: ParamsOf<M>) => unknown }
export type PeerEvents = {
  readonly handlers: Handlers
  readonly onFrame: (frame: Frame) => void
  /** Called once, even if the connection never opened. */
  readonly onClosed: (reason: string, refusedWith: number | null) => void
}

const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.string().max(100)]).optional(),
  method: z.string().max(100).optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
})
type Message = z.infer<typeof Message>
type Pending = { resolve: (result: unknown) => void; reject: (error: Error) => void }

/** The limit for the service's unanswered requests: a service that sends more violates the protocol. */
const MAX_UNANSWERED = 256
/** For the handshake, and for the answer to the first message. */
const GREETED_WITHIN_MS = 10_000

/** The time to read received data before a connection counts as dead. */
const READ_FIRST_MS = 500

export class Peer {
  readonly #socket: WebSocket
  readonly #events: PeerEvents
  readonly #pending = new Map<number, Pending>()
  #nextId = 1
  #unanswered = 0
  #refusedWith: number | null = null
  #reason = ''
  #isClosed = false
  #heard = true
  #pings: NodeJS.Timeout | null = null

  constructor(address: { url: URL; bearer: string }, events: PeerEvents, onOpen: (peer: Peer) => void) {
    this.#events = events
    this.#socket = new WebSocket(address.url, {
      headers: { authorization: `Bearer ${address.bearer}` },
      perMessageDeflate: false,
      maxPayload: Math.max(MAX_FRAME_BYTES, MAX_TEXT_BYTES),
      handshakeTimeout: GREETED_WITHIN_MS,
      followRedirects: false,
      // An answer takes effect before the next message is processed.
      allowSynchronousEvents: false,
    })
    this.#socket.on('open', () => {
      this.#pings = setInterval(() => this.#ping(), HEARTBEAT_MS)
      onOpen(this)
    })
    this.#socket.on('message', (data, isBinary) => this.#received(data, isBinary))
    this.#socket.on('unexpected-response', (request, response) => {
      this.#refusedWith = response.statusCode ?? null
      response.resume()
      request.destroy(new Error(`the service answered ${response.statusCode}`))
      this.#closed(`the service answered ${response.statusCode}`)
    })
    this.#socket.on('error', (error) => {
      this.#reason = error.message
    })
    this.#socket.on('close', (code, reason) => this.#closed(this.#reason || `${code} ${reason.toString()}`.trim()))
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#socket.readyState === WebSocket.OPEN
  }

  /** Rejects with `RpcError` for an error answer and with `Disconnected` if the connection ends first. */
  call<M extends Method>(method: M, params: ParamsOf<M>): Promise<unknown> {
    if (!this.isOpen) return Promise.reject(new Disconnected('not connected'))
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#send({ jsonrpc: '2.0', id, method, params })
    })
  }

  /** The first message. If the service does not answer it, the connection was lost without notice. */
  async hello<M extends 'runner/hello' | 'session/hello'>(method: M, params: ParamsOf<M>): Promise<unknown> {
    const late = setTimeout(() => this.close(1000, 'no answer to the hello'), GREETED_WITHIN_MS)
    try {
      return await this.call(method, params)
    } finally {
      clearTimeout(late)
    }
  }

  /** `onLeft`: called when the network has accepted it, or never will. */
  notify<M extends Method>(method: M, params: ParamsOf<M>, onLeft?: () => void): void {
    if (this.isOpen) this.#socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }), onLeft)
    else onLeft?.()
  }

  sendFrame(frame: Frame): void {
    if (this.isOpen) this.#socket.send(encodeFrame(frame))
  }

  close(code: number, reason: string): void {
    this.#reason ||= reason
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.terminate()
    else this.#socket.close(code, reason.slice(0, 100))
    this.#closed(reason)
  }

  #send(message: unknown): void {
    this.#socket.send(JSON.stringify(message))
  }

  /** A connection without incoming data until the next ping is dead. */
  #ping(): void {
    // If this process was blocked, data received meanwhile is only read now.
    if (this.#heard) this.#pingNow()
    else setTimeout(() => (this.#heard ? this.#pingNow() : this.#silent()), READ_FIRST_MS)
  }

  #pingNow(): void {
    if (!this.isOpen) return
    this.#heard = false
    this.#socket.send(PING)
  }

  #silent(): void {
    if (this.#isClosed) return
    this.#reason = 'no answer to a ping'
    this.#socket.terminate()
  }

  #closed(reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#pings !== null) clearInterval(this.#pings)
    for (const { reject } of this.#pending.values()) reject(new Disconnected(reason))
    this.#pending.clear()
    this.#events.onClosed(reason, this.#refusedWith)
  }

  #received(data: WebSocket.RawData, isBinary: boolean): void {
    if (this.#isClosed) return
    this.#heard = true
    const bytes = Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data
    try {
      if (isBinary) this.#events.onFrame(decodeFrame(bytes))
      else this.#receivedText(bytes.toString('utf8'))
    } catch (error) {
      // A frame that is invalid, unannounced or cannot be accepted here: the states of both sides differ. Only this
      // connection is affected, not other conversations.
      const isTheirs = error instanceof BadFrame || error instanceof RpcError
      this.close(isTheirs ? 1008 : 1011, messageOf(error))
    }
  }

  #receivedText(text: string): void {
    if (text === PONG) return
    if (text.length > MAX_TEXT_BYTES) throw new BadFrame('a message that is too long')
    const message = Message.safeParse(jsonOf(text))
    if (!message.success) throw new BadFrame('a message that is no JSON-RPC 2.0')
    if (message.data.method === undefined) this.#answered(message.data)
    else this.#asked(message.data.method, message.data)
  }

  #answered({ id, result, error }: Message): void {
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined
    if (pending === undefined || typeof id !== 'number') return
    this.#pending.delete(id)
    if (error === undefined) pending.resolve(result)
    else pending.reject(new RpcError(error.code, error.message, error.data))
  }

  #asked(method: string, { id, params }: Message): void {
    if (id === undefined) {
      // Unknown notifications of a newer service are ignored.
      if (Object.hasOwn(this.#events.handlers, method)) this.#run(method, params)
      return
    }
    if (this.#unanswered >= MAX_UNANSWERED) throw new BadFrame('too many requests that wait for an answer')
    this.#unanswered += 1
    // Called in the same turn of the event loop, so that requests and frames take effect in the order of their arrival.
    let answer: unknown
    try {
      answer = this.#run(method, params)
    } catch (error) {
      answer = Promise.reject(error)
    }
    Promise.resolve(answer)
      .then(
        (result) => this.#reply({ jsonrpc: '2.0', id, result: result ?? {} }),
        (error) => this.#reply({ jsonrpc: '2.0', id, error: errorOf(error) }),
      )
      .finally(() => {
        this.#unanswered -= 1
      })
  }

  #reply(message: unknown): void {
    if (this.isOpen) this.#send(message)
  }

  #run(method: string, params: unknown): unknown {
    const known = Object.hasOwn(METHODS, method) ? (method as Method) : null
    const handler =
      known === null ? undefined : (this.#events.handlers[known] as ((params: unknown) => unknown) | undefined)
    if (known === null || handler === undefined) throw new RpcError(RPC_ERRORS.methodNotFound, `no method ${method}`)
    const checked = METHODS[known].params.safeParse(params)
    if (!checked.success) throw new RpcError(RPC_ERRORS.invalidParams, z.prettifyError(checked.error).slice(0, 1000))
    return handler(checked.data)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BadFrame(`a message that is no JSON: ${messageOf(error)}`)
  }
}

function errorOf(error: unknown): { code: number; message: string; data?: unknown } {
  if (error instanceof RpcError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) }
  }
  return { code: RPC_ERRORS.internal, message: messageOf(error).slice(0, 1000) }
}
