// The connection of one conversation to its object: opened with a ticket, and opened again when it breaks, while the
// ticket is valid. It counts as connected after the object's answer to the hello.

import { type ParamsOf, RPC_ERRORS, SessionWelcome } from '../../../src/runners/wire.ts'
import { type Log, messageOf } from '../log.ts'
import { Backoff, isRefusal } from './backoff.ts'
import { Disconnected, Peer, type PeerEvents, RpcError } from './peer.ts'

export type SessionLinkDeps = Pick<PeerEvents, 'handlers' | 'onFrame'> & {
  readonly log: Log
  /** The first message to the object. */
  readonly hello: () => ParamsOf<'session/hello'>
  readonly onWelcome: (welcome: SessionWelcome, peer: Peer) => void
  readonly onLost: () => void
  /** There will be no further connection. */
  readonly onGivenUp: (reason: string) => void
}

/** A ticket is valid for this time; after that the service has given the conversation to another runner. */
const TICKET_MS = 10 * 60_000

export class SessionLink {
  readonly #deps: SessionLinkDeps
  readonly #backoff = new Backoff({ firstMs: 100, mostMs: 2_000 })
  /**
   * A refused ticket nearly always belongs to a revoked key: frequent attempts would block the whole address at the
   * service.
   */
  readonly #refusals = new Backoff({ firstMs: 2_000, mostMs: 30_000 })
  #address: { url: URL; bearer: string } | null = null
  #peer: Peer | null = null
  #isWelcome = false
  #lostAt: number | null = null
  #refusedAt: number | null = null
  #retry: NodeJS.Timeout | null = null
  #isOver = false

  constructor(deps: SessionLinkDeps) {
    this.#deps = deps
  }

  /** The current connection, whether or not the hello was answered. */
  get peer(): Peer | null {
    return this.#peer
  }

  get isConnected(): boolean {
    return this.#isWelcome
  }

  /** How long the service has refused the ticket. */
  get refusedMs(): number {
    return this.#refusedAt === null ? 0 : performance.now() - this.#refusedAt
  }

  /** With a new ticket at first, and again whenever the service sends another one. */
  open(address: { url: URL; bearer: string }): void {
    this.#address = address
    this.#lostAt = null
    this.#resetWaits()
    this.#peer?.close(1000, 'a new ticket came')
    this.#connect()
  }

  end(reason: string): void {
    this.#isOver = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#peer?.close(1000, reason)
  }

  #connect(): void {
    if (this.#isOver || this.#address === null) return
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    const { handlers, onFrame } = this.#deps
    const onClosed: PeerEvents['onClosed'] = (reason, status) => this.#disconnected(peer, { reason, status })
    const peer: Peer = new Peer(this.#address, { handlers, onFrame, onClosed }, () => this.#hello(peer))
    this.#peer = peer
  }

  #hello(peer: Peer): void {
    peer.hello('session/hello', this.#deps.hello()).then(
      (answer) => this.#welcomed(peer, answer),
      (error) => this.#refused(peer, error),
    )
  }

  #welcomed(peer: Peer, answer: unknown): void {
    const welcome = SessionWelcome.safeParse(answer)
    if (!welcome.success) {
      peer.close(1008, 'a welcome that is none')
      return
    }
    this.#isWelcome = true
    this.#lostAt = null
    this.#resetWaits()
    this.#deps.log('conversation.connected')
    this.#deps.onWelcome(welcome.data, peer)
  }

  #refused(peer: Peer, error: unknown): void {
    if (error instanceof Disconnected) return
    this.#deps.log('conversation.refused', { message: messageOf(error) })
    peer.close(1000, 'refused')
    if (!(error instanceof RpcError)) return
    const isFinal = error.code === RPC_ERRORS.wrongVersion || error.code === RPC_ERRORS.refused
    if (isFinal) this.#deps.onGivenUp(messageOf(error))
  }

  #disconnected(peer: Peer, { reason, status }: { reason: string; status: number | null }): void {
    if (this.#peer !== peer) return
    this.#peer = null
    this.#isWelcome = false
    this.#deps.onLost()
    if (this.#isOver) return
    this.#lostAt ??= performance.now()
    if (isRefusal(status)) this.#refusedAt ??= performance.now()
    this.#deps.log('conversation.disconnected', { reason, ...(status !== null && { status }) })
    if (performance.now() - this.#lostAt > TICKET_MS) this.#deps.onGivenUp('no connection for ten minutes')
    else this.#retry = setTimeout(() => this.#connect(), (isRefusal(status) ? this.#refusals : this.#backoff).next())
  }

  #resetWaits(): void {
    this.#refusedAt = null
    this.#backoff.reset()
    this.#refusals.reset()
  }
}
