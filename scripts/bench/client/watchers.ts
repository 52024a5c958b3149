// WebSocket clients that count the events they are sent and look at nothing else.

import { SocketClient, type SocketTarget } from './socket-client.ts'

/** Stands once in every stored event, and nowhere else in what the benchmarks write. */
const EVENT_MARK = Buffer.from('"timestamp":"')
const PATIENCE_MS = 20_000

export class Watchers {
  readonly #watchers: readonly Watcher[]
  #waiting: { events: number; left: number; done(): void } | null = null

  private constructor(watchers: readonly Watcher[]) {
    this.#watchers = watchers
    for (const watcher of watchers) watcher.onEvents = (before) => this.#count(watcher, before)
  }

  static async open(target: SocketTarget, count: number): Promise<Watchers> {
    const watchers: Watcher[] = []
    // Not all at once: a listening socket keeps only so many that have not been accepted.
    while (watchers.length < count) {
      const some = Array.from({ length: Math.min(50, count - watchers.length) }, () => Watcher.open(target))
      watchers.push(...(await Promise.all(some)))
    }
    return new Watchers(watchers)
  }

  /** Settles when every socket has counted so many events since it was opened; throws when that does not happen. */
  async until(events: number): Promise<void> {
    const left = this.#reading().filter((watcher) => watcher.events < events).length
    if (left > 0) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const late = () => reject(new Error(`${events} events were sent, and got were ${this.#counts()}`))
      const timer = setTimeout(late, PATIENCE_MS)
      this.#waiting = { events, left, done: resolve }
      await promise.finally(() => clearTimeout(timer))
    }
    if (this.#reading().some((watcher) => watcher.events > events)) {
      throw new Error(`${events} events were sent, and the sockets got more: ${this.#counts()}`)
    }
  }

  /** So many of them read nothing from here on, and are not waited for. */
  stall(count: number): void {
    for (const watcher of this.#watchers.slice(0, count)) watcher.stall()
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close()
  }

  #count(watcher: Watcher, before: number): void {
    const waiting = this.#waiting
    if (waiting === null || watcher.isStalled) return
    if (before >= waiting.events || watcher.events < waiting.events) return
    waiting.left -= 1
    if (waiting.left > 0) return
    this.#waiting = null
    waiting.done()
  }

  #reading(): Watcher[] {
    return this.#watchers.filter(({ isStalled }) => !isStalled)
  }

  #counts(): string {
    return [...new Set(this.#reading().map(({ events }) => events))].join(', ')
  }
}

export class Watcher {
  readonly #firstEvent = Promise.withResolvers<void>()
  #client: SocketClient | null = null
  #events = 0
  isStalled = false
  /** Called with the number of events before those that have just come. */
  onEvents: (before: number) => void = () => {}

  private constructor() {
    // A client that does not wait for the first event need not know that it never came.
    this.#firstEvent.promise.catch(() => {})
  }

  static async open(target: SocketTarget): Promise<Watcher> {
    const watcher = new Watcher()
    watcher.#client = await SocketClient.open(target, {
      text: (payload) => watcher.#take(payload),
      closed: (error) => watcher.#firstEvent.reject(error),
    })
    return watcher
  }

  get events(): number {
    return this.#events
  }

  get firstEvent(): Promise<void> {
    return this.#firstEvent.promise
  }

  stall(): void {
    this.isStalled = true
    this.#client?.stall()
  }

  close(): void {
    this.#client?.close()
  }

  #take(payload: Buffer): void {
    const before = this.#events
    for (let at = payload.indexOf(EVENT_MARK); at >= 0; at = payload.indexOf(EVENT_MARK, at + EVENT_MARK.length)) {
      this.#events += 1
    }
    if (this.#events === before) return
    if (before === 0) this.#firstEvent.resolve()
    this.onEvents(before)
  }
}
