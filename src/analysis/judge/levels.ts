// Entry, exit and target prices. Every level is at a basis (an average, a turning point, a band) or a stated number of
// ATRs away from one, so that a reader can check it. The four levels keep their order: stop loss < secondary buy ≤
// ideal buy ≤ price < take profit; a level that cannot keep it is null.

import { costShare } from '../../market/costs.ts'
import type { Instrument } from '../../market/instruments.ts'
import type { LevelBasis } from '../codes.ts'
import { fixed } from '../texts/format.ts'
import type { Technical } from './signals.ts'

/** `offsetAtr` is the distance of the level from its basis, in ATRs; 0 is at the basis. */
export type Level = { price: number; basis: LevelBasis; offsetAtr: number }

export type StrategyLevels = {
  idealBuy: Level | null
  secondaryBuy: Level | null
  stopLoss: Level | null
  takeProfit: Level | null
}

export type Anchor = { price: number; basis: LevelBasis }

const NONE: StrategyLevels = { idealBuy: null, secondaryBuy: null, stopLoss: null, takeProfit: null }

// All in ATRs: how near a support must be to be the next entry, and the default distance without one.
const IDEAL_REACH = 2
const SECONDARY_GAP = 0.5
const SECONDARY_REACH = 3
const STOP_REACH = 2
const STOP_MARGIN = 0.5
const STOP_WITHOUT_SUPPORT = 1.5
const TARGET_GAP = 1
const TARGET_REACH = 6
const TARGET_WITHOUT_RESISTANCE = 3

/** The four levels around a price; all null without a technical view or without movement. */
export function strategyLevels(technical: Technical | null, price: number, decimals: number): StrategyLevels {
  return technical === null ? NONE : levelsAmong(anchors(technical), technical, { price, decimals })
}

/** The levels of the inverted chart, every price mirrored at the current one: used to evaluate a sale. */
function upsideDownLevels(technical: Technical, price: number, decimals: number): StrategyLevels {
  const turned = anchors(technical).map((anchor) => ({ ...anchor, price: 2 * price - anchor.price }))
  return levelsAmong(turned, technical, { price, decimals })
}

type Priced = { price: number; decimals: number }

function levelsAmong(among: Anchor[], { indicators: { atr } }: Technical, { price, decimals }: Priced): StrategyLevels {
  if (atr === null || atr <= 0 || price <= 0) return NONE
  const grid: Grid = { atr, decimals, anchors: among }
  const idealBuy = notAbove(price, ideal(grid, price))
  const secondaryBuy = idealBuy && notAbove(idealBuy.price, secondary(grid, idealBuy.price))
  const stop = secondaryBuy && stopLoss(grid, secondaryBuy.price)
  const target = takeProfit(grid, price)
  return {
    idealBuy,
    secondaryBuy,
    stopLoss: secondaryBuy && stop && stop.price > 0 && stop.price < secondaryBuy.price ? stop : null,
    takeProfit: target.price > price ? target : null,
  }
}

/** Prices at which the market may turn. */
function anchors({ indicators, swings, high20, low20, yearRange }: Technical): Anchor[] {
  const all: [LevelBasis, number | null | undefined][] = [
    ['ma5', indicators.ma5],
    ['ma10', indicators.ma10],
    ['ma20', indicators.ma20],
    ['ma60', indicators.ma60],
    ['low20', low20],
    ['high20', high20],
    ['boll_lower', indicators.bollLower],
    ['boll_upper', indicators.bollUpper],
    ['year_low', yearRange?.low],
    ['year_high', yearRange?.high],
    ...swings.map((swing): [LevelBasis, number] => ['swing', swing.price]),
  ]
  return all.flatMap(([basis, price]) => (price !== null && price !== undefined && price > 0 ? [{ price, basis }] : []))
}

export type NearbyLevels = { supports: Anchor[]; resistances: Anchor[] }

const MAX_NEARBY = 5

/** The nearest levels on either side of a price, nearest first. */
export function nearbyLevels(technical: Technical, price: number): NearbyLevels {
  const all = anchors(technical)
  const byDistance = (a: Anchor, b: Anchor) => Math.abs(a.price - price) - Math.abs(b.price - price)
  return {
    supports: all
      .filter((anchor) => anchor.price <= price)
      .sort(byDistance)
      .slice(0, MAX_NEARBY),
    resistances: all
      .filter((anchor) => anchor.price > price)
      .sort(byDistance)
      .slice(0, MAX_NEARBY),
  }
}

type Grid = { atr: number; decimals: number; anchors: Anchor[] }

function ideal(grid: Grid, price: number): Level {
  const support = highestBetween(grid, price - IDEAL_REACH * grid.atr, price)
  return support === null ? away(grid, { price, basis: 'price' }, -1) : onto(grid, support, price)
}

function secondary(grid: Grid, idealPrice: number): Level {
  const { atr } = grid
  const support = highestBetween(grid, idealPrice - SECONDARY_REACH * atr, idealPrice - SECONDARY_GAP * atr)
  return support === null ? away(grid, { price: idealPrice, basis: 'ideal_buy' }, -1) : onto(grid, support, idealPrice)
}

function stopLoss(grid: Grid, secondaryPrice: number): Level {
  const { atr } = grid
  const support = highestBetween(grid, secondaryPrice - STOP_REACH * atr, secondaryPrice - STOP_MARGIN * atr)
  if (support !== null) return away(grid, support, -STOP_MARGIN)
  return away(grid, { price: secondaryPrice, basis: 'secondary_buy' }, -STOP_WITHOUT_SUPPORT)
}

function takeProfit(grid: Grid, price: number): Level {
  const { atr, anchors } = grid
  const inReach = anchors.filter((anchor) => anchor.price >= price + TARGET_GAP * atr)
  const nearest = inReach.sort((a, b) => a.price - b.price)[0]
  if (nearest !== undefined && nearest.price <= price + TARGET_REACH * atr) return onto(grid, nearest)
  return away(grid, { price, basis: 'price' }, TARGET_WITHOUT_RESISTANCE)
}

function highestBetween({ anchors }: Grid, low: number, high: number): Anchor | null {
  const found = anchors.filter(({ price }) => price >= low && price <= high).sort((a, b) => b.price - a.price)
  return found[0] ?? null
}

/** A level at its anchor, with the digits that reports show for the anchor, unless that is above `most`. */
function onto({ decimals }: Grid, { price, basis }: Anchor, most = Number.POSITIVE_INFINITY): Level {
  const shown = Number(fixed(price, decimals))
  return { price: shown <= most ? shown : floored(price, decimals), basis, offsetAtr: 0 }
}

/**
 * A level at a number of ATRs from an anchor, rounded down to the exchange's price steps: never above, where an order
 * would fill too early.
 */
function away({ atr, decimals }: Grid, anchor: Anchor, offsetAtr: number): Level {
  return { price: floored(anchor.price + offsetAtr * atr, decimals), basis: anchor.basis, offsetAtr }
}

/** Rounded down to this many decimals. */
function floored(price: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.floor(price * scale) / scale
}

function notAbove(limit: number, level: Level): Level | null {
  return level.price > 0 && level.price <= limit ? level : null
}

// What a plan can win for its risk, after the costs of the trade, at its own entry. A purchase that cannot win one and
// a half times its risk is not a plan. A sale follows the same rule in the inverted chart: what a fall to the next
// support would save, compared with what a rise to the next resistances would cost.

export const LEAST_REWARD_RISK = 1.5

/** Entry, stop and target of a purchase; fractions are relative to the entry including its costs. */
export type TradePlan = {
  entry: number
  stop: number
  target: number
  rewardPct: number
  riskPct: number
  ratio: number
  /** The highest price at which the plan still wins enough for its risk. */
  mostEntry: number
  /** The costs of buying and selling, in percent of the amount. */
  costPct: number
}

/** The costs of a trade on each side, as fractions of its amount. */
export type Costs = { buy: number; sell: number }

export function costsOf(instrument: Pick<Instrument, 'market' | 'kind'>, date: string): Costs {
  return { buy: costShare(instrument, 'buy', date), sell: costShare(instrument, 'sell', date) }
}

/**
 * The plan of a purchase: bought at the ideal price, or below it if only that wins enough for the risk. Null when even
 * the secondary buying price does not, or when the chart has no levels.
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

/** Whether a purchase, or a sale in the inverted chart, has a plan. For a sale the costs of the two sides are swapped. */
export function hasPlan({ side, technical, price, decimals }: Question, costs: Costs): boolean {
  if (side === 'buy') return tradePlan(strategyLevels(technical, price, decimals), costs, decimals) !== null
  const turned = { buy: costs.sell, sell: costs.buy }
  return tradePlan(upsideDownLevels(technical, price, decimals), turned, decimals) !== null
}

type Question = { side: 'buy' | 'sell'; technical: Technical; price: number; decimals: number }

/** Levels as a report shows them: the entry is the plan's, and when nothing should be bought there is no buying price. */
export function shownLevels(levels: StrategyLevels, plan: TradePlan | null, isSale: boolean): StrategyLevels {
  const { idealBuy, secondaryBuy, stopLoss } = levels
  if (isSale || plan === null || idealBuy === null) {
    return { ...levels, idealBuy: null, secondaryBuy: null, stopLoss: without(levels, without(levels, stopLoss)) }
  }
  if (plan.entry === idealBuy.price) return levels
  const entry = { price: plan.entry, basis: 'reward', offsetAtr: 0 } as const
  return { ...levels, idealBuy: entry, secondaryBuy: without({ ...levels, secondaryBuy: null }, secondaryBuy) }
}

/** A level whose basis is another level that is not shown is described by that level's own basis. */
function without({ idealBuy, secondaryBuy }: StrategyLevels, level: Level | null): Level | null {
  const hidden = level?.basis === 'secondary_buy' ? secondaryBuy : level?.basis === 'ideal_buy' ? idealBuy : null
  return level === null || hidden === null
    ? level
    : { ...level, basis: hidden.basis, offsetAtr: level.offsetAtr + hidden.offsetAtr }
}
