// The part of an owner's object for runners and for conversations that use them: it holds the runners' sockets.

import { conversationOf } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { tellRunners } from '../../src/db/metrics.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { PING, PONG } from '../../src/runners/wire.ts'
import { BudgetOwner } from './budget-owner.ts'
import { ConversationBooks } from './conversation-books.ts'
import { HeldSockets } from './held-sockets.ts'
import { RunnerKeys } from './runner-keys.ts'
import { type RunnerAnswer, type RunnerInfo, RunnerPool, type WantedRunner } from './runner-pool.ts'

/** Close codes that only report; they must not be sent. */
const REPORTING_CODES = new Set([1004, 1005, 1006, 1015])
const DROP_AGAIN_MS = 1_000

export abstract class RunnerOwner extends BudgetOwner {
  protected abstract readonly alarms: { at(name: 'runners', at: number): void }
  protected readonly runnerPool: RunnerPool
  protected readonly runnerKeys: RunnerKeys
  protected readonly books: ConversationBooks

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    const books = new ConversationBooks(this.storage)
    this.books = books
    this.runnerKeys = new RunnerKeys(ctx, this.storage.sql)
    this.runnerPool = new RunnerPool(ctx, {
      unknown: (ids) => books.unknown(ids),
      changed: () => this.#tellRunners(),
      sql: this.storage.sql,
    })
  }

  /** Reports the number of runners for the metrics, if these are enabled. */
  #tellRunners(): void {
    if (config(this.env).metricsToken === null) return
    const told = tellRunners(this.env.DB, this.ctx.id.toString(), this.runnerPool.connected)
    this.ctx.waitUntil(told.catch((error) => log.warn('owner.runners_not_told', errorFields(error))))
  }

  /** Accepts the socket of a runner; the route has checked its key. */
  override async fetch(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const [key, until] = [query.get('key'), query.get('until')]
    // An isolate may still have the key as valid in its cache.
    if (key !== null && new HeldSockets(this.storage.sql).isEnded(key)) return new Response(null, { status: 401 })
    const webSocket = this.runnerPool.accept(key, until === null ? null : Number(until))
    this.#expectExpiry()
    return webSocket === null ? new Response(null, { status: 429 }) : new Response(null, { status: 101, webSocket })
  }

  /** Disconnects runners whose key has expired. */
  protected async endExpiredRunners(): Promise<void> {
    this.runnerKeys.expired(Date.now())
    this.#expectExpiry()
    if (!(await this.dropBarred())) this.alarms.at('runners', Date.now() + DROP_AGAIN_MS)
  }

  /** Tells conversations that the key of their runner has ended; true when all of them know. */
  protected async dropBarred(): Promise<boolean> {
    const told = this.runnerKeys.untold().map(async ({ runner, holders }) => {
      const isDone = await this.dropRunners(holders, runner)
      if (isDone) this.runnerKeys.told(runner)
      return isDone
    })
    return (await Promise.all(told)).every(Boolean)
  }

  #expectExpiry(): void {
    const next = this.runnerKeys.nextExpiry
    if (next !== null) this.alarms.at('runners', next)
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

  /**
   * For conversations: releases the runner. `erase`: the conversation is deleted, so the runner deletes its copy of the
   * files.
   */
  releaseRunner(conversation: string, erase: boolean): Promise<void> {
    return this.runnerPool.release(conversation, erase)
  }

  runners(): RunnerInfo[] {
    return this.runnerPool.list()
  }

  /** Removes the runner; false for an unknown one. */
  async removeRunner(id: string): Promise<boolean> {
    const holders = this.runnerPool.remove(id)
    if (holders === null) return false
    await this.dropRunners(holders, null)
    return true
  }

  /** For conversations: whether a ticket of the runner is still valid. */
  isGoodRunner(runner: string): boolean {
    return this.runnerKeys.isGood(runner)
  }

  /**
   * Closes the runner's sockets to these conversations; true when all of them know. `barred`: the id of the runner if
   * it will not come back.
   */
  protected async dropRunners(holders: readonly string[], barred: string | null): Promise<boolean> {
    const drop = async (holder: string) => {
      try {
        await conversationOf(this.env, holder).dropRunner(barred)
        return true
      } catch (error) {
        log.warn('owner.runner_not_dropped', { holder, ...errorFields(error) })
        return false
      }
    }
    return (await Promise.all(holders.map(drop))).every(Boolean)
  }
}
