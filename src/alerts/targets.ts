// Data of an owner that several of the owner's rules use: lists, holdings, levels. Read once in a round.

import { type AdviceRow, activeLevels, advicesAfter } from '../db/alert-triggers.ts'
import { accountEvents, listAccounts } from '../db/portfolio.ts'
import { listWatchlists, type Watchlist } from '../db/watchlists.ts'
import { parseCode } from '../market/instruments.ts'
import { replay } from '../portfolio/ledger.ts'
import type { Level } from './evaluate.ts'
import type { Rule } from './rule.ts'
import { bringUpToDate } from './signals.ts'

/** The accounts of a target: null for all visible ones, or one. */
export const accountOf = (target: string): number | null => (target === 'all' ? null : Number(target))

export class OwnerData {
  readonly #db: D1Database
  readonly #owner: string
  readonly #now: number
  #lists: Promise<Watchlist[]> | null = null
  #signals: Promise<void> | null = null
  #levels: Promise<Map<string, Level[]>> | null = null
  readonly #holdings = new Map<string, Promise<string[]>>()

  constructor(db: D1Database, owner: string, now: number) {
    this.#db = db
    this.#owner = owner
    this.#now = now
  }

  /** The keys of the listings that the rule is about. */
  async targetsOf({ scope, row: { target } }: Pick<Rule, 'scope' | 'row'>): Promise<string[]> {
    if (scope === 'single_symbol') return [target]
    if (scope === 'portfolio_holdings') return this.#holdingsOf(target)
    if (scope !== 'watchlist') return []
    this.#lists ??= listWatchlists(this.#db, this.#owner)
    const lists = await this.#lists
    const found = lists.find(({ id, isDefault }) => (target === 'default' ? isDefault : id === target))
    return found?.stocks.map(({ key }) => key) ?? []
  }

  async levels(): Promise<Map<string, Level[]>> {
    await this.#broughtUpToDate()
    this.#levels ??= activeLevels(this.#db, this.#owner).then(
      (rows) => new Map(rows.map((row) => [row.key, levelsOf(row)])),
    )
    return this.#levels
  }

  async advicesAfter(id: number): Promise<AdviceRow[]> {
    await this.#broughtUpToDate()
    return advicesAfter(this.#db, this.#owner, id)
  }

  #broughtUpToDate(): Promise<void> {
    this.#signals ??= bringUpToDate(this.#db, this.#owner, this.#now)
    return this.#signals
  }

  #holdingsOf(target: string): Promise<string[]> {
    const known = this.#holdings.get(target) ?? this.#heldBy(target)
    this.#holdings.set(target, known)
    return known
  }

  async #heldBy(target: string): Promise<string[]> {
    const account = accountOf(target)
    const [accounts, events] = [
      await listAccounts(this.#db, this.#owner),
      await accountEvents(this.#db, this.#owner, account),
    ]
    const keys = new Set<string>()
    for (const { id, isActive } of accounts) {
      if (account === null ? !isActive : id !== account) continue
      const own = events.filter((event) => event.account === id)
      for (const { quantity, holding } of replay(own, 'fifo').positions.values()) {
        const parsed = quantity.n > 0n ? parseCode(holding.symbol) : null
        if (parsed?.ok) keys.add(parsed.instrument.key)
      }
    }
    return [...keys]
  }
}

type LevelRow = Awaited<ReturnType<typeof activeLevels>>[number]

function levelsOf({ entryLow, entryHigh, stopLoss, targetPrice }: LevelRow): Level[] {
  const named: [name: string, price: number | null][] = [
    ['entry', entryHigh ?? entryLow],
    ['entry_low', entryHigh === entryLow || entryHigh === null ? null : entryLow],
    ['stop_loss', stopLoss],
    ['target_price', targetPrice],
  ]
  return named.flatMap(([name, price]) => (price === null || price <= 0 ? [] : [{ name, price }]))
}
