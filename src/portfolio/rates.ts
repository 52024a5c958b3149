// Rates between currencies, from those that an owner gave. A rate counts for its own day and the seven after it.

import { type Amount, exact, ONE, ratio, rounded, times } from '../lib/decimal.ts'
import type { Rate } from './valuation.ts'

/** One unit of `currency` in units of `quote`. */
export type OwnRate = { currency: string; quote: string; date: string; rate: Amount }

const LASTS_DAYS = 7

/** The newest rate at or before a day: as it was given, turned round, or by way of one third currency; else null. */
export function rateFinder(rates: readonly OwnRate[], day: string): (from: string, to: string) => Rate | null {
  const oldest = daysBefore(day, LASTS_DAYS)
  const known = rates.filter(({ date }) => date <= day && date >= oldest).sort((a, b) => (a.date < b.date ? 1 : -1))
  const step = (from: string, to: string): Dated | null => {
    const found = known.find(({ currency, quote }) => {
      return (currency === from && quote === to) || (currency === to && quote === from)
    })
    if (found === undefined) return null
    const turned = found.currency === from ? found.rate : ratio(exact(ONE), exact(found.rate))
    return turned === null || turned === 0n ? null : { rate: turned, date: found.date }
  }
  const others = [...new Set(known.flatMap(({ currency, quote }) => [currency, quote]))].sort()
  return (from, to) => {
    const direct = step(from, to)
    if (direct !== null) return { ...direct, source: 'owner' }
    for (const middle of others) {
      const [first, second] = [step(from, middle), step(middle, to)]
      if (first === null || second === null) continue
      const rate = rounded(times(exact(first.rate), second.rate))
      const date = first.date < second.date ? first.date : second.date
      if (rate > 0n) return { rate, date, source: `owner, by way of ${middle}` }
    }
    return null
  }
}

type Dated = { rate: Amount; date: string }

export function daysBefore(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - count * 86_400_000).toISOString().slice(0, 10)
}
