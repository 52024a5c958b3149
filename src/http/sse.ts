// Sends an event stream to a client. The stream comes over a socket from an object, as bytes that are passed on
// unchanged. Work that would keep the object busy while nothing happens is done here, in the Worker: the heartbeat,
// detecting that the client has left, and ending a stream that is read too slowly.

import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { sseFrame } from '../lib/sse-frame.ts'

type Options = {
  /** The signal of the client's request: it fires with the first write after the client has left. */
  signal: AbortSignal
  /** Called at every interval: whether the key of the stream is still valid. */
  mayStay: () => Promise<boolean>
  heartbeatMs?: number
  maxLagBytes?: number
}

/** The close code of a socket whose key was revoked or has expired. */
const POLICY = 1008
const HEARTBEAT_MS = 30_000
/** Bytes that may wait for a slow client. Beyond them its stream ends, and it resumes with its last event's number. */
const MAX_LAG_BYTES = 1_048_576
const HIGH_WATER_MARK = 65_536

/** Sends what comes out of the (not yet accepted) socket to the client, until either side ends it. */
export function streamOf(socket: WebSocket, options: Options): Response {
  const body = new ReadableStream<Uint8Array>(sourceOf(socket, options), {
    size: (chunk) => chunk.byteLength,
    highWaterMark: HIGH_WATER_MARK,
  })
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    },
  })
}

function sourceOf(socket: WebSocket, options: Options): UnderlyingSource<Uint8Array> {
  let line: Line | null = null
  return {
    start(controller) {
      line = new Line(socket, controller, options)
      line.open()
    },
    cancel: () => line?.leave('cancelled'),
  }
}

/** The path from the socket to one client. */
class Line {
  readonly #socket: WebSocket
  readonly #controller: ReadableStreamDefaultController<Uint8Array>
  readonly #options: Options
  readonly #heartbeat: Heartbeat
  readonly #encoder = new TextEncoder()
  #ended = false

  constructor(socket: WebSocket, controller: ReadableStreamDefaultController<Uint8Array>, options: Options) {
    this.#socket = socket
    this.#controller = controller
    this.#options = options
    this.#heartbeat = new Heartbeat(options, { beat: () => this.#beat(), end: (why) => this.#end(why) })
  }

  open(): void {
    this.#socket.addEventListener('message', ({ data }) => {
      this.#heartbeat.received()
      this.#pass(typeof data === 'string' ? this.#encoder.encode(data) : new Uint8Array(data))
    })
    this.#socket.addEventListener('close', ({ code, reason }) => {
      // Tells the client that the same key will not work again.
      if (code === POLICY) this.#write(sseFrame({ event: 'closing', json: JSON.stringify({ reason }) }))
      this.#end('closed')
    })
    this.#socket.addEventListener('error', () => this.#end('broken'))
    this.#options.signal.addEventListener('abort', () => this.leave('client left'))
    // With blobs, reading the bytes would be asynchronous.
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.accept()
    this.#heartbeat.start()
  }

  /** The client is gone: its side needs no close. */
  leave(why: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#heartbeat.stop()
    closeQuietly(this.#socket, why)
  }

  #end(why: string): void {
    if (this.#ended) return
    this.leave(why)
    this.#controller.close()
  }

  #write(text: string): void {
    this.#pass(this.#encoder.encode(text))
  }

  #pass(bytes: Uint8Array): void {
    if (this.#ended) return
    this.#controller.enqueue(bytes)
    const { maxLagBytes = MAX_LAG_BYTES } = this.#options
    if ((this.#controller.desiredSize ?? 0) < -maxLagBytes) this.#end('lagging')
  }

  #beat(): void {
    this.#write(sseFrame({ event: 'heartbeat', json: JSON.stringify({ timestamp: isoMicros(Date.now()) }) }))
  }
}

/** Sends a heartbeat after an interval without events, and checks the key once in each interval. */
class Heartbeat {
  readonly #everyMs: number
  readonly #mayStay: () => Promise<boolean>
  readonly #on: { beat: () => void; end: (why: string) => void }
  #timer: ReturnType<typeof setTimeout> | null = null
  #lastAt = Date.now()
  #askedAt = Date.now()
  #running = true

  constructor({ heartbeatMs = HEARTBEAT_MS, mayStay }: Options, on: { beat: () => void; end: (why: string) => void }) {
    this.#everyMs = heartbeatMs
    this.#mayStay = mayStay
    this.#on = on
  }

  start(): void {
    if (!this.#running) return
    this.#timer = setTimeout(() => void this.#tick(), Math.max(1, this.#lastAt + this.#everyMs - Date.now()))
  }

  received(): void {
    this.#lastAt = Date.now()
  }

  stop(): void {
    this.#running = false
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  async #tick(): Promise<void> {
    const now = Date.now()
    if (now - this.#lastAt >= this.#everyMs) {
      this.#lastAt = now
      this.#on.beat()
    }
    if (now - this.#askedAt >= this.#everyMs) {
      this.#askedAt = now
      if (!(await this.#allowed())) return this.#on.end('no longer allowed')
    }
    this.start()
  }

  /** A check that fails for another reason does not end the stream. */
  async #allowed(): Promise<boolean> {
    try {
      return await this.#mayStay()
    } catch (error) {
      log.warn('sse.check_failed', errorFields(error))
      return true
    }
  }
}

function closeQuietly(socket: WebSocket, why: string): void {
  try {
    socket.close(1000, why)
  } catch (error) {
    log.debug('sse.close_failed', errorFields(error))
  }
}
