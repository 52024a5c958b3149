// An advice that has just been given is not taken back for a point or two. What has changed since is told in any case.

import { isTradingDay } from '../market/calendar.ts'
import type { Market } from '../market/instruments.ts'
import { addDays } from '../market/zoned-time.ts'
import type { Advice } from '../reports/labels.ts'
import type { Decision } from './decision.ts'
import { changed } from './guardrails.ts'
import type { PreviousReport } from './previous.ts'

/** How far past the border of its band a score must be before the advice follows it. */
export const MARGIN = 4
/** A report older than this says nothing about today's advice. */
export const MEMORY_SESSIONS = 5

const BUY_FROM = 60
const SELL_BELOW = 40

export type Moment = { market: Market; date: string | null; price: number }

/** The decision, held to the report before where it only just differs from it. */
export function steadied(decision: Decision, previous: PreviousReport | null, now: Moment): Decision {
  if (previous === null || decision.guard !== null || previous.type === decision.type) return decision
  if (!isRecent(previous, now) || hasBrokenLevel(previous, now.price)) return decision
  const values = { previous: previous.score, date: previous.date ?? '', margin: MARGIN }
  if (previous.type !== 'hold' && decision.type !== 'hold') {
    return changed(decision, { guard: 'reversal', advice: 'watch', score: decision.score, values })
  }
  const advice = adviceOf(previous)
  return distance(previous.type, decision.score) < MARGIN
    ? changed(decision, { guard: 'unsettled', advice, score: decision.score, values })
    : decision
}

/** How far a score lies outside the band of an earlier advice; 1 is just outside. */
function distance(type: Decision['type'], score: number): number {
  if (type === 'buy') return BUY_FROM - score
  if (type === 'sell') return score - SELL_BELOW + 1
  return score >= BUY_FROM ? score - BUY_FROM + 1 : SELL_BELOW - score
}

function adviceOf({ type, advice }: PreviousReport): Advice {
  if (type === 'hold') return advice === 'hold' ? 'hold' : 'watch'
  return type === 'buy' ? 'buy' : 'sell'
}

function isRecent({ date }: PreviousReport, now: Moment): boolean {
  if (date === null || now.date === null || date > now.date) return false
  let sessions = 0
  for (let day = date; day < now.date && sessions <= MEMORY_SESSIONS; day = addDays(day, 1)) {
    if (isTradingDay(now.market, day)) sessions += 1
  }
  return sessions <= MEMORY_SESSIONS
}

/** Past its stop or its target an earlier advice is over. */
function hasBrokenLevel({ levels }: PreviousReport, price: number): boolean {
  const { stop_loss: stop, take_profit: target } = levels
  return (stop !== undefined && price < stop) || (target !== undefined && price > target)
}
