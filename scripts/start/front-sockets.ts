// A client's WebSocket and the runtime's, joined byte for byte, and their common end. The end is looked after here because
// the runtime does not: it closes the connection of a socket that an object has closed only when the object's instance goes,
// ten seconds after its last work at the earliest, and not at all while the client answers nothing.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { FrameWatch } from './websocket-frames.ts'

/** From the first sign of the end: for the other side's close frame, and for bytes that are under way. */
const CLOSE_PATIENCE_MS = 3_000
/** A client that takes nothing for so long is gone. An object waits for a sign of life not even that long. */
const STALL_MS = 30_000

type Joint = { answer: IncomingMessage; backend: Duplex; first: Buffer; socket: Duplex; head: Buffer }

/** `first` came with the runtime's head, `head` with the client's. */
export function joinSockets({ answer, backend, first, socket, head }: Joint): void {
  socket.write(headOf(answer, answer.rawHeaders))
  const junction = new Junction(socket, backend)
  junction.carry({ from: backend, to: socket, first })
  junction.carry({ from: socket, to: backend, first: head })
}

export function headOf({ statusCode, statusMessage }: IncomingMessage, raw: readonly string[]): string {
  const lines = raw.flatMap((text, i) => (i % 2 === 0 ? [`${text}: ${raw[i + 1] ?? ''}\r\n`] : []))
  return `HTTP/1.1 ${statusCode ?? 502} ${statusMessage ?? ''}\r\n${lines.join('')}\r\n`
}

/** Ends a connection with what was written to it, whether its client ends its half or not. */
export function endWith(socket: Duplex, text = ''): void {
  if (socket.destroyed) return
  socket.end(text)
  // What comes after the end is of no use; unread it would hide that the client ended its half.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), CLOSE_PATIENCE_MS)
  socket.once('close', () => clearTimeout(timer))
}

class Junction {
  readonly #socket: Duplex
  readonly #backend: Duplex
  readonly #closed = new Set<Duplex>()
  #patience: ReturnType<typeof setTimeout> | null = null
  #stall: ReturnType<typeof setTimeout> | null = null

  constructor(socket: Duplex, backend: Duplex) {
    this.#socket = socket
    this.#backend = backend
  }

  carry({ from, to, first }: { from: Duplex; to: Duplex; first: Buffer }): void {
    const frames = new FrameWatch()
    let hasEnded = false
    const take = (bytes: Buffer) => {
      if (to.writable && !to.write(bytes)) this.#hold(from, to)
      if (frames.sees(bytes)) this.#closeFramePassed(from)
    }
    if (first.length > 0) take(first)
    from.on('data', take)
    to.on('drain', () => this.#goOn(from, to))
    from.once('end', () => {
      hasEnded = true
      to.end()
      this.#endSoon()
    })
    from.on('error', () => this.#cut())
    // After an orderly end the other side still gets what is under way.
    from.once('close', () => (hasEnded && !to.destroyed ? this.#endSoon() : this.#cut()))
  }

  #hold(from: Duplex, to: Duplex): void {
    from.pause()
    if (to === this.#socket) this.#stall ??= setTimeout(() => this.#cut(), STALL_MS)
  }

  #goOn(from: Duplex, to: Duplex): void {
    from.resume()
    if (to !== this.#socket || this.#stall === null) return
    clearTimeout(this.#stall)
    this.#stall = null
  }

  /** When both sides have said it, the server ends the connection: RFC 6455, section 7.1.1. */
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
    this.#socket.destroy()
    this.#backend.destroy()
  }
}
