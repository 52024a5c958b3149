// What a plan can win for what it risks, after the costs of the trade, at its own entry. A purchase that cannot win one and a half times
// what it risks is no plan to buy. A sale is held to the same rule, read upside down: what falling to the next support would save,
// against what rising to the next resistances would cost.

import { costShare } from '../../market/costs.ts'
import type { Instrument } from '../../market/instruments.ts'
import { floored, type StrategyLevels, strategyLevels, upsideDownLevels } from './levels.ts'
import type { Technical } from './signals.ts'

export const LEAST_REWARD_RISK = 1.5

/** Entry, stop and target in the order of a purchase; shares are of the entry with its costs. */
export type TradePlan = {
  entry: number
  stop: number
  target: number
  rewardPct: number
  riskPct: number
  ratio: number
  /** The highest price at which the plan still wins enough for what it risks. */
  mostEntry: number
  /** Of buying and selling, in percent of the amount. */
  costPct: number
}

/** What a trade costs on each side, as shares of its amount. */
export type Costs = { buy: number; sell: number }

export function costsOf(instrument: Pick<Instrument, 'market' | 'kind'>, date: string): Costs {
  return { buy: costShare(instrument, 'buy', date), sell: costShare(instrument, 'sell', date) }
}

/**
 * The plan of a purchase: bought at the ideal price, or below it, where only that wins enough for what it risks. Null where not even the
 * second price to buy at does, or where the chart has no levels.
 */
export function tradePlan(levels: StrategyLevels, costs: Costs, decimals: number): TradePlan | null {
  const { idealBuy, secondaryBuy, stopLoss, takeProfit } = levels
  if (idealBuy === null || secondaryBuy === null || stopLoss === null || takeProfit === null) return null
  const [stop, target] = [stopLoss.price, takeProfit.price]
  const [lost, won] = [stop * (1 - costs.sell), target * (1 - costs.sell)]
  const mostEntry = (won + LEAST_REWARD_RISK * lost) / (1 + LEAST_REWARD_RISK) / (1 + costs.buy)
  const entry = idealBuy.price <= mostEntry ? idealBuy.price : floored(mostEntry, decimals)
  if (entry < secondaryBuy.price) return null
  const paid = entry * (1 + costs.buy)
  return {
    ...{ entry, stop, target, mostEntry },
    rewardPct: ((won - paid) / paid) * 100,
    riskPct: ((paid - lost) / paid) * 100,
    ratio: (won - paid) / (paid - lost),
    costPct: (costs.buy + costs.sell) * 100,
  }
}

/** Whether a purchase, or a sale by the chart upside down, has a plan. A sale pays its costs on the other sides. */
export function hasPlan({ side, technical, price, decimals }: Question, costs: Costs): boolean {
  if (side === 'buy') return tradePlan(strategyLevels(technical, price, decimals), costs, decimals) !== null
  const turned = { buy: costs.sell, sell: costs.buy }
  return tradePlan(upsideDownLevels(technical, price, decimals), turned, decimals) !== null
}

type Question = { side: 'buy' | 'sell'; technical: Technical; price: number; decimals: number }

/** Levels as a report shows them: the entry is the plan's, and where nothing should be bought there is no price to buy at. */
export function shownLevels(levels: StrategyLevels, plan: TradePlan | null, isSale: boolean): StrategyLevels {
  if (isSale || plan === null || levels.idealBuy === null) return { ...levels, idealBuy: null, secondaryBuy: null }
  if (plan.entry === levels.idealBuy.price) return levels
  return { ...levels, idealBuy: { price: plan.entry, basis: 'reward', offsetAtr: 0 } }
}
