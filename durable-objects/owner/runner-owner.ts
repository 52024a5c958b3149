// The part of an owner's object that runners and conversations call about runners: it holds the runners' sockets.

import { conversationOf } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { tellRunners } from '../../src/db/metrics.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { PING, PONG } from '../../src/runners/wire.ts'
import { BudgetOwner } from './budget-owner.ts'
import { ConversationBooks } from './conversation-books.ts'
import { type RunnerAnswer, type RunnerInfo, RunnerPool, type WantedRunner } from './runner-pool.ts'

/** Close codes that only report; they must not be sent. */
const REPORTING_CODES = new Set([1004, 1005, 1006, 1015])

export class RunnerOwner extends BudgetOwner {
  protected readonly runnerPool: RunnerPool
  protected readonly books: ConversationBooks

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    const books = new ConversationBooks(this.storage)
    this.books = books
    this.runnerPool = new RunnerPool(ctx, {
      isThere: (id) => !books.isTakenOver || books.has(id),
      changed: () => this.#tellRunners(),
      sql: this.storage.sql,
    })
  }

  /** For the metrics, where anybody reads them. */
  #tellRunners(): void {
    if (config(this.env).metricsToken === null) return
    const told = tellRunners(this.env.DB, this.ctx.id.toString(), this.runnerPool.connected)
    this.ctx.waitUntil(told.catch((error) => log.warn('owner.runners_not_told', errorFields(error))))
  }

  /** The socket of a runner whose key was checked by the route. */
  override async fetch(request: Request): Promise<Response> {
    const webSocket = this.runnerPool.accept(new URL(request.url).searchParams.get('key'))
    return webSocket === null ? new Response(null, { status: 429 }) : new Response(null, { status: 101, webSocket })
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    await this.runnerPool.receive(socket, data)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.runnerPool.left(socket)
    socket.close(REPORTING_CODES.has(code) ? 1000 : code)
  }

  override webSocketError(socket: WebSocket, error: unknown): void {
    log.debug('runner.socket_failed', errorFields(error))
    this.runnerPool.left(socket)
  }

  /** For conversations: a runner that opens a socket to the conversation, or why there is none. */
  wantRunner(wanted: WantedRunner): Promise<RunnerAnswer> {
    return this.runnerPool.want(wanted)
  }

  /** For conversations. `erase`: it is deleted, and the runner's copy of its files with it. */
  releaseRunner(conversation: string, erase: boolean): Promise<void> {
    return this.runnerPool.release(conversation, erase)
  }

  runners(): RunnerInfo[] {
    return this.runnerPool.list()
  }

  /** Lets the runner go; false for an unknown one. */
  async removeRunner(id: string): Promise<boolean> {
    const holders = this.runnerPool.remove(id)
    if (holders === null) return false
    await this.dropRunners(holders)
    return true
  }

  /** Closes the runner's sockets of these conversations. */
  protected async dropRunners(holders: readonly string[]): Promise<void> {
    const drop = async (holder: string) => {
      try {
        await conversationOf(this.env, holder).dropRunner()
      } catch (error) {
        log.warn('owner.runner_not_dropped', { holder, ...errorFields(error) })
      }
    }
    await Promise.all(holders.map(drop))
  }
}
