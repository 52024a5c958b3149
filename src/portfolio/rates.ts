// Rates between currencies: those of the owner, and those of a public source. A rate is valid for its own day and the
// seven after it.

import { type Amount, ONE, parseAmount, rounded } from '../lib/decimal.ts'
import type { Rate, Share } from './valuation.ts'

/** One unit of `currency` in units of `quote`. */
export type OwnRate = { currency: string; quote: string; date: string; rate: Amount }

/** Units of each currency for one euro, as decimals. */
export type ReferenceDay = { date: string; rates: Readonly<Record<string, string>> }

export const LASTS_DAYS = 7

/**
 * The newest rate at or before a day, as an exact fraction; of two from the same day the owner's. An owner's rate is
 * used directly, inverted, or through one third currency; the source's through the euro. Null when there is none.
 */
export function rateFinder(
  rates: readonly OwnRate[],
  day: string,
  reference: readonly ReferenceDay[] = [],
): (from: string, to: string) => Rate | null {
  const oldest = daysBefore(day, LASTS_DAYS)
  const own = ownFinder(rates.filter(({ date }) => date <= day && date >= oldest))
  const days = reference.filter(({ date }) => date <= day && date >= oldest).sort(newestFirst)
  return (from, to) => {
    const [given, told] = [own(from, to), referenceRate(days, from, to)]
    if (given === null || told === null) return given ?? told
    return (told.date ?? '') > (given.date ?? '') ? told : given
  }
}

const newestFirst = (a: { date: string }, b: { date: string }): number =>
  a.date < b.date ? 1 : a.date > b.date ? -1 : 0

type Dated = { share: Share; date: string }

function ownFinder(rates: readonly OwnRate[]): (from: string, to: string) => Rate | null {
  const known = [...rates].sort(newestFirst)
  const step = (from: string, to: string): Dated | null => {
    const found = known.find(({ currency, quote }) => {
      return (currency === from && quote === to) || (currency === to && quote === from)
    })
    if (found === undefined) return null
    const { currency, rate, date } = found
    return { share: currency === from ? { n: rate, d: ONE } : { n: ONE, d: rate }, date }
  }
  const others = [...new Set(known.flatMap(({ currency, quote }) => [currency, quote]))].sort()
  return (from, to) => {
    const direct = step(from, to)
    if (direct !== null) return rateOf(direct.share, direct.date, 'owner')
    for (const middle of others) {
      const [first, second] = [step(from, middle), step(middle, to)]
      if (first === null || second === null) continue
      const share = { n: first.share.n * second.share.n, d: first.share.d * second.share.d }
      const date = first.date < second.date ? first.date : second.date
      return rateOf(share, date, `owner, by way of ${middle}`)
    }
    return null
  }
}

/** From the newest day that has both currencies. */
function referenceRate(days: readonly ReferenceDay[], from: string, to: string): Rate | null {
  for (const { date, rates } of days) {
    const [own, other] = [perEuro(rates, from), perEuro(rates, to)]
    if (own !== null && other !== null) return rateOf({ n: other, d: own }, date, 'ECB')
  }
  return null
}

const perEuro = (rates: ReferenceDay['rates'], currency: string): Amount | null =>
  currency === 'EUR' ? ONE : parseAmount(rates[currency] ?? '')

/** A rate that would be shown as zero is not used. */
function rateOf(share: Share, date: string, source: string): Rate | null {
  const rate = rounded({ n: share.n * ONE, d: share.d })
  return rate > 0n ? { rate, share, date, source } : null
}

export function daysBefore(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - count * 86_400_000).toISOString().slice(0, 10)
}
