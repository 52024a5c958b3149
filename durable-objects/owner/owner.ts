// The books of one owner, and their one writer: which objects hold sockets of which key, which conversations there are
// and how much they keep, which of them know its secrets, and which large bodies are on their way in. Whoever wants something asks here first; what was
// asked for and never came is noticed and given back.

import { DurableObject } from 'cloudflare:workers'
import { conversation, conversationOf, taskQueue } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { conversationIds } from '../../src/db/conversations.ts'
import { revokeKey } from '../../src/db/keys.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { waitAtMost } from '../../src/lib/wait-at-most.ts'
import { type Berth, Berths } from '../../src/limits/berths.ts'
import { BODY_TIMES } from '../../src/limits/body-room.ts'
import { Alarms } from '../alarms.ts'
import { migrate } from '../sql.ts'
import { ConversationBooks, type Reservation } from './conversation-books.ts'
import {
  HeldSockets,
  type Revocation,
  type SocketAnswer,
  type SocketClaim,
  TASK_QUEUE,
  type Untold,
} from './held-sockets.ts'
import { MIGRATIONS } from './schema.ts'
import { HOLD_MS, SecretHolders, type UntoldHolder } from './secret-holders.ts'

/** How many objects are told at the same time. */
const TELL_AT_ONCE = 50
/** How long whoever revokes a key, or changes a secret, waits for all to be told; the rest goes on without them. */
const TELL_WAIT_MS = 3_000
const TELL_AGAIN_MS = 1_000
/** How many objects are asked what they really hold before a socket is refused, and how often at most. */
const RECOUNT_HOLDERS = 100
const RECOUNT_EVERY_MS = 10_000
/** A conversation reports within seconds of being made. */
const CONFIRMED_AFTER_MS = 60_000
const SETTLE_AFTER_MS = 600_000
const SETTLE_AT_ONCE = 50
/** What the owner has of each thing that is counted here. */
export type OwnerUsage = { sockets: number; conversations: number; storedBytes: number; bodyBytes: number }

export class Owner extends DurableObject<Env> {
  readonly #sockets: HeldSockets
  readonly #conversations: ConversationBooks
  readonly #bodies: Berths
  readonly #secrets: SecretHolders
  readonly #alarms: Alarms<'tell' | 'settle' | 'secrets'>
  #recountedAt = 0
  #telling: Promise<void> | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    migrate(ctx.storage, MIGRATIONS)
    this.#sockets = new HeldSockets(ctx.storage.sql)
    this.#conversations = new ConversationBooks(ctx.storage)
    this.#bodies = new Berths({ capacity: config(env).quotas.bytesInFlight, ...BODY_TIMES })
    this.#secrets = new SecretHolders(ctx.storage.sql)
    this.#alarms = new Alarms(ctx.storage)
  }

  /** For objects that hold sockets: whether they may, said before one more is opened and now and then while they do. */
  async holdSockets(claim: SocketClaim): Promise<SocketAnswer> {
    const { sockets: allowed } = config(this.env).quotas
    const answer = this.#sockets.hold(claim, allowed)
    if (answer.ok || answer.reason === 'ended') return answer
    return (await this.#recount()) ? this.#sockets.hold(claim, allowed) : answer
  }

  /** Revokes the key: in the database and wherever something is open on it. True when it was in force until now. */
  async revokeKey(key: string, revocation: Revocation): Promise<boolean> {
    this.#sockets.end(key, revocation, Date.now())
    // Should this call be lost from here on, the alarm ends what it began.
    this.#alarms.atLatest('tell', Date.now() + TELL_AGAIN_MS)
    const wasInForce = await this.#write(key, revocation)
    await Promise.race([this.#tell(), scheduler.wait(TELL_WAIT_MS)])
    return wasInForce
  }

  /** Room for one more conversation, before it is made; the same id twice is one. */
  async reserveConversation(owner: string, id: string): Promise<Reservation> {
    await this.#takeOver(owner)
    const { conversations, storedBytes: bytes } = config(this.env).quotas
    const reserve = () => this.#conversations.reserve(id, { conversations, bytes }, Date.now())
    let reservation = reserve()
    if (!reservation.ok && (await this.#settle()) > 0) reservation = reserve()
    if (reservation.ok && reservation.isFresh) this.#alarms.atLatest('settle', Date.now() + SETTLE_AFTER_MS)
    return reservation
  }

  /** Nothing came of a reservation. */
  releaseConversation(id: string): void {
    this.#conversations.release(id)
  }

  /** For conversations: it is there and keeps so many bytes. The answer tells what all of them may. */
  reportConversation(id: string, bytes: number): { used: number; allowed: number } {
    this.#conversations.report(id, bytes)
    return { used: this.#conversations.totals.bytes, allowed: config(this.env).quotas.storedBytes }
  }

  /** For conversations: it is deleted. */
  forgetConversation(id: string): void {
    this.#conversations.forget(id)
  }

  /** Resolves when there is room for a large body, with false when there was none for too long. */
  takeBody(body: Berth): Promise<boolean> {
    return this.#bodies.take(body)
  }

  leaveBody(id: string): void {
    this.#bodies.leave(id)
  }

  /** For conversations, before they read the owner's secrets: for so many milliseconds they are told of changes. */
  holdSecrets(holder: string): number {
    this.#secrets.hold(holder, Date.now())
    return HOLD_MS
  }

  /** Something that is masked was changed in the database. Resolves when the conversations that knew it know that. */
  async secretsChanged(): Promise<void> {
    this.#secrets.changed(Date.now())
    await waitAtMost(TELL_WAIT_MS, this.#tellOfSecrets())
  }

  async usage(owner: string): Promise<OwnerUsage> {
    await this.#takeOver(owner)
    const { conversations, bytes: storedBytes } = this.#conversations.totals
    return { sockets: this.#sockets.used, conversations, storedBytes, bodyBytes: this.#bodies.used }
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.#alarms.fire(info?.scheduledTime ?? Date.now(), async (name) => {
      if (name === 'tell') await this.#finishRevocations()
      else if (name === 'secrets') await this.#tellOfSecrets()
      else if ((await this.#settle()) === SETTLE_AT_ONCE) this.#alarms.at('settle', Date.now())
    })
  }

  /** Conversations that were made before there were these books. Where the index cannot be read, the next call does it. */
  async #takeOver(owner: string): Promise<void> {
    if (this.#conversations.isTakenOver) return
    try {
      const ids = await conversationIds(this.env.DB, owner)
      if (!this.#conversations.isTakenOver) this.#conversations.takeOver(owner, ids, Date.now())
    } catch (error) {
      log.warn('owner.conversations_not_read', { owner, ...errorFields(error) })
    }
  }

  /** Looks for the conversations of reservations that nobody confirmed; tells how many are not there. */
  async #settle(): Promise<number> {
    const { owner } = this.#conversations
    if (owner === null) return 0
    const look = async (id: string): Promise<boolean> => {
      try {
        const isThere = (await conversation(this.env, owner, id).summary()) !== null
        if (isThere) this.#conversations.report(id, 0)
        else this.#conversations.release(id)
        return !isThere
      } catch (error) {
        log.warn('owner.reservation_not_settled', { owner, id, ...errorFields(error) })
        return false
      }
    }
    const ids = this.#conversations.unconfirmed(Date.now() - CONFIRMED_AFTER_MS, SETTLE_AT_ONCE)
    const gone = await Promise.all(ids.map(look))
    return gone.filter(Boolean).length
  }

  async #finishRevocations(): Promise<void> {
    await this.#tell()
    try {
      for (const { key, revocation } of this.#sockets.unwritten()) await this.#write(key, revocation)
    } catch (error) {
      log.warn('owner.revocation_not_written', errorFields(error))
    }
    const isDone = this.#sockets.untold(1).length === 0 && this.#sockets.unwritten().length === 0
    if (!isDone) this.#alarms.at('tell', Date.now() + TELL_AGAIN_MS)
  }

  async #write(key: string, revocation: Revocation): Promise<boolean> {
    const wasInForce = await revokeKey(this.env.DB, key, revocation)
    this.#sockets.written(key)
    return wasInForce
  }

  /** Tells all who do not know yet; whoever cannot be told stays written down. */
  #tell(): Promise<void> {
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = null
    })
    return this.#telling
  }

  async #tellAll(): Promise<void> {
    for (;;) {
      const batch = this.#sockets.untold(TELL_AT_ONCE)
      const told = await Promise.all(batch.map((one) => this.#tellOne(one)))
      if (!told.includes(true)) return
    }
  }

  async #tellOne(one: Untold): Promise<boolean> {
    const { key, holder } = one
    try {
      if (holder === TASK_QUEUE) await taskQueue(this.env).endKey(key)
      else await conversationOf(this.env, holder).endKey(key)
    } catch (error) {
      log.warn('owner.holder_not_told', { holder, ...errorFields(error) })
      return false
    }
    this.#sockets.told(one)
    return true
  }

  /** Should this call be lost, or somebody not be reached, the alarm goes on. */
  async #tellOfSecrets(): Promise<void> {
    const untold = this.#secrets.untold(Date.now())
    if (untold.length === 0) return
    this.#alarms.at('secrets', Date.now() + TELL_AGAIN_MS)
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

  /** Asks those who hold most what they have; false when that was done just now. An object that died tells nobody. */
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
