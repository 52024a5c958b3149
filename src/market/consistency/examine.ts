// The gate: every named check, each on what the ones before it left. It refuses nothing and decides nothing about an advice; it
// says what holds, what does not, and what nobody can tell.

import type { Bar, Quote } from '../bars.ts'
import type { Adjustment } from './adjustment.ts'
import { magnitude, priceOrder } from './bar-checks.ts'
import { duplicateDates, futureDates, missingSessions, nonSessions, staleBars, staleQuote } from './date-checks.ts'
import { dividends } from './dividend-checks.ts'
import { moves, quoteLimit } from './moves.ts'
import { currency, previousClose, quoteChange, quoteOrder, sameDayClose, secondSource } from './quote-checks.ts'
import { type Check, type CheckKey, type Evidence, type Finding, TOUCHES, type Touch } from './types.ts'
import { volumeUnits } from './volume-checks.ts'

export type Consistency = {
  findings: Finding[]
  adjustment: Adjustment
  /** A failed check touches prices: no advice, no levels, no score. */
  isBlocked: boolean
  /** Groups of figures that a failed check touches; they are not quoted. */
  withheld: Touch[]
  /** The checks that warn of a group. */
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

/** The findings that a reader must see, the worst first. */
export function alarms({ findings }: Pick<Consistency, 'findings'>): Finding[] {
  const of = (verdict: Finding['verdict']) => findings.filter((one) => one.verdict === verdict)
  return [...of('fail'), ...of('warn')]
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

/** Whether another source could settle something: quote and bars differ, or the newest price breaks a limit. */
export const isInDoubt = ({ findings }: Pick<Consistency, 'findings'>): boolean =>
  alarms({ findings }).some(({ check, touches }) => DOUBTS.includes(check) && touches.includes('price'))
