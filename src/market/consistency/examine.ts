// The gate: every named check, each on the result of the ones before it. It rejects no request and decides no advice;
// it reports what is correct, what is wrong, and what cannot be verified.

import type { Bar, Fetched, Provenance, Quote } from '../bars.ts'
import type { Dividend } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import { dividends, magnitude, priceOrder } from './bar-checks.ts'
import { duplicateDates, futureDates, missingSessions, nonSessions, staleBars, staleQuote } from './date-checks.ts'
import { moves, quoteLimit } from './moves.ts'
import { currency, previousClose, quoteChange, quoteOrder, sameDayClose, secondSource } from './quote-checks.ts'
import {
  type Adjustment,
  type AdjustmentKind,
  alarms,
  type Check,
  type CheckKey,
  type Evidence,
  type Finding,
  TOUCHES,
  type Touch,
} from './types.ts'
import { volumeUnits } from './volume-checks.ts'

export type Consistency = {
  findings: Finding[]
  adjustment: Adjustment
  /** A failed check concerns prices: no advice, no levels, no score. */
  isBlocked: boolean
  /** Groups of figures that a failed check concerns; they are not quoted. */
  withheld: Touch[]
  /** The checks that warn about a group. */
  marks: Partial<Record<Touch, CheckKey[]>>
}

export type Examined = { bars: Bar[]; quote: Quote | null; consistency: Consistency }

const CHECKS_IN_ORDER: readonly Check[] = [
  duplicateDates,
  futureDates,
  nonSessions,
  staleQuote,
  magnitude,
  priceOrder,
  quoteOrder,
  quoteChange,
  moves,
  quoteLimit,
  missingSessions,
  staleBars,
  dividends,
  volumeUnits,
  currency,
  previousClose,
  sameDayClose,
  secondSource,
]

export function examine(evidence: Evidence): Examined {
  const findings: Finding[] = []
  let left = evidence
  for (const check of CHECKS_IN_ORDER) {
    const checked = check(left)
    findings.push(...checked.findings)
    const { bars = left.bars, quote = left.quote } = checked
    left = { ...left, bars, quote }
  }
  return { bars: [...left.bars], quote: left.quote, consistency: consistencyOf(findings, evidence.adjustment) }
}

const BLOCKING: readonly Touch[] = ['price', 'averages', 'range', 'levels']

function consistencyOf(findings: Finding[], adjustment: Adjustment): Consistency {
  const touched = (verdict: Finding['verdict']) => {
    return TOUCHES.filter((touch) => findings.some((one) => one.verdict === verdict && one.touches.includes(touch)))
  }
  const withheld = touched('fail')
  const marks = touched('warn').map((touch) => {
    const checks = findings.filter((one) => one.verdict === 'warn' && one.touches.includes(touch))
    return [touch, [...new Set(checks.map(({ check }) => check))]]
  })
  return {
    findings,
    adjustment,
    isBlocked: withheld.some((touch) => BLOCKING.includes(touch)),
    withheld,
    marks: Object.fromEntries(marks),
  }
}

const DOUBTS: readonly CheckKey[] = [
  'bad_tick',
  'price_limit',
  'corporate_action',
  'quote_order',
  'quote_limit',
  'previous_close',
  'same_day_close',
]

/** Whether another source could decide: quote and bars differ, or the newest price violates a limit. */
export const isInDoubt = ({ findings }: Pick<Consistency, 'findings'>): boolean =>
  alarms({ findings }).some(({ check, touches }) => DOUBTS.includes(check) && touches.includes('price'))

// All fetched figures pass `examinePrices`: all code that shows a price uses its result (reports, reviews, the pages of
// a stock, and the measurement of past advice).

/** Bars and quote as they were fetched. */
export type Prices = { bars: Fetched<Bar[]>; quote: Fetched<Quote> }

export type ExaminedWith = {
  dividends: readonly Dividend[] | null
  now: number
  /** Another source's quote; null when it did not arrive, absent when it was not requested. */
  second?: Fetched<Quote> | null
}

/** Sample and market data have different dates, so a quote of the other kind is left out. */
export const isMixed = ({ bars, quote }: Prices): boolean =>
  bars.ok && quote.ok && (bars.provenance === null) !== (quote.provenance === null)

export function examinePrices(
  instrument: Instrument,
  prices: Prices,
  { dividends, now, second }: ExaminedWith,
): Examined {
  const { bars, quote } = prices
  const provenance = bars.ok ? bars.provenance : quote.ok ? quote.provenance : null
  const barsSource = bars.ok ? bars.provider : null
  return examine({
    instrument,
    bars: bars.ok ? bars.value : [],
    quote: quote.ok && !isMixed(prices) ? quote.value : null,
    barsSource,
    quoteSource: quote.ok ? quote.provider : null,
    adjustment: adjustmentOf({ source: barsSource, provenance, isIndex: instrument.kind === 'index' }),
    isSample: provenance !== null,
    now,
    dividends,
    ...(second === undefined ? {} : { second: second?.ok ? { source: second.provider, quote: second.value } : null }),
  })
}

/** For a source that is not listed it is unknown whether it adjusts. */
const ADJUSTMENT_OF_SOURCE: Readonly<Record<string, AdjustmentKind>> = {
  tencent: 'forward',
  yahoo: 'forward',
  eastmoney: 'forward',
  tushare: 'forward',
  sina: 'none',
  alphavantage: 'none',
}

type PriceOrigin = { source: string | null; provenance: Provenance | null; isIndex: boolean }

export function adjustmentOf({ source, provenance, isIndex }: PriceOrigin): Adjustment {
  if (provenance !== null) return { kind: provenance.kind === 'synthetic' ? 'synthetic' : 'none', source }
  if (source === null) return { kind: 'unknown', source }
  if (isIndex) return { kind: 'not_needed', source }
  const kind = Object.hasOwn(ADJUSTMENT_OF_SOURCE, source) ? ADJUSTMENT_OF_SOURCE[source] : undefined
  return { kind: kind ?? 'unknown', source }
}
