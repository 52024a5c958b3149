// Both ends of a socket to an object. Each direction keeps its order; a connection that is cut loses what is on its way, and each
// end learns of it when it does. The object's end outlives the object's lives, as the runtime's does.

import type { Isolate } from './clock.ts'
import { isolates, runIn } from './clock.ts'
import type { AnyHost } from './object-host.ts'
import { type CoreWorld, currentWorld, Line } from './world.ts'

type Data = string | Uint8Array
type SocketEvent = { data?: Data; code?: number; reason?: string }
type Listener = (event: SocketEvent) => void

export class ServerEnd {
  readyState = 1
  tags: readonly string[] = []
  host: AnyHost | null = null
  #attachment: unknown = null
  readonly client: ClientEnd = new ClientEnd(this)
  readonly #world: CoreWorld = currentWorld()
  readonly #down = new Line()
  readonly #up = new Line()
  #isCut = false

  serializeAttachment(value: unknown): void {
    if (isolates.getStore()?.isDead !== true) this.#attachment = structuredClone(value)
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment)
  }

  send(said: Data): void {
    if (this.readyState !== 1) throw new Error('the socket is closed')
    const data = typeof said === 'string' ? said : said.slice()
    this.host?.gated(() => this.#carry(this.#down, 'down', () => this.client.happen('message', { data })))
  }

  close(code = 1000, reason = ''): void {
    if (this.readyState !== 1) return
    this.readyState = 2
    this.host?.gated(() =>
      this.#carry(this.#down, 'closing', () => {
        this.client.happen('close', { code, reason })
        this.#carry(this.#up, 'closed', () => this.#gone(code))
      }),
    )
  }

  /** What the client says or does. */
  said(said: Data): void {
    const data = typeof said === 'string' ? said : (said.slice().buffer as ArrayBuffer)
    this.#carry(this.#up, 'up', () => {
      if (this.readyState === 1) this.host?.heard(this, data)
    })
  }

  closedByClient(code: number): void {
    this.#carry(this.#up, 'left', () => this.#gone(code))
  }

  /** The client is gone without a word; some of what it said may still arrive. */
  cut(): void {
    if (this.#isCut) return
    this.#isCut = true
    this.#up.lose(this.#world.random.below(this.#up.waiting.length + 1))
    this.#down.lose(0)
    this.#world.later('cut, for the object', () => this.#gone(1006), this.#up)
    this.#world.later('cut, for the client', () => this.client.happen('close', LOST))
  }

  /** The object is gone without a word; some of what it said may still arrive. */
  lost(): void {
    this.readyState = 3
    if (this.#isCut) return
    this.#isCut = true
    this.#up.lose(0)
    this.#down.lose(this.#world.random.below(this.#down.waiting.length + 1))
    this.#world.later('cut, for the client', () => this.client.happen('close', LOST), this.#down)
  }

  #carry(line: Line, label: string, arrive: () => void): void {
    if (!this.#isCut) this.#world.later(label, arrive, line)
  }

  #gone(code: number): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.host?.left(this, code)
  }
}

const LOST = { code: 1006, reason: '' }

export class ClientEnd {
  readonly server: ServerEnd
  readonly #listeners = new Map<string, Listener[]>()
  #isolate: Isolate | undefined
  #early: [string, SocketEvent][] | null = []
  #isOver = false

  constructor(server: ServerEnd) {
    this.server = server
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  accept(): void {
    const early = this.#early ?? []
    this.#early = null
    this.#isolate = isolates.getStore()
    for (const [type, event] of early) this.happen(type, event)
  }

  send(data: Data): void {
    if (!this.#isOver) this.server.said(data)
  }

  close(code = 1005, _reason = ''): void {
    if (this.#isOver) return
    this.#isOver = true
    this.server.closedByClient(code)
  }

  happen(type: string, event: SocketEvent): void {
    if (this.#early !== null) {
      this.#early.push([type, event])
      return
    }
    if (this.#isOver || this.#isolate?.isDead) return
    if (type === 'close') this.#isOver = true
    const tell = () => {
      for (const listener of this.#listeners.get(type) ?? []) listener(event)
    }
    if (this.#isolate === undefined) tell()
    else runIn(this.#isolate, tell)
  }
}

/** A pair of the runtime's. */
export class Pair {
  readonly 0: ClientEnd
  readonly 1: ServerEnd
  constructor() {
    this[1] = new ServerEnd()
    this[0] = this[1].client
  }
}

/** An answer of the runtime's may carry a socket, and has a status then that no other answer may have. */
export function responseWithSockets(Plain: typeof Response): typeof Response {
  return class extends Plain {
    constructor(body: BodyInit | null, init: ResponseInit & { webSocket?: unknown } = {}) {
      if (init.status !== 101) super(body, init)
      else {
        super(null)
        Object.defineProperties(this, { status: { value: 101 }, webSocket: { value: init.webSocket } })
      }
    }
  } as typeof Response
}
