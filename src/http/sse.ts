// An event stream to a client, fed by a socket from the object that makes its text. Everything that costs the object
// something while nothing happens is done here, at the edge: the heartbeat, noticing that the client has left, and
// letting go of one that reads too slowly.

import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { sseFrame } from '../lib/sse-frame.ts'

type Options = {
  /** The client's request: its abort comes with the first write after the client left. */
  signal: AbortSignal
  /** Asked at every interval: whether the one who opened the stream may still read it. */
  mayStay: () => Promise<boolean>
  heartbeatMs?: number
  maxLagBytes?: number
}

/** The close code of a socket whose key has ended. */
const POLICY = 1008
const HEARTBEAT_MS = 30_000
/** What may wait for a client that does not read. It is cut off then and resumes by the number of its last event. */
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

/** The way from the socket to one client. */
class Line {
  readonly #socket: WebSocket
  readonly #controller: ReadableStreamDefaultController<Uint8Array>
  readonly #options: Options
  readonly #pulse: Pulse
  readonly #encoder = new TextEncoder()
  #ended = false

  constructor(socket: WebSocket, controller: ReadableStreamDefaultController<Uint8Array>, options: Options) {
    this.#socket = socket
    this.#controller = controller
    this.#options = options
    this.#pulse = new Pulse(options, { beat: () => this.#beat(), end: (why) => this.#end(why) })
  }

  open(): void {
    this.#socket.addEventListener('message', ({ data }) => {
      this.#pulse.felt()
      this.#write(String(data))
    })
    this.#socket.addEventListener('close', ({ code, reason }) => {
      // The client is to know that the same key will not do again.
      if (code === POLICY) this.#write(sseFrame({ event: 'closing', json: JSON.stringify({ reason }) }))
      this.#end('closed')
    })
    this.#socket.addEventListener('error', () => this.#end('broken'))
    this.#options.signal.addEventListener('abort', () => this.leave('client left'))
    this.#socket.accept()
    this.#pulse.start()
  }

  /** The client is not there any more: there is nothing left to close on its side. */
  leave(why: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#pulse.stop()
    closeQuietly(this.#socket, why)
  }

  #end(why: string): void {
    if (this.#ended) return
    this.leave(why)
    this.#controller.close()
  }

  #write(text: string): void {
    if (this.#ended) return
    this.#controller.enqueue(this.#encoder.encode(text))
    const { maxLagBytes = MAX_LAG_BYTES } = this.#options
    if ((this.#controller.desiredSize ?? 0) < -maxLagBytes) this.#end('lagging')
  }

  #beat(): void {
    this.#write(sseFrame({ event: 'heartbeat', json: JSON.stringify({ timestamp: isoMicros(Date.now()) }) }))
  }
}

/** Beats once the line was silent for a whole interval, and asks once an interval whether the reader may stay. */
class Pulse {
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

  felt(): void {
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

  /** A check that cannot be made right now ends no stream. */
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
