// Checks the move from each close to the next bar against the exchange's limit, or the size of an ordinary day. A
// single high or low outside is a bad tick; so is a close that comes back; one that stays is an unadjusted corporate
// action.

import type { Bar } from '../bars.ts'
import type { Instrument } from '../instruments.ts'
import { isSane } from './bar-checks.ts'
import { sessionsBetween } from './date-checks.ts'
import { isNewByName, isOnMainBoard, isRiskWarned, limitShare, priceStep } from './limits.ts'
import { isConfirmed } from './quote-checks.ts'
import { LEAST, LONG_SERIES, MOST, NEAR, TOLERANCE } from './tolerances.ts'
import {
  type Checked,
  type CheckKey,
  type Evidence,
  type Finding,
  finding,
  notPossible,
  PRICES,
  pass,
  type Touch,
  touchesAt,
} from './types.ts'

/** The allowed prices of the session after a close. */
export type Bounds = {
  low: number
  high: number
  isFree: boolean
  /** Without a limit: how far a high or low may be outside the bar and the previous close. */
  tick: number
}

type BoundsQuestion = {
  instrument: Instrument
  previousClose: number
  date: string
  /** Sessions since that close, 1 for the next one. */
  sessions: number
  isAdjusted: boolean
  name: string | null
}

function boundsOf(question: BoundsQuestion): Bounds {
  const { instrument, previousClose, sessions, isAdjusted } = question
  const limit = limitShare(question)
  if (limit === null) {
    const isIndex = instrument.kind === 'index'
    // Missing sessions may each have moved, but a split during them must not be taken for their sum.
    const ordinary = isIndex ? LEAST.indexJump : LEAST.freeJump
    const most = sessions > 1 ? Math.max(ordinary, LEAST.gapJump) : ordinary
    const tick = isIndex ? LEAST.indexJump : LEAST.freeTick
    return { low: previousClose / most, high: previousClose * most, isFree: true, tick }
  }
  const slack = isAdjusted ? limit * (1 + TOLERANCE.limitSlack) : limit * (1 + TOLERANCE.limitSlack / 10)
  const step = priceStep(instrument, previousClose) * TOLERANCE.priceSteps
  // Missing sessions may each have moved, but no listing passes a split in them unnoticed.
  const most = Math.min((1 + slack) ** sessions, Math.max(1 + slack, LEAST.gapJump))
  const least = Math.max(Math.max(0, 1 - slack) ** sessions, Math.min(1 - slack, 1 / LEAST.gapJump))
  return { low: previousClose * least - step, high: previousClose * most + step, isFree: false, tick: 1 }
}

type Move = { check: CheckKey; index: number; finding: Finding; repaired?: Bar }

/** Bad ticks, limits and corporate actions are found in one pass over the bars. */
export function moves(evidence: Evidence): Checked {
  const { bars } = evidence
  if (bars.length < 2) {
    return { findings: MOVE_CHECKS.flatMap((check) => notPossible(check, 'no_bars').findings) }
  }
  const found = bars.flatMap((_, i) => moveAt(evidence, i) ?? [])
  const clipped = found.filter(({ repaired }) => repaired !== undefined)
  const isTooMany = clipped.length > MOST.repaired
  const findings = MOVE_CHECKS.flatMap((check) => summed(check, found, isTooMany, evidence))
  const replaced = new Map(isTooMany ? [] : clipped.map(({ index, repaired }) => [index, repaired as Bar]))
  return { findings, bars: bars.map((bar, i) => replaced.get(i) ?? bar) }
}

const MOVE_CHECKS = ['bad_tick', 'price_limit', 'corporate_action'] as const

/** The findings of a check as one: the worst, newest one, with their number. */
function summed(check: CheckKey, all: readonly Move[], isTooMany: boolean, evidence: Evidence): Finding[] {
  const found = all.filter((move) => move.check === check)
  const newest = (verdict: Finding['verdict']) => found.findLast((move) => move.finding.verdict === verdict)
  const worst = newest('fail') ?? newest('warn') ?? found.at(-1)
  if (worst === undefined) return check === 'price_limit' ? limitKept(evidence) : pass(check).findings
  const touches = [...new Set(found.flatMap((move) => move.finding.touches))]
  const isFailed = isTooMany && worst.finding.detail === 'clipped'
  const told = {
    touches,
    count: found.length,
    ...(isFailed ? { verdict: 'fail' as const, detail: 'too_many' as const } : {}),
  }
  return [{ ...worst.finding, ...told }]
}

/** Whether no close is beyond the applied limit; without a limit, or with one that may be too wide, the result is weaker. */
function limitKept({ instrument, quote }: Evidence): Finding[] {
  if (['hk', 'us'].includes(instrument.market)) return notPossible('price_limit', 'no_limit').findings
  const isWider = isRiskWarned(quote?.name ?? null) && isOnMainBoard(instrument)
  return isWider ? notPossible('price_limit', 'wider_limit').findings : pass('price_limit').findings
}

function moveAt({ bars, instrument, adjustment, quote }: Evidence, index: number): Move | null {
  const [before, bar] = [bars[index - 1], bars[index]]
  if (before === undefined || bar === undefined || !isSane(before) || !isSane(bar)) return null
  // The first sessions of a listing have no limit and no ordinary size of a move.
  const isYoung = bars.length < LONG_SERIES && index <= MOST.freeSessions
  const sessions = 1 + sessionsBetween(instrument.market, before.date, bar.date)
  const bounds = boundsOf({
    ...{ instrument, previousClose: before.close, date: bar.date, sessions },
    isAdjusted: adjustment.kind === 'forward' || adjustment.kind === 'unknown',
    name: quote?.name ?? null,
  })
  const touches = touchesAt(index, bars.length)
  const isAdjusted = adjustment.kind === 'forward' || adjustment.kind === 'not_needed'
  const at = { bars, bar, before, index, bounds, touches, isAdjusted }
  if (isYoung) return youngTick(at)
  return jumpAt(at) ?? tickAt(at)
}

type BarPair = {
  bars: readonly Bar[]
  bar: Bar
  before: Bar
  index: number
  bounds: Bounds
  touches: Touch[]
  /** The source adjusts for splits, or there are none. */
  isAdjusted: boolean
}

const isOutside = (price: number, { low, high }: Bounds): boolean => price < low || price > high

/** A close outside the bounds. */
function jumpAt(at: BarPair): Move | null {
  const { bars, bar, before, index, bounds, touches } = at
  if (!isOutside(bar.close, bounds)) return isOutside(bar.open, bounds) ? spike(at, bar.open) : null
  const next = bars[index + 1]
  if (next !== undefined && isSane(next) && isBack(next.close, before.close, bounds)) return spike(at, bar.close)
  const ratio = bar.close / before.close
  const isAction = bounds.isFree || ratio <= 1 / LEAST.freeJump ** 0.9 || ratio >= LEAST.freeJump
  const check: CheckKey = isAction ? 'corporate_action' : 'price_limit'
  const isMove = bounds.isFree && isDriven(at) && ratio < LEAST.impossibleJump && ratio > 1 / LEAST.impossibleJump
  const told = { touches, date: bar.date, expected: before.close, found: bar.close }
  if (isMove) return { check, index, finding: largeMove(check, at, told) }
  const detail = check === 'price_limit' ? 'beyond_limit' : 'jump'
  return { check, index, finding: finding(check, 'fail', { ...told, detail }) }
}

/** Whether the next day returns to the level of the day before. */
function isBack(next: number, before: number, bounds: Bounds): boolean {
  const half = bounds.isFree ? Math.sqrt(LEAST.freeJump) : Math.max(bounds.high / before, before / bounds.low)
  return next < before * half && next > before / half
}

function spike({ bar, before, index, touches, ...at }: BarPair, found: number): Move {
  const whole = { bar, before, index, touches, ...at }
  const isMove = at.bounds.isFree && isDriven(whole)
  const told = { touches, date: bar.date, expected: before.close, found }
  const made = isMove ? largeMove('bad_tick', whole, told) : finding('bad_tick', 'fail', { ...told, detail: 'spike' })
  return { check: 'bad_tick', index, finding: made }
}

/**
 * A large move with high turnover may be an unadjusted split. If the source adjusts for splits, both facts support the
 * move, and once it is long past it only counts as unverifiable; otherwise it is marked as long as it is in the ranges.
 */
function largeMove(check: CheckKey, { bars, index, isAdjusted }: BarPair, told: Partial<Finding>): Finding {
  const isLongPast = isAdjusted && index < bars.length - NEAR
  if (isLongPast) return finding(check, 'not_possible', { ...told, touches: [], detail: 'large_move' })
  return finding(check, 'warn', { ...told, detail: 'large_move' })
}

const USUAL_DAYS = 20

/** The day's turnover is far from usual, as on days with news. */
function isDriven({ bars, bar, index }: BarPair): boolean {
  const usual = median(bars.slice(Math.max(0, index - USUAL_DAYS), index).map(({ close, volume }) => close * volume))
  return usual > 0 && (bar.close * bar.volume) / usual >= LEAST.moveTurnover
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

/** A high or low outside of what open and close, or the limit, allow. It is clipped to these. */
function tickAt({ bar, before, index, bounds, touches }: BarPair): Move | null {
  const [top, bottom] = [Math.max(bar.open, bar.close), Math.min(bar.open, bar.close)]
  const most = bounds.isFree ? Math.max(top, before.close) * bounds.tick : bounds.high
  const least = bounds.isFree ? Math.min(bottom, before.close) / bounds.tick : bounds.low
  return clip({ bar, index, touches }, { isHigh: bar.high > most, isLow: bar.low < least, top, bottom })
}

const YOUNG_TICK = 3

/** In the first sessions a bar may be wide, but not this wide. */
function youngTick({ bar, before, index, touches }: BarPair): Move | null {
  const [top, bottom] = [Math.max(bar.open, bar.close), Math.min(bar.open, bar.close)]
  const isHigh = bar.high > Math.max(top, before.close) * YOUNG_TICK
  const isLow = bar.low < Math.min(bottom, before.close) / YOUNG_TICK
  return clip({ bar, index, touches }, { isHigh, isLow, top, bottom })
}

type Ends = { isHigh: boolean; isLow: boolean; top: number; bottom: number }

function clip({ bar, index, touches }: Pick<BarPair, 'bar' | 'index' | 'touches'>, ends: Ends): Move | null {
  const { isHigh, isLow, top, bottom } = ends
  if (!isHigh && !isLow) return null
  const repaired = { ...bar, high: isHigh ? top : bar.high, low: isLow ? bottom : bar.low }
  const told = { date: bar.date, expected: isHigh ? top : bottom, found: isHigh ? bar.high : bar.low }
  const made = finding('bad_tick', 'warn', { touches, detail: 'clipped', ...told })
  return { check: 'bad_tick', index, finding: made, repaired }
}

/** The quote's own move, against the exact limit of the day. */
export function quoteLimit(evidence: Evidence): Checked {
  const { bars, quote, instrument } = evidence
  if (quote === null) return notPossible('quote_limit', 'no_quote')
  const { price, prevClose, name } = quote
  if (isNewByName(name) || bars.length <= MOST.freeSessions) return notPossible('quote_limit', 'no_limit')
  const date = bars.at(-1)?.date ?? ''
  const bounds = boundsOf({ instrument, previousClose: prevClose, date, sessions: 1, isAdjusted: false, name })
  const told = { touches: PRICES, expected: prevClose, found: price, date: null }
  if (!isOutside(price, bounds)) return tickOfQuote(evidence, bounds)
  const usual = median(bars.slice(-USUAL_DAYS).map(({ close, volume }) => close * volume))
  const ratio = Math.max(price / prevClose, prevClose / price)
  const isDay = usual > 0 && ((quote.volume ?? 0) * price) / usual >= LEAST.moveTurnover && ratio < LEAST.impossibleJump
  if (bounds.isFree && ratio < LEAST.impossibleJump && isConfirmed(evidence)) {
    return { findings: [finding('quote_limit', 'warn', { ...told, detail: 'confirmed_move' })] }
  }
  if (bounds.isFree && isDay) {
    return { findings: [finding('quote_limit', 'warn', { ...told, detail: 'large_move' })] }
  }
  return { findings: [finding('quote_limit', 'fail', { ...told, detail: 'beyond_limit' })] }
}

/** An impossible open, high or low of the quote is left out. */
function tickOfQuote({ quote }: Evidence, bounds: Bounds): Checked {
  if (quote === null) return pass('quote_limit')
  const { price, open, high, low, prevClose } = quote
  const most = bounds.isFree ? Math.max(price, prevClose) * bounds.tick : bounds.high
  const least = bounds.isFree ? Math.min(price, prevClose) / bounds.tick : bounds.low
  const isBeyond = (value: number | null) => value !== null && (value > most || value < least)
  const found = [high, low, open].find(isBeyond)
  if (found === undefined) return pass('quote_limit')
  const kept = (value: number | null) => (isBeyond(value) ? null : value)
  const told = { touches: PRICES, detail: 'clipped' as const, expected: price, found }
  return {
    findings: [finding('quote_limit', 'warn', told)],
    quote: { ...quote, open: kept(open), high: kept(high), low: kept(low) },
  }
}
