// The key of a container's runner: one for each start, of the scope `runner`, in force while the container may run. It stands
// in the container's environment, so it ends with the container.

import type { ApiKey } from '../../src/db/keys.ts'
import { isoMicros } from '../../src/lib/clock.ts'

/** What a conversation says when it needs its container. */
export type Need = { owner: string; id: string }

/** What the object keeps; null before the first start. */
export type ContainerRecord = { need: Need; keyId: string }

export type KeyBook = {
  make(): Promise<{ id: string; text: string; secretHash: string }>
  insert(key: ApiKey): Promise<void>
  isStored(id: string): Promise<boolean>
  revoke(owner: string, id: string): Promise<void>
}
export type Store = { get(): ContainerRecord | null; set(record: ContainerRecord | null): void }

type Start = { serviceUrl: string; start(environment: Record<string, string>): Promise<void> }

/** A container that runs for longer is started anew: no key is in force for ever. */
const KEY_MS = 24 * 3600_000

export class ContainerKey {
  readonly #keys: KeyBook
  readonly #store: Store

  constructor(keys: KeyBook, store: Store) {
    this.#keys = keys
    this.#store = store
  }

  /** Starts a container with a key of its own. One that does not start leaves neither key nor record: nobody would tell of its end. */
  async startWith(need: Need, { serviceUrl, start }: Start): Promise<void> {
    try {
      await start(await this.#environment(need, serviceUrl))
    } catch (error) {
      await this.end()
      throw error
    }
  }

  /** The key of the container before is revoked. */
  async #environment(need: Need, serviceUrl: string): Promise<Record<string, string>> {
    await this.end()
    const { id, text, secretHash } = await this.#keys.make()
    // Noted first: what is noted and was never stored needs no end.
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
      // It ends when its conversation is deleted, and its key with it.
      BELLWETHER_RUNNER_ONCE: '1',
    }
  }

  /** The container is gone, or will be: its key opens nothing any more. */
  async end(): Promise<void> {
    const record = this.#store.get()
    if (record === null) return
    // A key that went with its owner needs no end: telling the owner's object would make it anew.
    if (await this.#keys.isStored(record.keyId)) await this.#keys.revoke(record.need.owner, record.keyId)
    this.#store.set(null)
  }
}
