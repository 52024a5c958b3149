// The service's side of a schedule: one object of a conversation and the pool of its owner, over what each has stored. They die and
// come back, alone or together.

import { MIGRATIONS as CONVERSATION_MIGRATIONS } from '../../../durable-objects/conversation/schema.ts'
import { MIGRATIONS } from '../../../durable-objects/owner/schema.ts'
import { Disk } from '../disk.ts'
import type { Random } from '../random.ts'
import { atTurnEnd, type Network, turn } from './network.ts'
import { ConversationLife, PoolLife, STEPS_TABLE, type Step, TOLD_TABLE } from './object.ts'

type Deps = {
  network: Network
  random: Random
  /** Whether the object dies of what it writes now. */
  isDeadly(): boolean
  fault(text: string): void
  /** The step of this key has an outcome that is stored. */
  settled(key: string): void
}

export class Service {
  readonly disk = new Disk([...CONVERSATION_MIGRATIONS, STEPS_TABLE, TOLD_TABLE], atTurnEnd)
  readonly #poolDisk = new Disk(MIGRATIONS, atTurnEnd)
  readonly #deps: Deps
  pool: PoolLife | null = null
  object: ConversationLife | null = null
  isOpen = true

  constructor(deps: Deps) {
    this.#deps = deps
  }

  start(): void {
    this.isOpen = true
    this.pool = new PoolLife(this.#poolDisk)
    this.#reviveObject()
    this.#deps.network.entry = async (path, bearer) => {
      if (path === '/api/runners/socket') return this.pool?.accept() ?? 503
      return (await this.object?.accept(bearer)) ?? 503
    }
  }

  restart(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.pool?.die()
    this.pool = null
    this.object?.die()
    this.#deps.network.cutOff()
    setTimeout(() => this.start(), this.#deps.random.below(1_500))
  }

  steps(): Step[] {
    return this.disk.read<Step>('SELECT * FROM steps ORDER BY rowid')
  }

  /** Of calls that have ended; that of one whose machine may still tell its outcome stays. */
  get isOutputLeft(): boolean {
    const [late] = this.disk.read<{ value: string }>("SELECT value FROM meta WHERE name = 'late_outcomes'")
    const keys = this.disk.read<{ key: string }>('SELECT key FROM runner_output')
    return keys.some(({ key }) => late?.value.includes(`"key":"${key}"`) !== true)
  }

  /** Of a step that was given up: how often its outcome was told afterwards. */
  toldLate(key: string): string[] {
    const told = this.disk.read<{ text: string }>('SELECT text FROM told')
    return told.map(({ text }) => text).filter((text) => text.includes('given up') && text.includes(`${key}\\`))
  }

  async end(): Promise<void> {
    this.pool?.die()
    this.object?.die()
    // What they wrote last is committed, or not, in the next turns.
    for (let turns = 0; turns < 4; turns++) await turn()
    this.disk.close()
    this.#poolDisk.close()
  }

  #reviveObject(): void {
    if (this.object !== null || !this.isOpen) return
    const { random, isDeadly, fault, settled } = this.#deps
    const object: ConversationLife = new ConversationLife({
      ...{ disk: this.disk, pool: () => this.pool, isDeadly, fault },
      died: () => {
        if (this.object === object) this.object = null
        setTimeout(() => this.#reviveObject(), random.below(500))
      },
      settled: ({ key }) => settled(key),
    })
    this.object = object
    object.work()
    // What was stored before the death that kept it from being told.
    for (const { key, state } of this.steps()) if (state === 'done') settled(key)
  }
}
