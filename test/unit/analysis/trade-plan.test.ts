import { expect, test } from 'vitest'
import { walkOf } from '../../../scripts/evaluate/walks.ts'
import { decide } from '../../../src/analysis/judge/decision.ts'
import { heldToPlan } from '../../../src/analysis/judge/guardrails.ts'
import {
  costsOf,
  hasPlan,
  LEAST_REWARD_RISK,
  type Level,
  type StrategyLevels,
  shownLevels,
  strategyLevels,
  tradePlan,
} from '../../../src/analysis/judge/levels.ts'
import { type Technical, technicalView } from '../../../src/analysis/judge/signals.ts'
import { barsOf, wave } from './series.ts'

const at = (price: number): Level => ({ price, basis: 'ma5', offsetAtr: 0 })
const levels = (ideal: number, second: number, stop: number, target: number): StrategyLevels => {
  return { idealBuy: at(ideal), secondaryBuy: at(second), stopLoss: at(stop), takeProfit: at(target) }
}
const FREE = { buy: 0, sell: 0 }
const CN = { market: 'cn', kind: 'stock' } as const

test('what a plan wins and risks is counted at its entry, after the costs of both sides', () => {
  expect(tradePlan(levels(100, 97, 95, 110), FREE, 2)).toEqual({
    ...{ entry: 100, stop: 95, target: 110, mostEntry: 101 },
    ...{ rewardPct: 10, riskPct: 5, ratio: 2, costPct: 0 },
  })
  // Mainland, since 28 August 2023: transfer fee 0.001 %, stamp duty 0.05 % of the sale, commission 0.025 %, half spread 0.05 %.
  const costs = costsOf(CN, '2026-03-20')
  expect(costs.buy).toBeCloseTo(0.00076, 10)
  expect(costs.sell).toBeCloseTo(0.00126, 10)
  const plan = tradePlan(levels(100, 97, 95, 110), costs, 2)
  const [paid, lost, won] = [100 * 1.00076, 95 * 0.99874, 110 * 0.99874]
  expect(plan?.ratio).toBeCloseTo((won - paid) / (paid - lost), 10)
  expect(plan?.costPct).toBeCloseTo(0.202, 10)
  expect(plan?.ratio).toBeLessThan(2)
})

test('an entry that wins too little for what it risks is taken down to where it does, or there is no plan', () => {
  const lowered = tradePlan(levels(100, 97, 95, 106), FREE, 2)
  expect(lowered).toMatchObject({ entry: 99.4, mostEntry: 99.4 })
  expect(lowered?.ratio).toBeCloseTo(LEAST_REWARD_RISK, 9)
  expect(shownLevels(levels(100, 97, 95, 106), lowered, false).idealBuy).toEqual({
    ...{ price: 99.4, basis: 'reward', offsetAtr: 0 },
  })
  // Not even the second price to buy at wins enough.
  expect(tradePlan(levels(100, 99.5, 90, 104), FREE, 2)).toBeNull()
  expect(tradePlan({ ...levels(100, 97, 95, 110), stopLoss: null }, FREE, 2)).toBeNull()
})

test('where nothing should be bought no price to buy at is shown', () => {
  const some = levels(100, 97, 95, 110)
  const bare = { ...some, idealBuy: null, secondaryBuy: null }
  const plan = tradePlan(some, FREE, 2)
  expect(shownLevels(some, plan, false)).toEqual(some)
  expect(shownLevels(some, plan, true)).toEqual(bare)
  expect(shownLevels(some, null, false)).toEqual(bare)
})

test('no plan of any walk risks more than it can win, and its levels keep their order', () => {
  let [plans, sales] = [0, 0]
  for (let seed = 1; seed <= 150; seed++) {
    const { instrument, bars } = walkOf({ seed, bars: 300, drift: 0 })
    const [technical, last] = [technicalView(bars), bars.at(-1)]
    if (technical === null || last === undefined) throw new Error('the walk is too short')
    const [price, costs] = [last.close, costsOf(instrument, last.date)]
    const found = strategyLevels(technical, price, 2)
    const plan = tradePlan(found, costs, 2)
    expect(hasPlan({ side: 'buy', technical, price, decimals: 2 }, costs)).toBe(plan !== null)
    sales += hasPlan({ side: 'sell', technical, price, decimals: 2 }, costs) ? 1 : 0
    if (plan === null) continue
    plans += 1
    expect(plan.ratio).toBeGreaterThanOrEqual(LEAST_REWARD_RISK - 1e-9)
    const { idealBuy, secondaryBuy, stopLoss } = shownLevels(found, plan, false)
    expect(idealBuy?.price).toBe(plan.entry)
    expect(plan.entry).toBeGreaterThanOrEqual(secondaryBuy?.price ?? Number.POSITIVE_INFINITY)
    expect(secondaryBuy?.price).toBeGreaterThan(stopLoss?.price ?? Number.POSITIVE_INFINITY)
  }
  // The rule is the same for sales, so it lets about as many through.
  expect(plans).toBeGreaterThan(75)
  expect(Math.abs(plans - sales)).toBeLessThan(25)
})

const SOUND = { coreIsSound: true, flowKnown: true }

function scoredAs(over: Partial<Technical>, total: number): Technical {
  const base = technicalView(barsOf(wave(60, 0)))
  if (base === null) throw new Error('the series is too short')
  return { ...base, ...over, score: { ...base.score, total } }
}

test('a purchase or a sale without a plan is held back by a named rule', () => {
  const along = { short: 'up', medium: 'up', long: 'up' } as const
  const bought = decide(scoredAs({ trend: 'bull', signal: 'strong_buy', horizons: along }, 85), SOUND)
  expect(heldToPlan(bought, () => true)).toBe(bought)
  expect(heldToPlan(bought, (side) => side === 'sell')).toMatchObject({
    ...{ advice: 'watch', action: 'watch', type: 'hold', guard: 'poor_reward', score: 59, rawScore: 85 },
  })
  const down = { short: 'down', medium: 'down', long: 'down' } as const
  const sold = decide(scoredAs({ trend: 'bear', signal: 'strong_sell', horizons: down }, 10), SOUND)
  expect(heldToPlan(sold, (side) => side === 'buy')).toMatchObject({
    ...{ advice: 'hold', action: 'hold', type: 'hold', guard: 'little_to_avoid', score: 45, rawScore: 10 },
  })
})
