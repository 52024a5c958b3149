// Checks of each single bar: whether its prices are plausible, and in the order that open, high, low and close must
// have; and of all bars: whether dividends were left in.

import type { Bar, Quote } from '../bars.ts'
import { LEAST, LEAST_MARKET_VALUE, LEAST_PRICE, MOST, TOLERANCE, WINDOW } from './tolerances.ts'
import {
  type Checked,
  type Evidence,
  type Finding,
  finding,
  HISTORY,
  notPossible,
  PRICES,
  pass,
  touchesAt,
  VOLUME,
} from './types.ts'

const isPrice = (value: number): boolean => Number.isFinite(value) && value >= LEAST_PRICE && value <= MOST.price

export const isSane = ({ open, high, low, close }: Bar): boolean => [open, high, low, close].every(isPrice)

const isVolume = ({ volume, amount }: Pick<Bar, 'volume' | 'amount'>): boolean =>
  Number.isFinite(volume) &&
  volume >= 0 &&
  volume <= MOST.volume &&
  (amount === null || (Number.isFinite(amount) && amount >= 0 && amount <= MOST.amount))

/** Signs and magnitudes, including those of the quote. */
export function magnitude({ bars, quote }: Evidence): Checked {
  const findings = []
  const at = bars.findLastIndex((bar) => !isSane(bar))
  const bar = bars[at]
  const wrong = bar && [bar.open, bar.high, bar.low, bar.close].find((value) => !isPrice(value))
  if (bar) {
    const touches = touchesAt(at, bars.length)
    findings.push(finding('magnitude', 'fail', { touches, detail: 'impossible', date: bar.date, found: wrong ?? null }))
  }
  const quoted = quote && [quote.price, quote.prevClose, quote.open, quote.high, quote.low]
  const wild = quoted?.find((value) => value !== null && !isPrice(value))
  if (wild !== undefined)
    findings.push(finding('magnitude', 'fail', { touches: PRICES, detail: 'impossible', found: wild }))
  const heavy = bars.findLast((one) => !isVolume(one))
  const quotedVolume = quote && { volume: quote.volume ?? 0, amount: quote.amount }
  const unsound = heavy ?? (quotedVolume && !isVolume(quotedVolume) ? quotedVolume : null)
  if (unsound !== null) {
    const told = { detail: 'impossible_volume' as const, date: heavy?.date ?? null }
    findings.push(finding('magnitude', 'fail', { touches: VOLUME, ...told, found: volumesOf(unsound) }))
  }
  const value = quote && valuation(quote)
  findings.push(...(value?.findings ?? []))
  return findings.length === 0 ? pass('magnitude') : { findings, ...(value ? { quote: value.quote } : {}) }
}

/** Either of the two may be wrong. */
const volumesOf = ({ volume, amount }: Pick<Bar, 'volume' | 'amount'>): string =>
  [volume, amount].map((value) => (value === null ? '–' : value.toPrecision(4))).join(' / ')

/** Impossible ratios and market values, or more tradable shares than all shares. They are left out. */
function valuation(quote: Quote): { findings: Finding[]; quote: Quote } {
  const { totalMarketValue: total, circulatingMarketValue: traded } = quote
  const warn = (told: Partial<Finding>) => finding('magnitude', 'warn', { touches: ['valuation'], ...told })
  const isValue = (value: number) => value >= LEAST_MARKET_VALUE && value <= MOST.marketValue
  const wild = [total, traded].find((value) => value !== null && !isValue(value))
  const isMore = total !== null && traded !== null && traded > total * MOST.tradedShare
  const [pe, pb] = [wildRatio(quote.peRatio, MOST.peRatio), wildRatio(quote.pbRatio, MOST.pbRatio)]
  const findings = [
    ...(wild == null ? [] : [warn({ detail: 'impossible_value', found: wild })]),
    ...(wild == null && isMore ? [warn({ detail: 'traded_value', expected: total, found: traded })] : []),
    ...[pe, pb].flatMap((found) => (found === null ? [] : [warn({ detail: 'impossible_ratio', found })])),
  ]
  const values = wild == null && !isMore ? {} : { totalMarketValue: null, circulatingMarketValue: null }
  const ratios = { peRatio: pe === null ? quote.peRatio : null, pbRatio: pb === null ? quote.pbRatio : null }
  return { findings, quote: { ...quote, ...values, ...ratios } }
}

const wildRatio = (ratio: number | null, most: number): number | null =>
  ratio === null || Math.abs(ratio) <= most ? null : ratio

/** High must be the highest price, low the lowest. */
export function priceOrder({ bars }: Evidence): Checked {
  if (bars.length === 0) return notPossible('price_order', 'no_bars')
  const wrong = (bar: Bar) => isSane(bar) && disorder(bar) > TOLERANCE.orderShare
  const at = bars.findLastIndex(wrong)
  const bar = bars[at]
  if (bar === undefined) return pass('price_order')
  return {
    findings: [
      finding('price_order', 'fail', {
        touches: touchesAt(at, bars.length),
        detail: 'out_of_order',
        date: bar.date,
        expected: `${bar.low} – ${bar.high}`,
        found: `${bar.open} / ${bar.close}`,
        count: bars.filter(wrong).length,
      }),
    ],
  }
}

/** The size of the order violation, as a fraction. */
function disorder({ open, high, low, close }: Bar): number {
  return Math.max(Math.max(open, close, low) / high, low / Math.min(open, close)) - 1
}

/**
 * Whether past prices were adjusted. A source says whether it adjusts; unadjusted dividends are only visible when they
 * are larger than an ordinary move.
 */
export function dividends({ bars, instrument, adjustment, dividends: paid }: Evidence): Checked {
  if (instrument.kind === 'index' || adjustment.kind === 'forward' || adjustment.kind === 'synthetic') {
    return pass('dividends')
  }
  if (adjustment.kind === 'unknown' || paid === null) return notPossible('dividends', 'not_told')
  const recent = bars.slice(-WINDOW)
  const [first, last] = [recent[0], recent.at(-1)]
  if (first === undefined || last === undefined) return notPossible('dividends', 'no_bars')
  const inside = paid.filter(({ exDate }) => exDate !== null && exDate > first.date && exDate <= last.date)
  const sum = inside.reduce((total, { cashPerShare }) => total + cashPerShare, 0)
  if (sum / last.close < LEAST.dividendShare) return pass('dividends')
  const told = { date: inside[0]?.exDate ?? null, found: sum, count: inside.length }
  return { findings: [finding('dividends', 'warn', { touches: HISTORY, detail: 'unadjusted', ...told })] }
}
