// Listeners of event streams that count the events about tasks and look at nothing else.

import { connect, type Socket } from 'node:net'

/** Stands once in every such frame. */
const MARK = Buffer.from('event: task_')
const PATIENCE_MS = 60_000
const AT_ONCE = 25

/** The raw request that opens a stream. */
export type StreamTarget = { readonly port: number; readonly request: string }

export class EventStreams {
  readonly #listeners: readonly Listener[]
  #waiting: { events: number; left: number; done(): void } | null = null

  private constructor(listeners: readonly Listener[]) {
    this.#listeners = listeners
    for (const listener of listeners) listener.onEvents = (before) => this.#count(listener, before)
  }

  static async open(target: StreamTarget, count: number): Promise<EventStreams> {
    const listeners: Listener[] = []
    while (listeners.length < count) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - listeners.length) }, () => Listener.open(target))
      listeners.push(...(await Promise.all(some)))
    }
    return new EventStreams(listeners)
  }

  /** Settles when every listener has counted so many events since all were open. */
  async until(events: number): Promise<void> {
    const left = this.#listeners.filter((listener) => listener.events < events).length
    if (left === 0) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const counts = () => [...new Set(this.#listeners.map((listener) => listener.events))].join(', ')
    const timer = setTimeout(
      () => reject(new Error(`${events} events were sent, and heard were ${counts()}`)),
      PATIENCE_MS,
    )
    this.#waiting = { events, left, done: resolve }
    await promise.finally(() => clearTimeout(timer))
  }

  /** Counts from here on. */
  reset(): void {
    for (const listener of this.#listeners) listener.events = 0
  }

  close(): void {
    for (const listener of this.#listeners) listener.close()
  }

  #count(listener: Listener, before: number): void {
    const waiting = this.#waiting
    if (waiting === null || before >= waiting.events || listener.events < waiting.events) return
    waiting.left -= 1
    if (waiting.left > 0) return
    this.#waiting = null
    waiting.done()
  }
}

class Listener {
  readonly #socket: Socket
  #tail: Buffer = Buffer.alloc(0)
  events = 0
  /** Called with the number of events before those that have just come. */
  onEvents: (before: number) => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', () => {})
  }

  /** Settles with the first bytes of the answer. */
  static open({ port, request }: StreamTarget): Promise<Listener> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('data', (head: Buffer) => {
        if (!head.toString('latin1').startsWith('HTTP/1.1 200'))
          reject(new Error(`no stream: ${head.toString('latin1', 0, 200)}`))
        else resolve(new Listener(socket))
      })
      socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    const before = this.events
    const data = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    let end = 0
    for (let at = data.indexOf(MARK); at >= 0; at = data.indexOf(MARK, end)) {
      this.events += 1
      end = at + MARK.length
    }
    // A mark may lie across two chunks.
    this.#tail = Buffer.from(data.subarray(Math.max(end, data.length - MARK.length + 1)))
    if (this.events > before) this.onEvents(before)
  }
}
