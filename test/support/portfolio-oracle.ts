// Computes the same accounts with reduced fractions and a plain list of lots: slow, and written
// independently of the ledger's code, only from docs/portfolio.md.

export type Frac = { n: bigint; d: bigint }

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b)
}

export function frac(n: bigint, d = 1n): Frac {
  const g = gcd(n, d) || 1n
  return d < 0n ? { n: -n / g, d: -d / g } : { n: n / g, d: d / g }
}

export const add = (a: Frac, b: Frac): Frac => frac(a.n * b.d + b.n * a.d, a.d * b.d)
export const sub = (a: Frac, b: Frac): Frac => add(a, { n: -b.n, d: b.d })
export const mul = (a: Frac, b: Frac): Frac => frac(a.n * b.n, a.d * b.d)
export const div = (a: Frac, b: Frac): Frac => frac(a.n * b.d, a.d * b.n)
const isLess = (a: Frac, b: Frac): boolean => a.n * b.d < b.n * a.d

/** "12.5" as 25/2. */
export function decimal(text: string): Frac {
  const [whole = '0', rest = ''] = text.replace('-', '').split('.')
  const size = frac(BigInt(whole + rest), 10n ** BigInt(rest.length))
  return text.startsWith('-') ? { n: -size.n, d: size.d } : size
}

/** Half to even, to eight places, as a decimal without zeros at the end. */
export function printed(value: Frac): string {
  const scaled = mul(value, frac(10n ** 8n))
  const size = scaled.n < 0n ? -scaled.n : scaled.n
  let whole = size / scaled.d
  const twice = (size % scaled.d) * 2n
  if (twice > scaled.d || (twice === scaled.d && whole % 2n === 1n)) whole += 1n
  const digits = whole.toString().padStart(9, '0')
  const text = `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '')
  return scaled.n < 0n && whole !== 0n ? `-${text}` : text
}

type Lot = { quantity: Frac; unit: Frac }
export type OracleTrade = { side: 'buy' | 'sell'; quantity: string; price: string; fee: string; tax: string }
export type OraclePosition = { quantity: Frac; cost: Frac; realized: Frac; dividends: Frac; cash: Frac }

/** One holding of one account; `method` decides which shares a sale takes. */
export class Oracle {
  readonly #method: 'fifo' | 'avg'
  #lots: Lot[] = []
  realized = frac(0n)
  dividends = frac(0n)
  cash = frac(0n)

  constructor(method: 'fifo' | 'avg') {
    this.#method = method
  }

  get quantity(): Frac {
    return this.#lots.reduce((sum, { quantity }) => add(sum, quantity), frac(0n))
  }

  get cost(): Frac {
    return this.#lots.reduce((sum, { quantity, unit }) => add(sum, mul(quantity, unit)), frac(0n))
  }

  /** False when there is not that much to sell. */
  trade(trade: OracleTrade): boolean {
    const quantity = decimal(trade.quantity)
    const charges = add(decimal(trade.fee), decimal(trade.tax))
    const gross = mul(quantity, decimal(trade.price))
    if (trade.side === 'buy') {
      const paid = add(gross, charges)
      this.cash = sub(this.cash, paid)
      this.#lots.push({ quantity, unit: div(paid, quantity) })
      if (this.#method === 'avg') this.#merge()
      return true
    }
    if (isLess(this.quantity, quantity)) return false
    const proceeds = sub(gross, charges)
    this.cash = add(this.cash, proceeds)
    let [left, cost] = [quantity, frac(0n)]
    while (left.n > 0n) {
      const [lot] = this.#lots
      if (lot === undefined) throw new Error('the oracle lost count')
      const taken = isLess(lot.quantity, left) ? lot.quantity : left
      cost = add(cost, mul(taken, lot.unit))
      left = sub(left, taken)
      lot.quantity = sub(lot.quantity, taken)
      if (lot.quantity.n === 0n) this.#lots.shift()
    }
    this.realized = add(this.realized, sub(proceeds, cost))
    return true
  }

  split(ratio: string): void {
    const by = decimal(ratio)
    this.#lots = this.#lots.map(({ quantity, unit }) => ({ quantity: mul(quantity, by), unit: div(unit, by) }))
  }

  dividend(perShare: string): void {
    const paid = mul(this.quantity, decimal(perShare))
    this.dividends = add(this.dividends, paid)
    this.cash = add(this.cash, paid)
  }

  payout(gross: string, charges: readonly string[]): void {
    this.dividends = add(this.dividends, decimal(gross))
    this.cash = add(this.cash, sub(decimal(gross), charges.map(decimal).reduce(add)))
  }

  #merge(): void {
    const [quantity, cost] = [this.quantity, this.cost]
    this.#lots = [{ quantity, unit: div(cost, quantity) }]
  }
}
