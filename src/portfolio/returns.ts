// The performance of an account. A deposit is no gain and a withdrawal no loss: the time-weighted return ignores both,
// the money-weighted one counts how long each unit of money was invested. Rates of return are fractions, not money:
// binary numbers.

/** The value of an account at the end of a day, and the deposits (positive) or withdrawals before that. */
export type DayValue = { date: string; value: number; flow: number }

/**
 * The growth of one unit that was invested all the time, day by day: value / (value of the day before + flow). The
 * chain begins at the first day with a value above zero. It ends when nothing is invested, because a return on nothing
 * does not exist. Source: the true time-weighted return of the Global Investment Performance Standards (2020), linked
 * day by day.
 */
export function growth(days: readonly DayValue[]): { date: string; index: number }[] {
  const begin = days.findIndex(({ value }) => value > 0)
  const chain: { date: string; index: number }[] = []
  let index = 1
  for (const [i, { date, value, flow }] of days.entries()) {
    if (begin < 0 || i < begin) continue
    if (i > begin) {
      const before = (days[i - 1]?.value ?? 0) + flow
      if (before <= 0 || value < 0) break
      index *= value / before
    }
    chain.push({ date, index })
  }
  return chain
}

/** Of the whole chain, as a fraction: 0.1 is ten per cent. Null with fewer than two days. */
export function timeWeighted(days: readonly DayValue[]): number | null {
  const chain = growth(days)
  const last = chain.at(-1)
  return chain.length < 2 || last === undefined ? null : last.index - 1
}

/** The deepest fall from a high, and the fall at the end, as fractions of the high: 0.2 is twenty per cent below it. */
export function drawdown(chain: readonly { index: number }[]): { deepest: number; current: number } | null {
  if (chain.length < 2) return null
  let [high, deepest, current] = [0, 0, 0]
  for (const { index } of chain) {
    high = Math.max(high, index)
    current = high === 0 ? 0 : 1 - index / high
    deepest = Math.max(deepest, current)
  }
  return { deepest, current }
}

const DAYS_A_YEAR = 365

/**
 * The yearly rate at which the present value of all flows and of the final value is zero (Excel's XIRR, 365 days a
 * year). The value before the first day counts as a deposit on that day. Null when there is no single such rate: fewer
 * than two days, or no payment in both directions.
 */
export function moneyWeighted(days: readonly DayValue[]): number | null {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined || first === last) return null
  const flows = days.flatMap(({ date, flow, value }, i) => {
    const paid = i === 0 ? value : flow
    return paid === 0 ? [] : [{ years: yearsBetween(first.date, date), amount: -paid }]
  })
  flows.push({ years: yearsBetween(first.date, last.date), amount: last.value })
  if (!flows.some(({ amount }) => amount < 0) || !flows.some(({ amount }) => amount > 0)) return null
  const worth = (rate: number) => flows.reduce((sum, { years, amount }) => sum + amount / (1 + rate) ** years, 0)
  return rootOf(worth)
}

/** By bisection: slower than Newton's method but always convergent. */
function rootOf(worth: (rate: number) => number): number | null {
  let [low, high] = [-0.999_999, 1]
  while (worth(low) * worth(high) > 0) {
    high *= 4
    if (high > 1e9) return null
  }
  const isFalling = worth(low) > 0
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2
    if (worth(middle) > 0 === isFalling) low = middle
    else high = middle
  }
  return (low + high) / 2
}

const yearsBetween = (from: string, to: string): number =>
  (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000 / DAYS_A_YEAR
