// The network between a runner and the service: forwards all data until the test cuts the connection.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export class Relay {
  readonly #server: Server
  readonly #pairs = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(target: number): Promise<Relay> {
    const server = createServer()
    const relay = new Relay(server)
    server.on('connection', (socket) => relay.#join(socket, connect(target, '127.0.0.1')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return relay
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Drops all current connections, without a notice to either side. */
  cut(): void {
    for (const socket of this.#pairs) socket.resetAndDestroy()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #join(a: Socket, b: Socket): void {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      this.#pairs.add(from)
      from.pipe(to)
      // The other side sees the end of it.
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.#pairs.delete(from)
        to.destroy()
      })
    }
  }
}
