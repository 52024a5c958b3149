// The value of accounts at prices and rates of one day. Each part is rounded once in its own currency and once in the
// currency of the total; a total is the sum of its parts as shown, so that adding them gives the same result.

import { type Amount, type Exact, exact, ratio, rounded, times } from '../lib/decimal.ts'
import { type Holding, type Ledger, type Position, valueAt } from './ledger.ts'

/** Of the day's last completed session, or of an earlier one if `isStale`. */
export type Price = { price: Amount; date: string; provider: string; isStale: boolean }
/** An exact fraction without a unit. */
export type Share = { readonly n: bigint; readonly d: bigint }
/** `rate` units of the other currency for one, as shown; `share` is the exact value if eight places are not enough. */
export type Rate = { rate: Amount; share?: Share; date: string | null; source: string }

/** Rounded once. */
export function converted(amount: Amount, { rate, share }: Rate): Amount {
  return share === undefined ? rounded(times(exact(amount), rate)) : rounded({ n: amount * share.n, d: share.d })
}

/** Null for unknown values: no rate is assumed to be one, and no price to be zero. */
export type MarketView = {
  price(holding: Holding): Price | null
  rate(from: string, to: string): Rate | null
}

export type PositionValue = {
  holding: Holding
  quantity: Amount
  /** Of the whole holding, in the position's currency; `averageCost` is per share. */
  cost: Amount
  averageCost: Amount
  price: Price | null
  marketValue: Amount | null
  unrealized: Amount | null
  /** Per cent of the cost; null also when the cost is zero. */
  unrealizedPct: Amount | null
  rate: Rate | null
  marketValueBase: Amount | null
  unrealizedBase: Amount | null
}

const TOTALS = ['cash', 'marketValue', 'equity', 'realized', 'unrealized', 'dividends', 'fees', 'taxes'] as const
/** Null when a rate is missing. Positions without a price are left out of the value and of the unrealised profit. */
export type Totals = Record<(typeof TOTALS)[number], Amount | null>

export type AccountValue = {
  currency: string
  positions: PositionValue[]
  cash: { currency: string; amount: Amount; base: Amount | null }[]
  totals: Totals
  /** "USD/CNY". */
  missingRates: string[]
  unpriced: Holding[]
  /** The oldest day of the used rates; null when none was needed. */
  oldestRate: string | null
}

export function accountValue(ledger: Ledger, currency: string, view: MarketView): AccountValue {
  const rates = new UsedRates(view, currency)
  const held = [...ledger.positions.values()]
  const positions = held
    .filter((position) => position.quantity.n > 0n)
    .map((position) => positionValue(position, { view, rates }))
    .sort((a, b) => compare(a.holding.symbol, b.holding.symbol) || compare(a.holding.currency, b.holding.currency))
  const cash = [...ledger.cash]
    .sort(([a], [b]) => compare(a, b))
    .map(([own, amount]) => {
      const shown = rounded(amount)
      return { currency: own, amount: shown, base: rates.convert(shown, own) }
    })
  const inBase = (of: (position: Position) => Exact) =>
    sum(held.map((position) => rates.convert(rounded(of(position)), position.holding.currency)))
  const priced = positions.filter(({ price }) => price !== null)
  const [moneyTotal, valueTotal] = [sum(cash.map(({ base }) => base)), sum(priced.map((one) => one.marketValueBase))]
  const totals = {
    cash: moneyTotal,
    marketValue: valueTotal,
    equity: sum([moneyTotal, valueTotal]),
    realized: inBase(({ realized }) => realized),
    unrealized: sum(priced.map((one) => one.unrealizedBase)),
    dividends: inBase(({ dividends }) => dividends),
    fees: inBase(({ fees }) => exact(fees)),
    taxes: inBase(({ taxes }) => exact(taxes)),
  }
  const unpriced = positions.flatMap(({ price, holding }) => (price === null ? [holding] : []))
  return { currency, positions, cash, totals, unpriced, ...rates.told() }
}

/** The totals of several accounts in one currency. */
export function totalOf(accounts: readonly AccountValue[], currency: string, view: MarketView) {
  const rates = new UsedRates(view, currency)
  const total = (name: keyof Totals) =>
    sum(
      accounts.map((account) => {
        const amount = account.totals[name]
        return amount === null ? null : rates.convert(amount, account.currency)
      }),
    )
  const totals: Totals = {
    cash: total('cash'),
    marketValue: total('marketValue'),
    equity: null,
    realized: total('realized'),
    unrealized: total('unrealized'),
    dividends: total('dividends'),
    fees: total('fees'),
    taxes: total('taxes'),
  }
  totals.equity = sum([totals.cash, totals.marketValue])
  const own = rates.told()
  const missing = [...own.missingRates, ...accounts.flatMap(({ missingRates }) => missingRates)]
  const days = [own.oldestRate, ...accounts.map(({ oldestRate }) => oldestRate)].flatMap((day) => day ?? [])
  return { totals, missingRates: [...new Set(missing)].sort(), oldestRate: days.sort()[0] ?? null }
}

function positionValue(position: Position, { view, rates }: { view: MarketView; rates: UsedRates }): PositionValue {
  const { holding, quantity } = position
  const cost = rounded(position.cost)
  const price = view.price(holding)
  const marketValue = price === null ? null : rounded(valueAt(quantity, price.price))
  const unrealized = marketValue === null ? null : marketValue - cost
  const inBase = (amount: Amount | null) => (amount === null ? null : rates.convert(amount, holding.currency))
  const share = unrealized === null ? null : ratio(exact(unrealized * 100n), exact(cost))
  return {
    holding,
    quantity: rounded(quantity),
    cost,
    averageCost: ratio(position.cost, quantity) ?? 0n,
    price,
    marketValue,
    unrealized,
    unrealizedPct: share,
    rate: rates.of(holding.currency),
    marketValueBase: inBase(marketValue),
    unrealizedBase: inBase(unrealized),
  }
}

/** Rates into one currency, and which of them were used or missing. */
class UsedRates {
  readonly #view: MarketView
  readonly #to: string
  readonly #asked = new Map<string, Rate | null>()

  constructor(view: MarketView, to: string) {
    this.#view = view
    this.#to = to
  }

  of(from: string): Rate | null {
    if (from === this.#to) return { rate: 100_000_000n, date: null, source: 'same currency' }
    let rate = this.#asked.get(from)
    if (rate === undefined) {
      rate = this.#view.rate(from, this.#to)
      this.#asked.set(from, rate)
    }
    return rate
  }

  /** Zero is zero in any currency. */
  convert(amount: Amount, from: string): Amount | null {
    if (amount === 0n) return 0n
    const rate = this.of(from)
    return rate === null ? null : converted(amount, rate)
  }

  told(): { missingRates: string[]; oldestRate: string | null } {
    const asked = [...this.#asked]
    const missingRates = asked.flatMap(([from, rate]) => (rate === null ? [`${from}/${this.#to}`] : [])).sort()
    const days = asked.flatMap(([, rate]) => rate?.date ?? []).sort()
    return { missingRates, oldestRate: days[0] ?? null }
  }
}

function sum(parts: readonly (Amount | null)[]): Amount | null {
  let total = 0n
  for (const part of parts) {
    if (part === null) return null
    total += part
  }
  return total
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
