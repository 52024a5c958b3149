// Connections between a machine and the service. Each direction of each keeps its order, and nothing else does: chance says which
// frame comes next, and when either end learns that the connection is gone.

import { EventEmitter } from 'node:events'
import { PING, PONG } from '../../../src/runners/wire.ts'
import type { Random } from '../random.ts'

type Data = string | Uint8Array
type Happening = () => void

/** What one end of one connection is still to hear, in its order. */
class Line {
  readonly waiting: Happening[] = []
  readonly machine: string

  constructor(machine: string) {
    this.machine = machine
  }
}

/** One turn of the real loop: everything that waits for no clock has gone on. */
export const turn = (() => {
  const next = globalThis.setImmediate
  return () => new Promise<void>((resolve) => next(resolve))
})()
export const atTurnEnd = (() => {
  const next = globalThis.setImmediate
  return (commit: () => void) => void next(commit)
})()

export type Entry = (path: string, bearer: string) => Promise<ServerEnd | number>

export class Network {
  readonly #random: Random
  readonly #lines = new Set<Line>()
  readonly #held = new Set<string>()
  readonly connections = new Set<Connection>()
  /** What machines say and nobody hears. */
  loses: (text: string) => boolean = () => false
  /** What is about to arrive, on either side. */
  onHeard: (text: string) => void = () => {}
  /** Of what was said on either side: transfers of the whole tree, and refusals of a copy that is not as was thought. */
  wholeTransfers = 0
  wrongRevisions = 0
  /** What stands at the other end; null while nobody listens. */
  entry: Entry | null = null

  constructor(random: Random) {
    this.#random = random
  }

  cutOff(): void {
    this.entry = null
    for (const connection of [...this.connections]) connection.cut()
  }

  heard(data: Data): void {
    if (typeof data !== 'string') return
    this.onHeard(data)
    if (data.includes('"method":"transfer/begin"') && data.includes('"base":null')) this.wholeTransfers += 1
    if (data.includes('"code":-32004')) this.wrongRevisions += 1
  }

  /** The machine is held up: for so long it hears nothing and nothing is heard of it. */
  hold(machine: string, ms: number): void {
    this.#held.add(machine)
    setTimeout(() => this.#held.delete(machine), ms)
  }

  letGo(): void {
    this.#held.clear()
  }

  get isQuiet(): boolean {
    return this.#moving.length === 0
  }

  get #moving(): Line[] {
    return [...this.#lines].filter(({ machine }) => !this.#held.has(machine))
  }

  later(line: Line, happening: Happening): void {
    line.waiting.push(happening)
    this.#lines.add(line)
  }

  /** One thing that is on its way arrives. */
  step(): void {
    const line = this.#random.pick(this.#moving)
    const happening = line.waiting.shift()
    if (line.waiting.length === 0) this.#lines.delete(line)
    happening?.()
  }
}

/** The service's end, as the runtime gives it to an object. */
export class ServerEnd {
  readyState = 1
  attachment: unknown = null
  tags: readonly string[] = []
  connection: Connection | null = null
  /** Of the isolate that holds it; what it sends goes out when what it wrote is stored. */
  holder: {
    isDead: boolean
    gated(send: Happening): void
    heard(end: ServerEnd, data: string | ArrayBuffer): void
    left(end: ServerEnd): void
  } | null = null

  send(data: Data): void {
    if (this.readyState !== 1) throw new Error('the socket is closed')
    const copy = typeof data === 'string' ? data : data.slice()
    this.holder?.gated(() => this.connection?.down(copy))
  }

  close(code = 1000, reason = ''): void {
    if (this.readyState !== 1) return
    this.readyState = 2
    this.holder?.gated(() => this.connection?.closedByService(code, reason))
  }

  serializeAttachment(value: unknown): void {
    this.attachment = structuredClone(value)
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.attachment)
  }
}

export class Connection {
  readonly #network: Network
  readonly #client: ClientSocket
  readonly #up: Line
  readonly #down: Line
  #server: ServerEnd | null = null
  #isCut = false

  constructor(network: Network, client: ClientSocket, { path, bearer }: { path: string; bearer: string }) {
    this.#network = network
    this.#client = client
    this.#up = new Line(client.machine)
    this.#down = new Line(client.machine)
    network.connections.add(this)
    network.later(this.#up, () => this.#knock(path, bearer))
  }

  get client(): ClientSocket {
    return this.#client
  }

  get server(): ServerEnd | null {
    return this.#server
  }

  #knock(path: string, bearer: string): void {
    const { entry } = this.#network
    if (this.#isCut) return
    if (entry === null) {
      this.cut()
      return
    }
    entry(path, bearer).then(
      (end) => {
        if (typeof end === 'number') this.#network.later(this.#down, () => this.#refused(end))
        else if (this.#isCut) {
          end.readyState = 3
          this.#network.later(this.#up, () => end.holder?.left(end))
        } else {
          this.#server = end
          end.connection = this
          this.#network.later(this.#down, () => this.#client.opened())
        }
      },
      () => this.cut(),
    )
  }

  #refused(status: number): void {
    this.#network.connections.delete(this)
    if (!this.#isCut) this.#client.refused(status)
  }

  up(data: Data): void {
    const copy = typeof data === 'string' ? data : data.slice()
    if (this.#isCut || (typeof copy === 'string' && this.#network.loses(copy))) return
    // The runtime answers it for the object.
    if (copy === PING) this.#network.later(this.#up, () => this.down(PONG))
    else
      this.#network.later(this.#up, () => {
        const end = this.#server
        if (this.#isCut || end === null || end.readyState !== 1) return
        this.#network.heard(copy)
        end.holder?.heard(end, typeof copy === 'string' ? copy : (copy.slice().buffer as ArrayBuffer))
      })
  }

  down(data: Data): void {
    if (this.#isCut) return
    this.#network.later(this.#down, () => {
      if (this.#isCut) return
      this.#network.heard(data)
      this.#client.came(data)
    })
  }

  closedByService(code: number, reason: string): void {
    if (this.#isCut) return
    this.#network.later(this.#down, () => {
      if (this.#isCut) return
      this.#end()
      this.#client.gone(code, reason)
    })
  }

  closedByClient(): void {
    if (this.#isCut) return
    this.#network.later(this.#up, () => this.#end())
  }

  /** Without a word; both ends learn it, each when it does. What is on its way is lost. */
  cut(): void {
    if (this.#isCut) return
    this.#end()
    this.#network.later(this.#down, () => this.#client.gone(1006, ''))
  }

  #end(): void {
    this.#isCut = true
    this.#up.waiting.length = 0
    this.#down.waiting.length = 0
    this.#network.connections.delete(this)
    const end = this.#server
    if (end === null) return
    // The service hears it, whatever holds the machine up.
    this.#network.later(new Line(''), () => {
      end.readyState = 3
      end.holder?.left(end)
    })
  }
}

/** The network that a machine's sockets go over: they are opened by the library's own name. */
let network: Network | null = null
export function useNetwork(one: Network): void {
  network = one
}

/** As the library `ws` gives it. */
export class ClientSocket extends EventEmitter {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static readonly CLOSING = 2
  static readonly CLOSED = 3
  readyState = 0
  /** The machine is dead: nobody hears anything. */
  isDead = false
  readonly machine: string
  readonly #connection: Connection

  constructor(url: URL, { headers }: { headers: { authorization: string } }) {
    super()
    if (network === null) throw new Error('there is no network')
    const bearer = headers.authorization.replace(/^Bearer /, '')
    this.machine = url.hostname
    this.#connection = new Connection(network, this, { path: url.pathname, bearer })
  }

  send(data: Data): void {
    if (this.readyState === 1) this.#connection.up(data)
  }

  close(): void {
    if (this.readyState >= 2) return
    this.readyState = 2
    this.#connection.closedByClient()
    // The closing handshake ends or times out; nobody waits for it.
    setTimeout(() => this.gone(1000, ''), 1)
  }

  terminate(): void {
    this.#connection.cut()
  }

  opened(): void {
    if (this.readyState !== 0 || this.isDead) return
    this.readyState = 1
    this.emit('open')
  }

  came(data: Data): void {
    if (this.isDead || this.readyState !== 1) return
    this.emit('message', typeof data === 'string' ? Buffer.from(data) : Buffer.from(data), typeof data !== 'string')
  }

  refused(status: number): void {
    if (this.isDead) return
    const request = { destroy: () => this.gone(1006, '') }
    this.emit('unexpected-response', request, { statusCode: status, resume: () => {} })
  }

  gone(code: number, reason: string): void {
    if (this.readyState === 3) return
    this.readyState = 3
    if (!this.isDead) this.emit('close', code, Buffer.from(reason))
  }
}
