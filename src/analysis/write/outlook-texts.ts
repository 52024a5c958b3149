// For how long the verdict holds, and what its plan can win for what it risks, in words and in figures.

import { isOutdated, isUntraded } from '../judge/guardrails.ts'
import type { Judged } from '../judge/judge.ts'
import { LEAST_REWARD_RISK, type TradePlan } from '../judge/levels.ts'
import { fill, textsOf } from '../texts/book.ts'
import { fixed, withUnit } from '../texts/format.ts'
import type { HorizonKey } from '../texts/texts.ts'

type About = Pick<Judged, 'technical' | 'periods' | 'language'>

const KEYS: readonly HorizonKey[] = ['short', 'medium', 'long', 'weekly', 'monthly']

/** Each horizon with its direction and words; null without a technical view. */
export function wireHorizons({ technical, periods, language }: About) {
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

/** How much of the capital may be lost with one trade, in percent: what a size is stated for. */
export const RISK_BUDGET_PCT = 1

/** The plan of a purchase in figures and words; why there is none, where nothing should be bought. */
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

/** The share of the capital with which the stop loses the budget: the one size that a report tells. */
const positionPct = ({ riskPct }: TradePlan): number => floorTo(Math.min(100, (RISK_BUDGET_PCT / riskPct) * 100), 1)

export const sizeText = (plan: TradePlan): string => fixed(positionPct(plan), 1)

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4 + 0

/** Limits and ratios are never rounded to what they are not. */
function floorTo(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.floor(value * scale + 1e-9) / scale
}
