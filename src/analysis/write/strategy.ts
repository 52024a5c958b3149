// Levels, horizons and the plan as text and figures.

import type { Consistency } from '../../market/consistency/examine.ts'
import type { Adjustment, Touch } from '../../market/consistency/types.ts'
import type { CurrencyCode, LevelBasis } from '../codes.ts'
import { isOutdated, isUntraded } from '../judge/guardrails.ts'
import type { Judged } from '../judge/judge.ts'
import { LEAST_REWARD_RISK, type Level, type StrategyLevels, type TradePlan } from '../judge/levels.ts'
import type { ReportLanguage, ReportStrategy } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { alarmFor, markFor, withMark } from '../texts/findings.ts'
import { aside, fixed, withUnit } from '../texts/format.ts'
import type { HorizonKey } from '../texts/texts.ts'

type PriceStyle = { decimals: number; currency: CurrencyCode; language: ReportLanguage; consistency: Consistency }

/** The basis of a level; its name says so if it is an extreme of adjusted bars. */
export function basisText(basis: LevelBasis, { kind }: Adjustment, language: ReportLanguage): string {
  const { adjustedYear } = textsOf(language).consistency
  const isYear = basis === 'year_low' || basis === 'year_high'
  return isYear && kind === 'forward' ? adjustedYear[basis] : textsOf(language).report.basis[basis]
}

/** Buying prices are shown only when nothing should be sold, and that decision depends on volumes. */
const OF_PURCHASES: readonly Touch[] = ['volume']

/** A level as text, with its reason and the warnings of checks: 1480.00元（MA10附近）. */
export function levelText(
  level: Level,
  { decimals, currency, language, consistency }: PriceStyle,
  decidedBy: readonly Touch[] = [],
): string {
  const labels = textsOf(language).report
  const { basis, offsetAtr } = level
  // A price that follows from a ratio is exactly at its basis, not near it.
  const here = basis === 'reward' ? 'at' : 'near'
  const place = labels.place[offsetAtr === 0 ? here : offsetAtr < 0 ? 'below' : 'above']
  const reason = fill(place, {
    basis: basisText(basis, consistency.adjustment, language),
    n: Math.abs(offsetAtr),
  })
  const text = withUnit(fixed(level.price, decimals), currency, language) + aside(reason, language)
  return withMark(text, markFor(consistency, ['levels'], language) || alarmFor(consistency, decidedBy, language))
}

/** The strategy of a report; null when not a single level could be derived. */
export function strategyOf(levels: StrategyLevels, style: PriceStyle): ReportStrategy | null {
  const text = (level: Level | null, decidedBy?: readonly Touch[]) =>
    level === null ? null : levelText(level, style, decidedBy)
  const strategy = {
    ideal_buy: text(levels.idealBuy, OF_PURCHASES),
    secondary_buy: text(levels.secondaryBuy, OF_PURCHASES),
    stop_loss: text(levels.stopLoss),
    take_profit: text(levels.takeProfit),
  }
  return Object.values(strategy).every((value) => value === null) ? null : strategy
}

/** The levels as numbers, for charts. */
export function levelRows({ idealBuy, secondaryBuy, stopLoss, takeProfit }: StrategyLevels) {
  const named = Object.entries({
    ideal_buy: idealBuy,
    secondary_buy: secondaryBuy,
    stop_loss: stopLoss,
    take_profit: takeProfit,
  })
  return named.flatMap(([key, level]) => {
    return level === null ? [] : [{ key, price: level.price, basis: level.basis, offset_atr: level.offsetAtr }]
  })
}

// How long the verdict is valid, and what its plan can win for its risk, as text and figures.

type StrategyFacts = Pick<Judged, 'technical' | 'periods' | 'language'>

const KEYS: readonly HorizonKey[] = ['short', 'medium', 'long', 'weekly', 'monthly']

/** Each horizon with its direction and text; null without a technical view. */
export function wireHorizons({ technical, periods, language }: StrategyFacts) {
  if (technical === null || periods === null) return null
  const texts = textsOf(language).outlook
  const directions = { ...technical.horizons, ...periods }
  const rows = KEYS.map((key) => {
    return {
      key,
      label: texts.horizon[key],
      direction: directions[key],
      direction_label: texts.direction[directions[key]],
    }
  })
  const told = rows.map(({ label, direction_label }) => `${label}${texts.colon}${direction_label}`)
  return { rows, holds: texts.holds, text: [...told, texts.holds].join(texts.join) }
}

/** The part of the capital, in percent, that one trade may lose: the size of a position is computed from it. */
const RISK_BUDGET_PCT = 1

/** The plan of a purchase as figures and text; or why there is none. */
export function wirePlan(judged: Judged) {
  const { technical, plan, decision, decimals, currency, language } = judged
  if (technical === null || decision.action === null) return null
  const texts = textsOf(language).outlook
  const least = { least_reward_risk: LEAST_REWARD_RISK }
  if (decision.type === 'sell') return { ...least, text: texts.noPlanOfSale }
  if (isUntraded(judged.consistency)) return { ...least, text: texts.noPlanUntraded }
  if (isOutdated(judged)) return { ...least, text: texts.noPlanOfOld }
  if (plan === null) return { ...least, text: fill(texts.noPlan, { least: LEAST_REWARD_RISK }) }
  const price = (value: number) => withUnit(fixed(value, decimals), currency, language)
  const values = { entry: price(plan.entry), most: price(floorTo(plan.mostEntry, decimals)) }
  const shares = { reward: fixed(plan.rewardPct, 1), risk: fixed(plan.riskPct, 1), cost: fixed(plan.costPct, 2) }
  return {
    ...least,
    entry: plan.entry,
    stop_loss: plan.stop,
    take_profit: plan.target,
    most_entry: floorTo(plan.mostEntry, decimals),
    reward_pct: rounded(plan.rewardPct),
    risk_pct: rounded(plan.riskPct),
    reward_risk: floorTo(plan.ratio, 2),
    cost_pct: rounded(plan.costPct),
    risk_budget_pct: RISK_BUDGET_PCT,
    position_pct: positionPct(plan),
    text: [
      fill(texts.plan, { ...values, ...shares, ratio: fixed(floorTo(plan.ratio, 2), 2) }),
      fill(texts.size, { budget: RISK_BUDGET_PCT, size: sizeText(plan) }),
    ].join(texts.join),
  }
}

/** The share of the capital with which the stop loses exactly the budget: the only size in a report. */
const positionPct = ({ riskPct }: TradePlan): number => floorTo(Math.min(100, (RISK_BUDGET_PCT / riskPct) * 100), 1)

export const sizeText = (plan: TradePlan): string => fixed(positionPct(plan), 1)

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4 + 0

/** Limits and ratios are only rounded down. */
function floorTo(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.floor(value * scale + 1e-9) / scale
}
