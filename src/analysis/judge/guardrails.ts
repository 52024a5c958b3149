// Named rules that may keep advice from following its score. Each rule that applies is recorded with its effect. A rule
// about capital flow does not apply while that is unknown: if no source has it, a purchase is not worse.

import { addDays, isTradingDay } from '../../market/calendar.ts'
import type { Consistency } from '../../market/consistency/examine.ts'
import type { Market } from '../../market/instruments.ts'
import type { Advice, GuardCode, Mood } from '../codes.ts'
import type { FlowBias } from '../gather/company.ts'
import type { PreviousReport } from '../gather/previous.ts'
import { type Decision, HELD_FROM, HELD_TO } from './decision.ts'
import { LEAST_REWARD_RISK } from './levels.ts'
import type { Technical } from './signals.ts'

/** The position of a price between the extremes of the twenty sessions before the last. */
export type Structure = {
  support: number
  resistance: number
  nearSupport: boolean
  broken: boolean
  nearResistance: boolean
  breakout: boolean
}

export type Situation = {
  price: number
  structure: Structure | null
  flow: FlowBias
  /** The news report something that outweighs a chart: an investigation, a delisting. */
  seriousRisk: boolean
  /** The newest market review of the day; null when there is none. */
  mood: Mood | null
}

const NEAR_SUPPORT = 1.03
const BROKEN = 0.985
const NEAR_RESISTANCE = 0.97
const BREAKOUT = 1.01

export function structureOf({ priorLow20, priorHigh20 }: Technical, price: number): Structure | null {
  if (priorLow20 === null || priorHigh20 === null || price <= 0) return null
  const breakout = price > BREAKOUT * priorHigh20
  const broken = price < BROKEN * priorLow20
  return {
    support: priorLow20,
    resistance: priorHigh20,
    nearSupport: price <= NEAR_SUPPORT * priorLow20,
    broken,
    nearResistance: price >= NEAR_RESISTANCE * priorHigh20 && !breakout,
    breakout,
  }
}

/** Whether no share can be traded at the price today: it is suspended, or the price does not move. */
export const isUntraded = ({ findings }: Pick<Consistency, 'findings'>): boolean =>
  findings.some(({ detail }) => detail === 'suspended' || detail === 'idle')

/** At prices without trades, neither a purchase nor a sale is advised. */
export function untradedHeld(decision: Decision, consistency: Pick<Consistency, 'findings'>): Decision {
  if (!isUntraded(consistency) || decision.type === 'hold') return decision
  const score = Math.min(HELD_TO, Math.max(HELD_FROM, decision.score))
  return changed(decision, { guard: 'not_traded', advice: 'watch', score, values: {} })
}

/**
 * The bars may miss the last completed session, which a source publishes late; more missing sessions mean that the data
 * is outdated.
 */
const MOST_MISSED = 1

type Freshness = { missedSessions: number; consistency: Pick<Consistency, 'findings'> }

/** Whether the newest price is outdated. A suspended stock has no later price. */
export const isOutdated = ({ missedSessions, consistency: { findings } }: Freshness): boolean =>
  missedSessions > MOST_MISSED && !findings.some(({ detail }) => detail === 'suspended')

/** At outdated prices nothing is bought or sold. */
export function outdatedHeld(decision: Decision, freshness: Freshness): Decision {
  if (!isOutdated(freshness) || decision.type === 'hold') return decision
  const { missedSessions } = freshness
  const score = Math.min(HELD_TO, Math.max(HELD_FROM, decision.score))
  return changed(decision, { guard: 'outdated_bars', advice: 'watch', score, values: { missed: missedSessions } })
}

/** Without a plan that can win enough for its risk, neither a purchase nor a sale is advised. */
export function heldToPlan(decision: Decision, isPlanned: (side: 'buy' | 'sell') => boolean): Decision {
  if (decision.type === 'hold' || isPlanned(decision.type)) return decision
  return held(decision, decision.type === 'buy' ? 'poor_reward' : 'little_to_avoid', { least: LEAST_REWARD_RISK })
}

/** The decision after all rules except the last one, which compares it with the previous report. */
export function guarded(decision: Decision, situation: Situation): Decision {
  if (decision.guard !== null) return decision
  const guard = guardOf(decision, situation)
  if (guard !== null) return held(decision, guard, valuesOf(situation))
  return situation.mood === 'defensive' && decision.type === 'buy' ? cautious(decision) : decision
}

function guardOf({ type }: Decision, { structure, flow, seriousRisk }: Situation): GuardCode | null {
  if (structure === null || flow === 'unavailable') return null
  const { nearSupport, broken, nearResistance, breakout } = structure
  if (type === 'buy') {
    if (nearResistance && flow !== 'inflow') return 'buy_near_resistance'
    if (flow === 'outflow' && !breakout) return 'buy_against_outflow'
    return flow === 'neutral' && !breakout && !nearSupport && !nearResistance ? 'buy_in_mid_range' : null
  }
  if (type !== 'sell' || seriousRisk) return null
  if (nearSupport && !broken && flow !== 'outflow') return 'sell_near_support'
  return flow === 'inflow' && !broken ? 'sell_into_inflow' : null
}

function held(decision: Decision, guard: GuardCode, values: Decision['guardValues']): Decision {
  const score = Math.min(HELD_TO, Math.max(HELD_FROM, decision.score))
  const advice = decision.type === 'buy' ? 'watch' : 'hold'
  return changed(decision, { guard, advice, score, values })
}

const CAUTIOUS_MOST = 52

function cautious(decision: Decision): Decision {
  const score = Math.min(CAUTIOUS_MOST, decision.score)
  return changed(decision, { guard: 'defensive_market', advice: 'watch', score, values: {} })
}

type Change = { guard: GuardCode; advice: Advice; score: number; values: Decision['guardValues'] }

const ACTION: Partial<Record<Advice, Decision['action']>> = { strong_buy: 'buy', strong_sell: 'sell' }
const TYPE: Record<Advice, Decision['type']> = {
  strong_buy: 'buy',
  buy: 'buy',
  hold: 'hold',
  watch: 'hold',
  reduce: 'sell',
  sell: 'sell',
  strong_sell: 'sell',
  none: 'hold',
}

/** The decision after a rule: another advice, its reason, and a confidence that is never high. */
function changed(decision: Decision, { guard, advice, score, values }: Change): Decision {
  const { confidence, rawScore } = decision
  return {
    ...decision,
    score,
    advice,
    action: ACTION[advice] ?? (advice as Decision['action']),
    type: TYPE[advice],
    confidence: confidence === 'high' ? 'medium' : confidence,
    guard,
    guardValues: { ...values, score: decision.score },
    interventions: [...decision.interventions, { guard, from: decision.advice, to: advice, rawScore, score }],
  }
}

function valuesOf({ structure }: Situation): Decision['guardValues'] {
  return structure === null ? {} : { support: structure.support, resistance: structure.resistance }
}

// Recent advice is not withdrawn because of a point or two. The changes since then are reported in any case.

/** How far a score must be beyond the border of its band before the advice follows it. */
const MARGIN = 4
/** An older report does not influence today's advice. */
const MEMORY_SESSIONS = 5

const BUY_FROM = 60
const SELL_BELOW = 40

export type Moment = { market: Market; date: string | null; price: number }

/** The decision, kept at the previous report's where it differs only slightly. */
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

/** How far a score is outside the band of an earlier advice; 1 is just outside. */
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

/** Beyond its stop or its target an earlier advice has ended. */
function hasBrokenLevel({ levels }: PreviousReport, price: number): boolean {
  const { stop_loss: stop, take_profit: target } = levels
  return (stop !== undefined && price < stop) || (target !== undefined && price > target)
}
