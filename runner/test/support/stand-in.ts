// A service that speaks the wire, written from the wire's description alone: its own frames, its own tree, its own checks.
// It is strict: what a runner may not do fails the test.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { Rpc } from './rpc.ts'
import { Session } from './stand-in-session.ts'

export const KEY = 'runner-key-of-the-tests'

export type PoolHello = { wire: number; runner: Record<string, unknown>; holds: string[]; clock: number }

export class StandIn {
  readonly #server: Server
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: 2 * 1024 * 1024 })
  readonly sessions = new Map<string, Session>()
  readonly headers: Record<string, string | string[] | undefined>[] = []
  pool: Rpc | null = null
  hello: PoolHello | null = null
  #isRefusing = false
  #waiters: (() => void)[] = []

  private constructor(server: Server) {
    this.#server = server
    server.on('upgrade', (request, socket, head) => {
      this.headers.push(request.headers)
      const path = request.url ?? ''
      const bearer = request.headers.authorization
      const id = /^\/api\/conversations\/([\w-]+)\/runner$/.exec(path)?.[1]
      const session = id === undefined ? undefined : this.sessions.get(id)
      const isPool = path === '/api/runners/socket' && bearer === `Bearer ${KEY}`
      const isSession = session !== undefined && bearer === `Bearer ${session.ticket}`
      if (this.#isRefusing || (!isPool && !isSession)) {
        socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        if (session !== undefined) session.connected(webSocket)
        else this.#pooled(webSocket)
      })
    })
  }

  static async start(port = 0): Promise<StandIn> {
    const server = createServer((_, response) => response.writeHead(404).end())
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return new StandIn(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing
  }

  /** The first hello of a runner, or the next one after `forget`. */
  async runner(): Promise<PoolHello> {
    while (this.hello === null) await new Promise<void>((resolve) => this.#waiters.push(resolve))
    return this.hello
  }

  forget(): void {
    this.hello = null
  }

  /** Lends the runner to a conversation and waits until it has said what it holds. */
  async open(id: string, session = this.sessions.get(id) ?? new Session(id)): Promise<Session> {
    this.sessions.set(id, session)
    await this.runner()
    await this.pool?.call('conversation/open', {
      conversation: id,
      path: `/api/conversations/${id}/runner`,
      ticket: session.ticket,
    })
    await session.ready()
    return session
  }

  async stop(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #pooled(socket: WebSocket): void {
    this.pool = new Rpc(socket, {
      'runner/hello': (params) => {
        this.hello = params as PoolHello
        for (const waiter of this.#waiters.splice(0)) waiter()
        return { wire: 1, now: Date.now() }
      },
      'runner/draining': (params) => {
        this.isDraining = true
        this.onDraining(params)
        return {}
      },
    })
  }

  isDraining = false
  onDraining: (params: unknown) => void = () => {}
}
