// Two hundred turns that spend at the same time from one budget, over disks that outlive them, with deaths of the turns and of
// the owner's object at instants that chance picks. No time passes but what a test lets pass.

import { onTestFinished } from 'vitest'
import { CallBudget } from '../../durable-objects/conversation/turn/call-budget.ts'
import { Outbox } from '../../durable-objects/outbox.ts'
import { BudgetBook, BudgetDesk } from '../../durable-objects/owner/budget-book.ts'
import { MIGRATIONS as OWNER } from '../../durable-objects/owner/schema.ts'
import { setLogLevel } from '../../src/lib/log.ts'
import type { Allowances } from '../../src/limits/budget.ts'
import type { CallCost, ModelFacts } from '../../src/llm/ask.ts'
import { type LanguageModel, ModelError, type ModelReply, type Prompt } from '../../src/llm/model.ts'
import { paidModel } from '../../src/llm/purse.ts'
import { Disk, type Grip } from './disk.ts'
import { Random } from './random.ts'

setLogLevel('silent')

export const NOW = Date.parse('2026-01-31T23:00:00Z')
const NONE = { nanoUsd: null, tokens: null }

export const dayOf = (nanoUsd: number | null, tokens: number | null): Allowances => ({
  day: { nanoUsd, tokens },
  month: NONE,
})

export function diskOf(schema?: readonly string[]): Disk {
  const disk = new Disk(schema)
  onTestFinished(() => disk.close())
  return disk
}

export class Hold implements Grip {
  isDead = false
  beforeCommit = () => (this.isDead ? ('doomed' as const) : ('commit' as const))
  afterCommit(): void {}
  lost(): void {}
}

const FACTS: ModelFacts = {
  contextWindow: null,
  maxOutputTokens: 100,
  callsTools: true,
  seesImages: false,
  reasons: false,
  takesTemperature: true,
  prices: { input: 1, output: 10, cacheRead: 1, cacheWrite: 1 },
}
const PROMPT: Prompt = {
  system: 'You are simulated.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Say something.' }] }],
  tools: [],
}
const TURNS = 200
export const ANSWERS = 3
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An owner with a budget for about ninety answers, where two hundred turns want three each. */
class BudgetWorld {
  readonly random: Random
  /** What the vendor charged, told or not. */
  charged = 0
  died = 0
  readonly limit = 48_000_000
  readonly #disk = diskOf(OWNER)
  #deathsLeft: number
  #grip = new Hold()
  #end = Promise.withResolvers<never>()
  #desk: BudgetDesk

  constructor(seed: number, deaths: number) {
    this.random = new Random(seed)
    this.#deathsLeft = deaths
    this.#desk = this.#opened()
  }

  get standing() {
    return new BudgetBook(this.#disk.storage(new Hold())).standing(NOW).day
  }

  /** Whether whoever asks dies now. */
  dies(chance = 0.03): boolean {
    if (this.#deathsLeft === 0 || !this.random.chance(chance)) return false
    this.#deathsLeft -= 1
    this.died += 1
    return true
  }

  /** A call of the owner's object, which may die while it comes, works, or answers; with it all that wait there. */
  async call<T>(work: (desk: BudgetDesk) => T | Promise<T>): Promise<T> {
    for (let i = this.random.below(3); i >= 0; i--) await soon()
    this.#mayDie()
    const end = this.#end.promise
    const result = await Promise.race([work(this.#desk), end])
    this.#mayDie()
    return Promise.race([soon().then(() => result), end])
  }

  #mayDie(): void {
    // All that is under way dies with it, so it dies less often.
    if (!this.dies(0.002)) return
    this.#grip.isDead = true
    this.#end.reject(new Error('the connection was lost'))
    this.#grip = new Hold()
    this.#end = Promise.withResolvers()
    this.#end.promise.catch(() => {})
    this.#desk = this.#opened()
  }

  #opened(): BudgetDesk {
    return new BudgetDesk(new BudgetBook(this.#disk.storage(this.#grip)), () => NOW)
  }
}

/** The turn of one conversation, which lives again as often as it dies. */
class Turn {
  readonly #world: BudgetWorld
  readonly #name: string
  readonly #disk = diskOf()
  answers = 0
  refused: ModelError['kind'] | null = null

  constructor(world: BudgetWorld, name: string) {
    this.#world = world
    this.#name = name
  }

  async play(): Promise<void> {
    for (let how = await this.#live(); how === 'died'; how = await this.#live());
  }

  #live(): Promise<'died' | 'ended'> {
    const grip = new Hold()
    const { sql } = this.#disk.storage(grip)
    const death = Promise.withResolvers<'died'>()
    const mayDie = async (): Promise<void> => {
      await soon()
      if (!grip.isDead && !this.#world.dies()) return
      grip.isDead = true
      death.resolve('died')
      throw new Error('this isolate is gone')
    }
    const outbox = new Outbox(sql, { clock: () => NOW })
    const budget = this.#budget(sql, { outbox, mayDie })
    const ended = this.#speak(budget, { outbox, mayDie })
    return Promise.race([death.promise, ended])
  }

  #budget(sql: SqlStorage, { outbox, mayDie }: Living): CallBudget {
    const budget = new CallBudget({
      sql,
      prefix: this.#name,
      ask: async (call, allowances, patienceMs) => {
        await mayDie()
        const answer = await this.#world.call((desk) => desk.reserve(call, allowances, patienceMs))
        await mayDie()
        return answer
      },
      owe: (id, used) => outbox.put('spending', id, JSON.stringify({ id, used })),
    })
    budget.allowances = dayOf(this.#world.limit, null)
    return budget
  }

  async #speak(budget: CallBudget, living: Living): Promise<'ended'> {
    const model = paidModel(this.#vendor(living.mayDie), FACTS, budget.purse)
    await this.#deliver(living)
    while (this.answers < ANSWERS && this.refused !== 'budget_spent') {
      try {
        await model.ask(PROMPT)
        await living.mayDie()
        this.answers += 1
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        this.refused = error.kind
      }
      await this.#deliver(living)
    }
    return 'ended'
  }

  /** As the alarm does, until all is told. */
  async #deliver({ outbox, mayDie }: Living): Promise<void> {
    for (let open = outbox.pending(); open.length > 0; open = outbox.pending()) {
      for (const { kind, key } of open) outbox.hurry(kind, key)
      await outbox.deliver(async ({ payload }) => {
        await mayDie()
        const { id, used } = JSON.parse(payload) as { id: string; used: CallCost | null }
        await this.#world.call((desk) => desk.settle(id, used))
        await mayDie()
      })
    }
  }

  #vendor(mayDie: () => Promise<void>): LanguageModel {
    const world = this.#world
    const ask = async (): Promise<ModelReply> => {
      await mayDie()
      const usage = { promptTokens: 10 + world.random.below(40), completionTokens: world.random.below(101) }
      const nano = usage.promptTokens * 1_000 + usage.completionTokens * 10_000
      // From here on the vendor charges it, whoever hears of it.
      world.charged += nano
      await mayDie()
      const all = { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0 }
      return { text: 'x', calls: [], usage: all, cost: nano / 1e9, responseId: '', finish: 'stop', latencyMs: 1 }
    }
    return { id: 'simulated/model', contextWindow: null, seesImages: false, ask }
  }
}

type Living = { outbox: Outbox; mayDie: () => Promise<void> }

/** What one call sets aside: twice the nine tokens of the prompt and what stands around its messages, and the longest answer. */
export const MOST_OF_ONE = (2 * 9 + 16 * 2) * 1_000 + 100 * 10_000

export async function played(seed: number, deaths: number): Promise<{ world: BudgetWorld; turns: Turn[] }> {
  const world = new BudgetWorld(seed, deaths)
  const turns = Array.from({ length: TURNS }, (_, n) => new Turn(world, `turn-${n}`))
  await Promise.all(turns.map((turn) => turn.play()))
  return { world, turns }
}
