// The holdings of an owner's accounts, computed by replaying the events: trades, cash, dividends and splits. Nothing is
// rounded here.
//
// Order of the events of a day: cash, then dividends and splits, then trades; within a kind in the order of booking.

import {
  type Amount,
  commonDivisor,
  type Exact,
  exact,
  formatAmount,
  ONE,
  part,
  plus,
  rounded,
  ZERO,
} from '../lib/decimal.ts'

export type CostMethod = 'fifo' | 'avg'

/** A listing with the currency in which it was traded: the same code in two currencies is two positions. */
export type Holding = { symbol: string; market: string; currency: string }

type Dated = { id: number; date: string }
export type Trade = Dated &
  Holding & { kind: 'trade'; side: 'buy' | 'sell'; quantity: Amount; price: Amount; fee: Amount; tax: Amount }
export type CashMove = Dated & { kind: 'cash'; direction: 'in' | 'out'; amount: Amount; currency: string }
export type Dividend = Dated & Holding & { kind: 'dividend'; perShare: Amount }
/**
 * A dividend in a broker's file: a total amount, independent of the holding. A reversal is below zero. `gross` is
 * before fee and tax.
 */
export type Payout = Dated & Holding & { kind: 'payout'; gross: Amount; fee: Amount; tax: Amount }
/** A split of 2 for 1 has the ratio 2; a consolidation of ten shares into one 0.1. */
export type Split = Dated & Holding & { kind: 'split'; ratio: Amount }
export type LedgerEvent = Trade | CashMove | Dividend | Payout | Split

const RANK = { cash: 0, dividend: 1, payout: 1, split: 1, trade: 2 } as const

export function inOrder(events: readonly LedgerEvent[]): LedgerEvent[] {
  const compare = (a: LedgerEvent, b: LedgerEvent) =>
    a.date < b.date ? -1 : a.date > b.date ? 1 : RANK[a.kind] - RANK[b.kind] || a.id - b.id
  return [...events].sort(compare)
}

/** A sale of more than the holding: the impossible event, and the quantity that was available. */
export class Oversell extends Error {
  override readonly name = 'Oversell'
  readonly trade: Trade
  /** Rounded to eight places for display. */
  readonly held: Amount

  constructor(trade: Trade, held: Amount) {
    const { symbol, date, quantity } = trade
    super(`${formatAmount(quantity)} of ${symbol} are sold on ${date}, but only ${formatAmount(held)} are held then`)
    this.trade = trade
    this.held = held
  }
}

/** Shares bought at one time. Quantities are in the position's own units, costs in 10⁻¹⁶ of the currency. */
type Lot = { bought: bigint; left: bigint; cost: bigint }

/**
 * One holding of an account. `units` of it are a hundred-millionth of a share: a split with a remainder increases this
 * number.
 */
export class Position {
  readonly holding: Holding
  readonly #method: CostMethod
  #units = 1n
  #held = 0n
  #lots: Lot[] = []
  /** The first lot that has shares left. */
  #first = 0
  /** With the average method: the cost of the holding. */
  #average: Exact = ZERO
  /** With FIFO: the cost of the lots that have shares left, as they were bought. */
  #open = 0n
  #spent = 0n
  #earned = 0n
  #fees: Amount = 0n
  #taxes: Amount = 0n
  #dividends: Exact = ZERO

  constructor(holding: Holding, method: CostMethod) {
    this.holding = holding
    this.#method = method
  }

  get quantity(): Exact {
    return { n: this.#held, d: this.#units }
  }

  /** Of the holding, including purchase fees and taxes. */
  get cost(): Exact {
    if (this.#method === 'avg') return this.#average
    const first = this.#lots[this.#first]
    if (first === undefined) return ZERO
    const whole: Exact = { n: this.#open - first.cost, d: ONE }
    return plus(whole, part({ n: first.cost, d: ONE }, first.left, first.bought))
  }

  /** Proceeds of sales after fees and taxes, minus the cost of the sold shares. */
  get realized(): Exact {
    return plus({ n: this.#earned - this.#spent, d: ONE }, this.cost)
  }

  get fees(): Amount {
    return this.#fees
  }

  get taxes(): Amount {
    return this.#taxes
  }

  get dividends(): Exact {
    return this.#dividends
  }

  /** Returns the change of the cash. */
  trade(trade: Trade): Exact {
    const { side, quantity, price, fee, tax } = trade
    const charges = (fee + tax) * ONE
    if (side === 'sell' && quantity * this.#units > this.#held) throw new Oversell(trade, rounded(this.quantity))
    this.#fees += fee
    this.#taxes += tax
    if (side === 'buy') {
      const cost = quantity * price + charges
      this.#add(quantity * this.#units, cost)
      return { n: -cost, d: ONE }
    }
    const proceeds = quantity * price - charges
    this.#earned += proceeds
    this.#remove(quantity * this.#units)
    return { n: proceeds, d: ONE }
  }

  split(by: Amount): void {
    const shared = commonDivisor(by, ONE)
    const [more, finer] = [by / shared, ONE / shared]
    this.#held *= more
    this.#units *= finer
    for (const lot of this.#lots.slice(this.#first)) {
      lot.bought *= more
      lot.left *= more
    }
  }

  /** Returns the change of the cash. */
  dividend(perShare: Amount): Exact {
    const paid: Exact = { n: this.#held * perShare, d: this.#units * ONE }
    this.#dividends = plus(this.#dividends, paid)
    return paid
  }

  /** The same for a total amount. */
  payout({ gross, fee, tax }: Payout): Exact {
    this.#dividends = plus(this.#dividends, exact(gross))
    this.#fees += fee
    this.#taxes += tax
    return exact(gross - fee - tax)
  }

  #add(shares: bigint, cost: bigint): void {
    this.#held += shares
    this.#spent += cost
    if (this.#method === 'avg') this.#average = plus(this.#average, { n: cost, d: ONE })
    else {
      this.#lots.push({ bought: shares, left: shares, cost })
      this.#open += cost
    }
  }

  #remove(shares: bigint): void {
    const before = this.#held
    this.#held -= shares
    if (this.#method === 'avg') {
      this.#average = this.#held === 0n ? ZERO : part(this.#average, this.#held, before)
      return
    }
    let rest = shares
    for (let lot = this.#lots[this.#first]; lot !== undefined && rest > 0n; lot = this.#lots[this.#first]) {
      const taken = rest < lot.left ? rest : lot.left
      lot.left -= taken
      rest -= taken
      if (lot.left > 0n) return
      this.#open -= lot.cost
      this.#first += 1
    }
  }
}

/** One account up to the last applied event. */
export class Ledger {
  readonly cash = new Map<string, Exact>()
  readonly positions = new Map<string, Position>()
  readonly #method: CostMethod

  constructor(method: CostMethod) {
    this.#method = method
  }

  /** Throws `Oversell`; the ledger must not be used after that. */
  apply(event: LedgerEvent): void {
    if (event.kind === 'cash') {
      this.#pay(event.currency, exact(event.direction === 'in' ? event.amount : -event.amount))
      return
    }
    const position = this.#position(event)
    if (event.kind === 'trade') this.#pay(event.currency, position.trade(event))
    else if (event.kind === 'dividend') this.#pay(event.currency, position.dividend(event.perShare))
    else if (event.kind === 'payout') this.#pay(event.currency, position.payout(event))
    else position.split(event.ratio)
  }

  #pay(currency: string, amount: Exact): void {
    this.cash.set(currency, plus(this.cash.get(currency) ?? ZERO, amount))
  }

  #position({ symbol, market, currency }: Holding): Position {
    const key = keyOf({ symbol, market, currency })
    let position = this.positions.get(key)
    if (position === undefined) {
      position = new Position({ symbol, market, currency }, this.#method)
      this.positions.set(key, position)
    }
    return position
  }
}

export const keyOf = ({ symbol, market, currency }: Holding): string => `${market}:${symbol}:${currency}`

/** Throws `Oversell` when the events are impossible. */
export function replay(events: readonly LedgerEvent[], method: CostMethod, upTo = '9999-12-31'): Ledger {
  const ledger = new Ledger(method)
  for (const event of inOrder(events)) {
    if (event.date > upTo) break
    ledger.apply(event)
  }
  return ledger
}

/** The value of a quantity at a price, or of an amount at a rate. */
export const valueAt = (quantity: Exact, price: Amount): Exact => ({ n: quantity.n * price, d: quantity.d * ONE })
