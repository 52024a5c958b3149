// Joins a client's WebSocket with the runtime's, byte for byte, and closes both. The closing is done here because
// the runtime closes the connection of a socket that an object has closed only when the object is evicted,
// at the earliest ten seconds after its last work, and not at all while the client does not answer.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { FrameWatch } from './websocket-frames.ts'

/** The time after the first close frame for the other side's close frame, and for data in transit. */
const CLOSE_PATIENCE_MS = 3_000
/** A client that reads nothing for this time is disconnected. An object waits even less for an answer to its check. */
const STALL_MS = 30_000

type Rules = Pick<Joint, 'mayWait' | 'pause'>
type Joint = {
  answer: IncomingMessage
  backend: Duplex
  first: Buffer
  socket: Duplex
  head: Buffer
  /** Called with the size of a client's incomplete message; returns false if it is too large. */
  mayWait: (bytes: number) => boolean
  /** Called with the client's frames; returns the delay in ms before its socket is read again. */
  pause: (frames: number, bytes: number) => number
}

/** 1013, `too much of this owner has not come whole`. */
const TOO_MUCH = Buffer.from('\x88\x2b\x03\xf5too much of this owner has not come whole', 'latin1')

/** `first`: data received with the runtime's headers; `head`: data received with the client's. */
export function joinSockets({ answer, backend, first, socket, head, mayWait, pause }: Joint): void {
  socket.write(headOf(answer, answer.rawHeaders))
  const junction = new Junction(socket, backend, { mayWait, pause })
  junction.carry({ from: backend, to: socket, first })
  junction.carry({ from: socket, to: backend, first: head })
}

export function headOf({ statusCode, statusMessage }: IncomingMessage, raw: readonly string[]): string {
  const lines = raw.flatMap((text, i) => (i % 2 === 0 ? [`${text}: ${raw[i + 1] ?? ''}\r\n`] : []))
  return `HTTP/1.1 ${statusCode ?? 502} ${statusMessage ?? ''}\r\n${lines.join('')}\r\n`
}

/** Ends a connection after its pending writes, even if the client does not end its half. */
export function endWith(socket: Duplex, text: string | Buffer = ''): void {
  if (socket.destroyed) return
  socket.end(text)
  // Data after the end is discarded; if it stayed unread, the end of the client's half would not be seen.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), CLOSE_PATIENCE_MS)
  socket.once('close', () => clearTimeout(timer))
}

class Junction {
  readonly #socket: Duplex
  readonly #backend: Duplex
  readonly #rules: Rules
  readonly #fromBackend = new FrameWatch()
  readonly #closed = new Set<Duplex>()
  #isRefused = false
  #framesTold = 0
  #silence: ReturnType<typeof setTimeout> | null = null
  #patience: ReturnType<typeof setTimeout> | null = null
  #stall: ReturnType<typeof setTimeout> | null = null

  constructor(socket: Duplex, backend: Duplex, rules: Rules) {
    this.#socket = socket
    this.#backend = backend
    this.#rules = rules
    socket.once('close', () => rules.mayWait(0))
  }

  carry({ from, to, first }: { from: Duplex; to: Duplex; first: Buffer }): void {
    const frames = from === this.#backend ? this.#fromBackend : new FrameWatch()
    let hasEnded = false
    const take = (bytes: Buffer) => {
      if (to.writable && !to.write(bytes)) this.#hold(from, to)
      if (frames.sees(bytes)) this.#closeFramePassed(from)
      if (from === this.#socket && !from.destroyed && !this.#isRefused) this.#judge(frames, bytes.length)
    }
    if (first.length > 0) take(first)
    from.on('data', take)
    // The delay applies to all sockets of the owner.
    if (from === this.#socket) this.#judge(frames, 0)
    to.on('drain', () => this.#goOn(from, to))
    from.once('end', () => {
      hasEnded = true
      to.end()
      this.#endSoon()
    })
    from.on('error', () => this.#cut())
    // After a clean close the other side still gets the data in transit.
    from.once('close', () => (hasEnded && !to.destroyed ? this.#endSoon() : this.#cut()))
  }

  #hold(from: Duplex, to: Duplex): void {
    from.pause()
    if (to === this.#socket) this.#stall ??= setTimeout(() => this.#cut(), STALL_MS)
  }

  #goOn(from: Duplex, to: Duplex): void {
    if (from === this.#backend || this.#silence === null) from.resume()
    if (to !== this.#socket || this.#stall === null) return
    clearTimeout(this.#stall)
    this.#stall = null
  }

  /** Handles the client's new data. */
  #judge(frames: FrameWatch, bytes: number): void {
    if (!this.#rules.mayWait(frames.halfBytes)) {
      this.#refuseMore()
      return
    }
    const ms = this.#rules.pause(frames.frames - this.#framesTold, bytes)
    this.#framesTold = frames.frames
    if (ms < 1 || this.#silence !== null) return
    this.#socket.pause()
    this.#silence = setTimeout(() => {
      this.#silence = null
      if (!this.#backend.writableNeedDrain) this.#socket.resume()
    }, ms)
  }

  #refuseMore(): void {
    this.#isRefused = true
    this.#rules.mayWait(0)
    // Ending it now would cut off data for the client.
    this.#backend.removeAllListeners('close')
    this.#backend.destroy()
    // In the middle of a frame no close frame can be sent.
    if (this.#fromBackend.isBetween) endWith(this.#socket, TOO_MUCH)
    else this.#socket.destroy()
  }

  /** After both close frames the server ends the connection: RFC 6455, section 7.1.1. */
  #closeFramePassed(from: Duplex): void {
    this.#closed.add(from)
    this.#endSoon()
    if (this.#closed.size < 2) return
    this.#socket.end()
    this.#backend.end()
  }

  #endSoon(): void {
    if (this.#socket.destroyed && this.#backend.destroyed) return
    this.#patience ??= setTimeout(() => this.#cut(), CLOSE_PATIENCE_MS)
  }

  #cut(): void {
    if (this.#patience !== null) clearTimeout(this.#patience)
    if (this.#stall !== null) clearTimeout(this.#stall)
    if (this.#silence !== null) clearTimeout(this.#silence)
    this.#socket.destroy()
    this.#backend.destroy()
  }
}
