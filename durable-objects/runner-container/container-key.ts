// The key of a container's runner: a new one for each start, with the scope `runner`, valid while the container may
// run. It is in the container's environment, so it is revoked with the container.

import type { ApiKey } from '../../src/db/keys.ts'
import { isoMicros } from '../../src/lib/clock.ts'

/** A conversation that needs its container. */
export type Need = { owner: string; id: string }

/** The stored state; null before the first start. */
export type ContainerRecord = { need: Need; keyId: string }

export type KeyBook = {
  make(): Promise<{ id: string; text: string; secretHash: string }>
  insert(key: ApiKey): Promise<void>
  isStored(id: string): Promise<boolean>
  revoke(owner: string, id: string): Promise<void>
}
export type Store = { get(): ContainerRecord | null; set(record: ContainerRecord | null): void }

type Start = { serviceUrl: string; start(environment: Record<string, string>): Promise<void> }

/** A container is restarted after this time, so that no key is valid for ever. */
const KEY_MS = 24 * 3600_000

export class ContainerKey {
  readonly #keys: KeyBook
  readonly #store: Store

  constructor(keys: KeyBook, store: Store) {
    this.#keys = keys
    this.#store = store
  }

  /**
   * Starts a container with a key of its own. If the start fails, key and record are removed, because nothing would
   * report the end of that container.
   */
  async startWith(need: Need, { serviceUrl, start }: Start): Promise<void> {
    try {
      await start(await this.#environment(need, serviceUrl))
    } catch (error) {
      await this.end()
      throw error
    }
  }

  /** The key of the previous container is revoked. */
  async #environment(need: Need, serviceUrl: string): Promise<Record<string, string>> {
    await this.end()
    const { id, text, secretHash } = await this.#keys.make()
    // Stored first: a key that is noted but was never created is harmless.
    this.#store.set({ need, keyId: id })
    const now = Date.now()
    await this.#keys.insert({
      id,
      owner: need.owner,
      name: `container of ${need.id}`.slice(0, 100),
      scopes: ['runner'],
      secretHash,
      createdAt: isoMicros(now),
      expiresAt: isoMicros(now + KEY_MS),
      revokedAt: null,
      endedSessions: [],
      isLeaving: false,
    })
    return {
      BELLWETHER_RUNNER_URL: serviceUrl,
      BELLWETHER_RUNNER_KEY: text,
      BELLWETHER_RUNNER_NAME: `container-${need.id}`.slice(0, 100),
      BELLWETHER_RUNNER_LABELS: 'container',
      BELLWETHER_RUNNER_CAPACITY: '1',
      // The runner ends when its conversation is deleted, and its key with it.
      BELLWETHER_RUNNER_ONCE: '1',
    }
  }

  /** The container is gone, or will be: revokes its key. */
  async end(): Promise<void> {
    const record = this.#store.get()
    if (record === null) return
    // If the key was deleted with its owner, it needs no revocation: a call to the owner's object would create that
    // again.
    if (await this.#keys.isStored(record.keyId)) await this.#keys.revoke(record.need.owner, record.keyId)
    this.#store.set(null)
  }
}
