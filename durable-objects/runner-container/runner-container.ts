// The container of one conversation that needs a runner: started when it is needed, and stopped when it was not needed
// for a while. Only in the environment `containers` of wrangler.toml: a plain deployment has none of this.

import { Container } from '@cloudflare/containers'
import { owner } from '../../src/bindings.ts'
import { findKey, insertKey, makeKey } from '../../src/db/keys.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import { log } from '../../src/lib/log.ts'
import { ContainerKey, type ContainerRecord, type Need } from './container-key.ts'

const ACTOR = 'service'
const RECORD = 'record'

export class RunnerContainer extends Container<Env> {
  /** After this time without a command it gets SIGTERM; running commands are finished first. */
  override sleepAfter = '15m'
  override enableInternet = true
  readonly #key: ContainerKey
  /** One start at a time: commands of one conversation may arrive together. */
  #starting: Promise<void> | null = null

  constructor(ctx: ConstructorParameters<typeof Container<Env>>[0], env: Env) {
    super(ctx, env)
    const { kv } = ctx.storage
    const keys = {
      make: makeKey,
      insert: (key: Parameters<typeof insertKey>[1]) => insertKey(env.DB, key, ACTOR),
      isStored: async (id: string) => (await findKey(env.DB, id)) !== null,
      revoke: async (whose: string, id: string) => {
        await owner(env, whose).revokeKey(id, { actor: ACTOR, at: isoMicros(Date.now()) })
      },
    }
    const store = {
      get: () => kv.get<ContainerRecord>(RECORD) ?? null,
      set: (record: ContainerRecord | null) => {
        if (record === null) kv.delete(RECORD)
        else kv.put(RECORD, record)
      },
    }
    this.#key = new ContainerKey(keys, store)
  }

  /** The conversation has a command: starts the container, or keeps it awake for a while. */
  async need(need: Need, serviceUrl: string): Promise<void> {
    this.renewActivityTimeout()
    if (this.ctx.container?.running === true) return
    this.#starting ??= this.#begin(need, serviceUrl).finally(() => {
      this.#starting = null
    })
    await this.#starting
  }

  override async onStop(): Promise<void> {
    log.info('container.stopped')
    await this.#key.end()
  }

  override onError(error: unknown): void {
    log.error('container.failed', { message: error instanceof Error ? error.message : String(error) })
  }

  async #begin(need: Need, serviceUrl: string): Promise<void> {
    log.info('container.starting', { conversation: need.id })
    await this.#key.startWith(need, { serviceUrl, start: (envVars) => this.start({ envVars }) })
  }
}
