// The records of one owner, and their only writer: which objects hold sockets of which key, which conversations exist
// and how many bytes each stores, which conversations know the owner's secrets, which large request bodies are being
// received, what model calls used, and which runners there are. A caller reserves here first; an unused reservation is
// found and released.

import { conversation, conversationOf } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { conversationIds } from '../../src/db/conversations.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { waitAtMost } from '../../src/lib/wait-at-most.ts'
import { type Berth, Berths, BODY_TIMES } from '../../src/limits/body-room.ts'
import type { Reservation } from './conversation-books.ts'
import { HeldSockets, type Revocation, type SocketAnswer, type SocketClaim } from './held-sockets.ts'
import { MovingOwner } from './moving-owner.ts'
import { Revocations } from './revocations.ts'
import { HOLD_MS, SecretHolders, type UntoldHolder } from './secret-holders.ts'

/** How many objects are called at the same time. */
const TELL_AT_ONCE = 50
/** How long a change of a secret waits until all conversations have been told; the others are told later, by the alarm. */
const TELL_WAIT_MS = 3_000
const TELL_AGAIN_MS = 1_000
/** How many objects are asked for their real number of sockets before one more is refused, and how often at most. */
const RECOUNT_HOLDERS = 100
const RECOUNT_EVERY_MS = 10_000
/** Conversations report within seconds of their creation; after this time a reservation is checked. */
const CONFIRMED_AFTER_MS = 60_000
const SETTLE_AFTER_MS = 600_000
const SETTLE_AT_ONCE = 50

/** How much of each limit that is counted here the owner uses. */
export type OwnerUsage = { sockets: number; conversations: number; storedBytes: number; bodyBytes: number }

export class Owner extends MovingOwner {
  readonly #sockets: HeldSockets
  readonly #revocations: Revocations
  readonly #bodies: Berths
  readonly #secrets: SecretHolders
  #recountedAt = 0

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = this.storage
    this.#sockets = new HeldSockets(sql)
    this.#revocations = new Revocations(() => this.env, this.#sockets)
    const { bytesInFlight: capacity, largeBodyBytesPerSecond: bytesPerSecond } = config(env).quotas
    this.#bodies = new Berths({ capacity, bytesPerSecond, ...BODY_TIMES })
    this.#secrets = new SecretHolders(sql)
  }

  /** For objects that hold sockets: asks for permission, before a socket is opened and at intervals while sockets are open. */
  async holdSockets(claim: SocketClaim): Promise<SocketAnswer> {
    const { sockets: allowed } = config(this.env).quotas
    const answer = this.#sockets.hold(claim, allowed)
    if (answer.ok || answer.reason === 'ended') return answer
    return (await this.#recount()) ? this.#sockets.hold(claim, allowed) : answer
  }

  /** Revokes the key in the database and closes everything that is open with it. True when the key was valid until now. */
  async revokeKey(key: string, revocation: Revocation): Promise<boolean> {
    this.#sockets.end(key, revocation, Date.now())
    // If this call is lost from here on, the alarm completes the revocation.
    this.alarms.atLatest('tell', Date.now() + TELL_AGAIN_MS)
    this.runnerKeys.revoked(key)
    await this.dropBarred()
    return this.#revocations.revoke(key, revocation)
  }

  /** Reserves room for one more conversation, before it is created; a repeated call with the same id reserves once. */
  async reserveConversation(owner: string, id: string): Promise<Reservation> {
    await this.#takeOver(owner)
    const { conversations, storedBytes: bytes } = config(this.env).quotas
    const reserve = () => this.books.reserve(id, { conversations, bytes }, Date.now())
    let reservation = reserve()
    if (!reservation.ok && (await this.#settle()) > 0) reservation = reserve()
    if (reservation.ok && reservation.isFresh) this.alarms.atLatest('settle', Date.now() + SETTLE_AFTER_MS)
    return reservation
  }

  /** Releases a reservation that was not used. */
  releaseConversation(id: string): void {
    this.books.release(id)
  }

  /**
   * For conversations: confirms that the conversation exists and how many bytes it stores. Answers with the owner's
   * total and limit.
   */
  reportConversation(id: string, bytes: number): { used: number; allowed: number } {
    this.books.report(id, bytes)
    return { used: this.books.totals.bytes, allowed: config(this.env).quotas.storedBytes }
  }

  /** For conversations: the conversation was deleted. */
  forgetConversation(id: string): void {
    this.books.forget(id)
  }

  /** Resolves with true when there is room for a large body, and with false after too long a wait. */
  takeBody(body: Berth): Promise<boolean> {
    return this.#bodies.take(body)
  }

  leaveBody(id: string, isTakenIn: boolean): void {
    this.#bodies.leave(id, isTakenIn)
  }

  /** For conversations, before they read the owner's secrets: subscribes to changes for this many milliseconds. */
  holdSecrets(holder: string): number {
    this.#secrets.hold(holder, Date.now())
    return HOLD_MS
  }

  /** A secret was changed in the database. Resolves when the conversations that had read it know of the change. */
  async secretsChanged(): Promise<void> {
    this.#secrets.changed(Date.now())
    await waitAtMost(TELL_WAIT_MS, this.#tellOfSecrets())
  }

  async usage(owner: string): Promise<OwnerUsage> {
    await this.#takeOver(owner)
    const { conversations, bytes: storedBytes } = this.books.totals
    return { sockets: this.#sockets.used, conversations, storedBytes, bodyBytes: this.#bodies.used }
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.alarms.fire(info?.scheduledTime ?? Date.now(), async (name) => {
      if (name === 'tell') {
        const isDone = await Promise.all([this.#revocations.finish(), this.dropBarred()])
        if (isDone.includes(false)) this.alarms.at('tell', Date.now() + TELL_AGAIN_MS)
      } else if (name === 'runners') await this.endExpiredRunners()
      else if (name === 'secrets') await this.#tellOfSecrets()
      else if (name === 'erase') await this.goOnErasing()
      else if (name === 'export') await this.goOnExporting()
      else if (name === 'import') await this.goOnImporting()
      else if ((await this.#settle()) === SETTLE_AT_ONCE) this.alarms.at('settle', Date.now())
    })
    await this.endErasure()
  }

  /** Adds conversations that are older than these records. If the index cannot be read, the next call tries again. */
  async #takeOver(owner: string): Promise<void> {
    if (this.books.isTakenOver) return
    try {
      const ids = await conversationIds(this.env.DB, owner)
      if (!this.books.isTakenOver) this.books.takeOver(owner, ids, Date.now())
    } catch (error) {
      log.warn('owner.conversations_not_read', { owner, ...errorFields(error) })
    }
  }

  /** Checks the conversations of unconfirmed reservations; returns how many do not exist. */
  async #settle(): Promise<number> {
    const { owner } = this.books
    if (owner === null) return 0
    const look = async (id: string): Promise<boolean> => {
      try {
        const isThere = (await conversation(this.env, owner, id).summary()) !== null
        if (isThere) this.books.report(id, 0)
        else this.books.release(id)
        return !isThere
      } catch (error) {
        log.warn('owner.reservation_not_settled', { owner, id, ...errorFields(error) })
        return false
      }
    }
    const ids = this.books.unconfirmed(Date.now() - CONFIRMED_AFTER_MS, SETTLE_AT_ONCE)
    const gone = await Promise.all(ids.map(look))
    return gone.filter(Boolean).length
  }

  /** If this call is lost, or an object cannot be reached, the alarm continues. */
  async #tellOfSecrets(): Promise<void> {
    const untold = this.#secrets.untold(Date.now())
    if (untold.length === 0) return
    this.alarms.at('secrets', Date.now() + TELL_AGAIN_MS)
    for (let from = 0; from < untold.length; from += TELL_AT_ONCE) {
      await Promise.all(untold.slice(from, from + TELL_AT_ONCE).map((one) => this.#tellOfSecret(one)))
    }
  }

  async #tellOfSecret(one: UntoldHolder): Promise<void> {
    try {
      await conversationOf(this.env, one.holder).secretsChanged()
      this.#secrets.told(one)
    } catch (error) {
      log.warn('owner.secrets_not_told', { holder: one.holder, ...errorFields(error) })
    }
  }

  /**
   * Asks the objects with the most sockets for their real numbers, because a crashed object reports nothing; false when
   * that was just done.
   */
  async #recount(): Promise<boolean> {
    const now = Date.now()
    if (now - this.#recountedAt < RECOUNT_EVERY_MS) return false
    this.#recountedAt = now
    const ask = async (holder: string) => {
      try {
        this.#sockets.recount(holder, await conversationOf(this.env, holder).heldSockets())
      } catch (error) {
        log.warn('owner.holder_not_counted', { holder, ...errorFields(error) })
      }
    }
    await Promise.all(this.#sockets.holders(RECOUNT_HOLDERS).map(ask))
    return true
  }
}
