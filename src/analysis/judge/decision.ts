import type { Advice, Confidence, GuardCode, TrendPrediction, TrendState } from '../codes.ts'
import type { Action } from '../schemas.ts'
import { standing } from './horizons.ts'
import type { Scored, Signal } from './signals.ts'

/** The recommendation of a report. Computed once; every rendering reads it. */
export type Decision = {
  score: number
  /** The score from the indicators alone. */
  rawScore: number
  advice: Advice
  /** Null: there is no advice. */
  action: Action | null
  type: 'buy' | 'hold' | 'sell'
  trend: TrendPrediction
  confidence: Confidence
  /** The rule that keeps the advice from following the score; null when it follows it. */
  guard: GuardCode | null
  /** The figures in the guard's reason. */
  guardValues: Record<string, string | number>
  /** Every rule that changed something, in order. */
  interventions: Intervention[]
}

/** The effect of one rule. */
export type Intervention = { guard: GuardCode; from: Advice; to: Advice; rawScore: number; score: number }

export type Evidence = {
  /** Whether bars and quote are recent, complete and market data. */
  coreIsSound: boolean
  /** Whether the capital flow is known. If not, the confidence is lower; the advice is unchanged. */
  flowKnown: boolean
}

const NEUTRAL_SCORE = 50

const TREND: Record<TrendState, TrendPrediction> = {
  strong_bull: 'strong_bullish',
  bull: 'bullish',
  weak_bull: 'bullish',
  consolidation: 'sideways',
  weak_bear: 'bearish',
  bear: 'bearish',
  strong_bear: 'strong_bearish',
}

const ACTION: Record<Signal | 'hold', Action> = {
  strong_buy: 'buy',
  buy: 'buy',
  hold: 'hold',
  watch: 'watch',
  sell: 'sell',
  strong_sell: 'sell',
}

/** Nothing is recommended when the figures failed a check. The neutral score replaces the missing one. */
export const NO_DECISION: Decision = {
  score: NEUTRAL_SCORE,
  rawScore: NEUTRAL_SCORE,
  advice: 'none',
  action: null,
  type: 'hold',
  trend: 'none',
  confidence: 'low',
  guard: 'inconsistent_data',
  guardValues: {},
  interventions: [],
}

/** The decision for a technical view. Without one (too few bars) it is a neutral, guarded "watch". */
export function decide(technical: Scored | null, evidence: Evidence): Decision {
  if (technical === null) {
    return {
      score: NEUTRAL_SCORE,
      rawScore: NEUTRAL_SCORE,
      advice: 'watch',
      action: 'watch',
      type: 'hold',
      trend: 'sideways',
      confidence: 'low',
      guard: 'insufficient_bars',
      guardValues: {},
      interventions: [],
    }
  }
  const guard = guardOf(technical)
  const advice = guard === null ? signalFor(technical) : GUARDED[guard]
  const action = ACTION[advice]
  const { total } = technical.score
  const score = guard !== null && isOfHorizon(guard) ? Math.min(HELD_TO, Math.max(HELD_FROM, total)) : total
  return {
    score,
    rawScore: total,
    advice,
    action,
    type: action === 'buy' || action === 'sell' ? action : 'hold',
    trend: trendOf(technical),
    confidence: confidenceOf({ score, action, guard }, evidence),
    guard,
    guardValues: { score: total },
    interventions: guard === null ? [] : [{ guard, from: technical.signal, to: advice, rawScore: total, score }],
  }
}

/** The score of advice that a rule holds back is in this part of the middle band. */
export const HELD_FROM = 45
export const HELD_TO = 59

type ScoreGuard = 'trend_unconfirmed' | 'trend_against_score' | 'buy_in_long_fall' | 'sell_in_long_rise'

const GUARDED = {
  trend_unconfirmed: 'watch',
  trend_against_score: 'watch',
  buy_in_long_fall: 'watch',
  sell_in_long_rise: 'hold',
} as const satisfies Record<ScoreGuard, Advice>

const isOfHorizon = (guard: ScoreGuard): boolean => guard === 'buy_in_long_fall' || guard === 'sell_in_long_rise'

/**
 * A score of 60 or more means a purchase. Averages that disagree prevent it; falling averages do not turn it into a
 * sale either.
 */
function guardOf({ score, signal, horizons }: Scored): ScoreGuard | null {
  if (score.total >= 60 && signal === 'watch') return 'trend_unconfirmed'
  const action = ACTION[signal]
  if (score.total >= 60 && action === 'sell') return 'trend_against_score'
  if (action === 'buy') return standing(horizons, 'buy') === 'against' ? 'buy_in_long_fall' : null
  return action === 'sell' && standing(horizons, 'sell') === 'against' ? 'sell_in_long_rise' : null
}

/** While one of the longer horizons points the other way, no signal is "strong". */
function signalFor({ signal, horizons }: Scored): Signal {
  if (signal === 'strong_buy' && standing(horizons, 'buy') === 'mixed') return 'buy'
  return signal === 'strong_sell' && standing(horizons, 'sell') === 'mixed' ? 'sell' : signal
}

/** The word for the trend: a short move is not called the stock's trend while the longer horizons point the other way. */
function trendOf({ trend, horizons }: Scored): TrendPrediction {
  const { short } = horizons
  const stands = short === 'up' || short === 'down' ? standing(horizons, short === 'up' ? 'buy' : 'sell') : 'along'
  if (stands === 'against') return 'sideways'
  return stands === 'along' ? TREND[trend] : WITHOUT_STRENGTH[TREND[trend]]
}

const WITHOUT_STRENGTH: Record<TrendPrediction, TrendPrediction> = {
  strong_bullish: 'bullish',
  bullish: 'bullish',
  sideways: 'sideways',
  bearish: 'bearish',
  strong_bearish: 'bearish',
  none: 'none',
}

const CONFIDENCE: readonly Confidence[] = ['low', 'medium', 'high']
const CLEAR_DISTANCE = 20

type Judged = { score: number; action: Action; guard: GuardCode | null }

function confidenceOf({ score, action, guard }: Judged, { coreIsSound, flowKnown }: Evidence): Confidence {
  let level = Math.abs(score - NEUTRAL_SCORE) >= CLEAR_DISTANCE ? 2 : 1
  if (action === 'buy' && !flowKnown) level -= 1
  if (guard !== null || !coreIsSound) level = Math.min(level, 1)
  return CONFIDENCE[level] ?? 'low'
}
