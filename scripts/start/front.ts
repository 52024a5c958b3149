// The socket that clients of `npm start` talk to. It belongs to the supervisor, so it outlives every runtime: while one is
// started again, requests wait here instead of failing. What a client breaks off ends here as well.

import {
  Agent,
  request as ask,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as nextRound } from 'node:timers/promises'
import { Callers } from './callers.ts'
import { type EndTurn, FairShare, LOOK, SHARES, type Shares } from './fair-share.ts'
import { ALONE, BESIDE_OTHERS, FramePace } from './frame-pace.ts'
import { forwardedHeaders, hasBody, refusalOf, returnedHeaders } from './front-headers.ts'
import { HEAD_PATIENCE_MS, INTERRUPTED, refuse, refuseSocket, refuseUnreadable, STARTING } from './front-refusals.ts'
import { endWith, headOf, joinSockets } from './front-sockets.ts'
import { HalfMessages } from './half-messages.ts'
import { answerHalfOpen, endHalfOpen, watchHalfOpen } from './half-open.ts'
import { HOST } from './port.ts'

/** Longer than a runtime takes to come up again; then the client hears that it has to wait. */
const PATIENCE_MS = 20_000
/** The runtime closes idle connections after 5 s; one that is about to be closed must not be used again. */
const IDLE_MS = 3_000
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const LOOKS: ReadonlySet<string> = new Set(['/alive', '/health', '/api/health', '/api/v1/health'])

type Exchange = { request: IncomingMessage; response: ServerResponse; port: number; attempt: number; endTurn: EndTurn }

export class Front {
  readonly #word: string
  readonly #server: Server
  readonly #share: FairShare
  readonly #callers: Callers
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS })
  readonly #halves = new HalfMessages()
  readonly #paces = { alone: new FramePace(ALONE), besideOthers: new FramePace(BESIDE_OTHERS) }
  readonly #waiting = new Set<(port: number | null) => void>()
  #port: number | null = null

  private constructor(word: string, shares: Shares) {
    this.#word = word
    this.#share = new FairShare(shares)
    this.#callers = new Callers(word)
    this.#server = createServer({
      // An upload over a slow line takes as long as it takes; the bodies are bounded by the Worker.
      requestTimeout: 0,
      // Where the request may take for ever, so may its head, unless that is said as well.
      headersTimeout: HEAD_PATIENCE_MS,
      // The runtime takes whatever asks for a socket for a GET, and would read where it was told to write.
      shouldUpgradeCallback: ({ method, headers }) =>
        method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket',
    })
    answerHalfOpen(this.#server)
    const answers = new WeakMap<Duplex, ServerResponse>()
    this.#server.on('request', (request, response) => {
      answers.set(request.socket, response)
      void this.#serve(request, response)
    })
    this.#server.on('clientError', (error, socket) => refuseUnreadable(socket, error, answers.get(socket)))
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head))
  }

  /** Listens, or fails with what the system says. */
  static async listen(port: number, word: string, shares = SHARES): Promise<Front> {
    const front = new Front(word, shares)
    await new Promise<void>((resolve, reject) => {
      front.#server.once('error', reject)
      front.#server.listen({ port, host: HOST, exclusive: true }, () => {
        front.#server.off('error', reject)
        resolve()
      })
    })
    return front
  }

  /** From here on requests go to this port of the runtime; null while there is none. */
  serveFrom(port: number | null): void {
    this.#port = port
    if (port === null) return
    for (const wake of this.#waiting) wake(port)
    this.#waiting.clear()
  }

  close(): void {
    for (const wake of this.#waiting) wake(null)
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that leaves is no failure; what it left behind is cleaned up where it is known.
    request.on('error', () => {})
    response.on('error', () => {})
    watchHalfOpen(request, response)
    const refusal = refusalOf(request)
    if (refusal !== null) return refuse(response, refusal)
    const port = await this.#backend()
    if (response.destroyed) return
    if (port === null) return refuse(response, STARTING)
    // A short body comes with the head, and is read right after it.
    if (hasBody(request)) await nextRound()
    const endTurn = await this.#share.turn(
      this.#callers.nameOf(request, port),
      kindOf(request),
      () => response.destroyed,
    )
    if (endTurn === null) return
    // Whoever leaves before the answer leaves his work behind in the runtime: his turn lasts as long as the longest.
    response.once('close', () => {
      if (response.headersSent) endTurn()
    })
    // It may have waited for longer than the runtime lived.
    this.#forward({ request, response, port: this.#port ?? port, attempt: 1, endTurn })
  }

  #forward(exchange: Exchange): void {
    const { request, response, port } = exchange
    const { method, url: path } = request
    const headers = forwardedHeaders(request, this.#word)
    // The runtime closes a connection on which it has not read a body to its end: none with a body is used again.
    const agent = hasBody(request) ? false : this.#agent
    const out = ask({ host: HOST, port, method, path, headers, setHost: false, agent })
    let isSent = false
    const leave = () => out.destroy()
    response.once('close', leave)
    // Not before there is somebody to read it: what was not sent can be sent to the next runtime.
    whenConnected(out, () => {
      isSent = true
      // Node sends a head with the first piece of its body; what refuses by the head alone must not wait for that.
      if (hasBody(request) && !request.complete) out.flushHeaders()
      request.pipe(out)
    })
    out.once('response', (answer) => {
      pass(answer, exchange)
      if (!isStream(answer)) return
      exchange.endTurn()
      endHalfOpen(request, response)
    })
    out.on('error', (error) => {
      response.off('close', leave)
      request.unpipe(out)
      this.#noteRefusal(error, port)
      if (response.destroyed) return
      if (response.headersSent) response.destroy()
      else void this.#again(exchange, isSent)
    })
  }

  /** Requests that no runtime can have processed, or that change nothing, are sent to the next runtime. */
  async #again(exchange: Exchange, isSent: boolean): Promise<void> {
    const { request, response, attempt } = exchange
    const isRepeatable = !isSent || (SAFE.has(request.method ?? '') && !hasBody(request))
    if (attempt >= MAX_ATTEMPTS || !isRepeatable) {
      request.resume()
      return refuse(response, INTERRUPTED)
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS * attempt))
    const port = await this.#backend()
    if (response.destroyed) return
    if (port === null) return refuse(response, STARTING)
    this.#forward({ ...exchange, port, attempt: attempt + 1 })
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const refusal = refusalOf(request)
    if (refusal !== null) return refuseSocket(socket, refusal, request.url)
    const port = await this.#backend()
    if (socket.destroyed) return
    if (port === null) return refuseSocket(socket, STARTING, request.url)
    const owner = this.#callers.nameOf(request, port)
    const endTurn = await this.#share.turn(owner, 'socket', () => socket.destroyed)
    if (endTurn === null) return
    const headers = forwardedHeaders(request, this.#word, true)
    const { method, url: path } = request
    // It may have waited for longer than the runtime lived.
    const out = ask({ host: HOST, port: this.#port ?? port, method, path, headers, setHost: false, agent: false })
    const leave = () => out.destroy()
    socket.once('close', leave)
    out.once('upgrade', (answer, backend, first) => {
      socket.off('close', leave)
      endTurn()
      const mayWait = this.#halves.shareOf(owner)
      // What a runner sends are files and output, in windows of their own.
      const isRunners = path?.startsWith('/api/runners/')
      const pause = (frames: number, bytes: number) => this.#pauseOf(owner, frames, isRunners ? 0 : bytes)
      joinSockets({ answer, backend, first, socket, head, mayWait, pause })
    })
    // A refusal has a body like any other answer; the connection ends with it, whatever the client sends next.
    out.once('response', (answer) => {
      socket.write(headOf(answer, [...returnedHeaders(answer), 'Connection', 'close']))
      answer.pipe(socket, { end: false })
      answer.once('close', () => {
        endTurn()
        endWith(socket)
      })
    })
    out.on('error', (error) => {
      this.#noteRefusal(error, port)
      refuseSocket(socket, INTERRUPTED, request.url)
    })
    out.end()
  }

  #pauseOf(owner: string, frames: number, bytes: number): number {
    const { alone, besideOthers } = this.#paces
    return (this.#share.isBesideOthers(owner) ? besideOthers : alone).said(owner, frames, bytes)
  }

  /** When nothing listens the runtime is gone; the next one will be announced. */
  #noteRefusal(error: NodeJS.ErrnoException, port: number): void {
    if (error.code === 'ECONNREFUSED' && this.#port === port) this.#port = null
  }

  /** The port of the runtime, as soon as there is one; null when there is none in time. */
  #backend(): Promise<number | null> | number {
    if (this.#port !== null) return this.#port
    return new Promise((resolve) => {
      const settle = (port: number | null) => {
        clearTimeout(timer)
        this.#waiting.delete(settle)
        resolve(port)
      }
      const timer = setTimeout(() => settle(null), PATIENCE_MS)
      this.#waiting.add(settle)
    })
  }
}

/** What is quick must not wait behind what takes long: many bodies that are still to come, or many analyses. */
function kindOf(request: IncomingMessage): string {
  if (hasBody(request) && !request.complete) return 'coming'
  if (LOOKS.has(request.url ?? '')) return LOOK
  return SAFE.has(request.method ?? '') ? 'read' : 'change'
}

const MAX_ATTEMPTS = 4
/** For the rest of a body that was answered already. */
const REST_MS = 15_000
const RETRY_MS = 250

/** It goes on for as long as its client wants. */
const isStream = ({ headers }: IncomingMessage): boolean => /^text\/event-stream/.test(headers['content-type'] ?? '')

function whenConnected(out: ClientRequest, act: () => void): void {
  out.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', act)
    else act()
  })
}

/** The runtime's answer to the client, as it comes. */
function pass(answer: IncomingMessage, { request, response }: Exchange): void {
  answer.on('error', () => response.destroy())
  // Cut off by the runtime: a short answer must not look whole.
  answer.once('close', () => {
    if (!answer.complete) response.destroy()
  })
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, returnedHeaders(answer))
  // The head of an event stream is an answer by itself.
  response.flushHeaders()
  answer.pipe(response)
  // An answer before the whole body was read: the rest is of no use to anyone, and is not waited for.
  answer.once('end', () => {
    if (request.complete) return
    request.resume()
    const timer = setTimeout(() => request.destroy(), REST_MS)
    request.once('close', () => clearTimeout(timer))
  })
}
