// Closes everything that is open with revoked keys, in all objects. If a call is lost, the alarm completes it.

import { conversationOf, taskQueue } from '../../src/bindings.ts'
import { revokeKey } from '../../src/db/keys.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { type HeldSockets, type Revocation, TASK_QUEUE, type Untold } from './held-sockets.ts'

/** How many objects are called at the same time. */
const TELL_AT_ONCE = 50
/** How long a revocation waits until all objects have been told; the others are told later, by the alarm. */
const TELL_WAIT_MS = 3_000

export class Revocations {
  readonly #env: () => Env
  readonly #sockets: HeldSockets
  #telling: Promise<void> | null = null

  constructor(env: () => Env, sockets: HeldSockets) {
    this.#env = env
    this.#sockets = sockets
  }

  /**
   * Revokes the key in the database and closes everything that is open with it. True when the key was valid until now.
   */
  async revoke(key: string, revocation: Revocation): Promise<boolean> {
    const wasInForce = await this.#write(key, revocation)
    await Promise.race([this.#tell(), scheduler.wait(TELL_WAIT_MS)])
    return wasInForce
  }

  /** Continues with incomplete revocations; true when all are complete. */
  async finish(): Promise<boolean> {
    await this.#tell()
    try {
      for (const { key, revocation } of this.#sockets.unwritten()) await this.#write(key, revocation)
    } catch (error) {
      log.warn('owner.revocation_not_written', errorFields(error))
    }
    return this.#sockets.untold(1).length === 0 && this.#sockets.unwritten().length === 0
  }

  async #write(key: string, revocation: Revocation): Promise<boolean> {
    const wasInForce = await revokeKey(this.#env().DB, key, revocation)
    this.#sockets.written(key)
    return wasInForce
  }

  /** Tells all objects that do not know yet; an object that cannot be reached stays in the table. */
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
      if (holder === TASK_QUEUE) await taskQueue(this.#env()).endKey(key)
      else await conversationOf(this.#env(), holder).endKey(key)
    } catch (error) {
      log.warn('owner.holder_not_told', { holder, ...errorFields(error) })
      return false
    }
    this.#sockets.told(one)
    return true
  }
}
