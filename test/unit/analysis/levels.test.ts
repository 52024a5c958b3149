import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide } from '../../../src/analysis/judge/decision.ts'
import { nearbyLevels, strategyLevels } from '../../../src/analysis/judge/levels.ts'
import { type Technical, technicalView } from '../../../src/analysis/judge/signals.ts'
import { levelText, strategyOf } from '../../../src/analysis/write/strategy.ts'
import type { Consistency } from '../../../src/market/consistency/examine.ts'
import type { Finding } from '../../../src/market/consistency/types.ts'
import { anyBars, barsOf, wave } from './series.ts'

const SOUND: Consistency = {
  ...{ findings: [], isBlocked: false, withheld: [], marks: {} },
  adjustment: { kind: 'none', source: 'sina' },
}

function technicalOf(closes: number[]): Technical {
  const technical = technicalView(barsOf(closes))
  if (technical === null) throw new Error('the series is too short')
  return technical
}

/** A technical view whose only levels are the given ones, with an ATR of 10. */
function withLevels(supports: Partial<Technical['indicators']>): Technical {
  const base = technicalOf(wave(60, 0))
  const none = { ma5: null, ma10: null, ma20: null, ma60: null, bollLower: null, bollUpper: null }
  return {
    ...base,
    indicators: { ...base.indicators, ...none, atr: 10, ...supports },
    swings: [],
    high20: 0,
    low20: 0,
    yearRange: null,
  }
}

test('levels stand on the nearest supports and resistances, each with its reason', () => {
  const technical = withLevels({ ma5: 1495, ma10: 1480, ma20: 1470, bollUpper: 1530 })
  const levels = strategyLevels(technical, 1498.2, 2)
  expect(levels).toEqual({
    idealBuy: { price: 1495, basis: 'ma5', offsetAtr: 0 },
    secondaryBuy: { price: 1480, basis: 'ma10', offsetAtr: 0 },
    stopLoss: { price: 1465, basis: 'ma20', offsetAtr: -0.5 },
    takeProfit: { price: 1530, basis: 'boll_upper', offsetAtr: 0 },
  })
  const style = { decimals: 2, currency: 'CNY', consistency: SOUND } as const
  expect(strategyOf(levels, { ...style, language: 'zh' })).toEqual({
    ideal_buy: '1495.00元（MA5附近）',
    secondary_buy: '1480.00元（MA10附近）',
    stop_loss: '1465.00元（MA20下方0.5倍ATR）',
    take_profit: '1530.00元（布林上轨附近）',
  })
  expect(levelText({ price: 1480, basis: 'ma10', offsetAtr: 0 }, { ...style, language: 'en' })).toBe(
    '1480.00 CNY (near MA10)',
  )
  expect(levelText({ price: 1480, basis: 'ma10', offsetAtr: 0 }, { ...style, language: 'ko' })).toBe(
    '1480.00위안 (MA10 부근)',
  )
})

test('where to buy hangs on volumes too, because they are a part of the advice; where to stop does not', () => {
  const levels = strategyLevels(withLevels({ ma5: 1495, ma10: 1480, ma20: 1470, bollUpper: 1530 }), 1498.2, 2)
  const told = (verdict: Finding['verdict']) => {
    const nothing = { detail: null, date: null, expected: null, found: null, count: null }
    const finding: Finding = { check: 'volume_units', verdict, touches: ['volume'], ...nothing }
    const consistency = { ...SOUND, findings: [finding] }
    const strategy = strategyOf(levels, { decimals: 2, currency: 'CNY', language: 'en', consistency })
    return Object.entries(strategy ?? {}).flatMap(([name, text]) => (text?.includes('⚠') ? [name] : []))
  }
  expect(told('warn')).toEqual(['ideal_buy', 'secondary_buy'])
  expect(told('not_possible')).toEqual([])
})

test('a level that stands at an average has the digits of that average, not those below them', () => {
  const technical = withLevels({ ma5: 1495.6789, ma10: 1480.126, ma20: 1470, bollUpper: 1530.677 })
  const { idealBuy, secondaryBuy, stopLoss, takeProfit } = strategyLevels(technical, 1498.2, 2)
  expect([idealBuy?.price, secondaryBuy?.price, takeProfit?.price]).toEqual([1495.68, 1480.13, 1530.68])
  expect(stopLoss).toEqual({ price: 1465, basis: 'ma20', offsetAtr: -0.5 })
  // Unless it would lie above the price.
  expect(strategyLevels(withLevels({ ma5: 100.0051 }), 100.0055, 2).idealBuy?.price).toBe(100)
})

test('where no support or resistance is in reach the levels are measured in ATRs, and say so', () => {
  expect(strategyLevels(withLevels({}), 1000, 2)).toEqual({
    idealBuy: { price: 990, basis: 'price', offsetAtr: -1 },
    secondaryBuy: { price: 980, basis: 'ideal_buy', offsetAtr: -1 },
    stopLoss: { price: 965, basis: 'secondary_buy', offsetAtr: -1.5 },
    takeProfit: { price: 1030, basis: 'price', offsetAtr: 3 },
  })
})

test('without a technical view, a movement or room above zero there is no level, and no strategy', () => {
  const nothing = { idealBuy: null, secondaryBuy: null, stopLoss: null, takeProfit: null }
  expect(strategyLevels(null, 100, 2)).toEqual(nothing)
  expect(strategyLevels(withLevels({ atr: 0 }), 100, 2)).toEqual(nothing)
  expect(strategyLevels(withLevels({ atr: 10 }), 8, 2)).toMatchObject({
    idealBuy: null,
    secondaryBuy: null,
    stopLoss: null,
  })
  expect(strategyOf(nothing, { decimals: 2, currency: 'USD', language: 'en', consistency: SOUND })).toBeNull()
})

test('for any series the levels keep their order and the nearby levels their side', () => {
  let derived = 0
  fc.assert(
    fc.property(anyBars, fc.integer({ min: 0, max: 4 }), (bars, decimals) => {
      const technical = technicalView(bars)
      const price = bars.at(-1)?.close ?? 0
      const { idealBuy, secondaryBuy, stopLoss, takeProfit } = strategyLevels(technical, price, decimals)
      const rising = [stopLoss, secondaryBuy, idealBuy].flatMap((level) => (level === null ? [] : [level.price]))
      expect(rising.every((level) => level > 0 && level <= price)).toBe(true)
      expect(rising.every((level, i) => level >= (rising[i - 1] ?? 0))).toBe(true)
      if (stopLoss && secondaryBuy) expect(stopLoss.price).toBeLessThan(secondaryBuy.price)
      if (takeProfit) expect(takeProfit.price).toBeGreaterThan(price)
      if (technical === null) return
      derived += stopLoss && takeProfit ? 1 : 0
      const { supports, resistances } = nearbyLevels(technical, price)
      expect(supports.every((level) => level.price <= price)).toBe(true)
      expect(resistances.every((level) => level.price > price)).toBe(true)
    }),
  )
  expect(derived).toBeGreaterThan(20)
})

test('the decision follows the signal unless a named guard says otherwise, and doubt only lowers confidence', () => {
  const sound = { coreIsSound: true, flowKnown: true }
  const view = (total: number, trend: Technical['trend'], signal: Technical['signal']): Technical => {
    const base = technicalOf(wave(60, 0))
    return { ...base, trend, signal, score: { ...base.score, total } }
  }
  expect(decide(view(85, 'bull', 'strong_buy'), sound)).toMatchObject({
    score: 85,
    advice: 'strong_buy',
    action: 'buy',
    type: 'buy',
    trend: 'bullish',
    confidence: 'high',
    guard: null,
  })
  expect(decide(view(85, 'bull', 'strong_buy'), { ...sound, flowKnown: false })).toMatchObject({
    advice: 'strong_buy',
    confidence: 'medium',
  })
  expect(decide(view(10, 'strong_bear', 'strong_sell'), { coreIsSound: false, flowKnown: false })).toMatchObject({
    advice: 'strong_sell',
    action: 'sell',
    confidence: 'medium',
  })
  expect(decide(view(65, 'consolidation', 'watch'), sound)).toMatchObject({
    advice: 'watch',
    guard: 'trend_unconfirmed',
  })
  expect(decide(view(65, 'bear', 'sell'), sound)).toMatchObject({
    action: 'watch',
    guard: 'trend_against_score',
  })
  expect(decide(view(45, 'bear', 'watch'), sound)).toMatchObject({ advice: 'watch', guard: null, confidence: 'medium' })
  expect(decide(null, sound)).toMatchObject({
    score: 50,
    advice: 'watch',
    guard: 'insufficient_bars',
    confidence: 'low',
  })
})

test('with 19 bars there is no technical view, with 20 there is one, and an MA60 from 60 on', () => {
  expect(technicalView(barsOf(wave(19, 1)))).toBeNull()
  const twenty = technicalOf(wave(20, 1))
  expect(twenty.indicators.ma60).toBeNull()
  expect(twenty.score.parts.find(({ key }) => key === 'macd')?.reason).toBe('macd_unknown')
  const sixty = technicalOf(wave(60, 1))
  expect(sixty.indicators.ma60).not.toBeNull()
  expect(sixty.trend).toBe('bull')
  expect(technicalOf(wave(60, -1)).trend).toBe('strong_bear')
})

test('a day built from a quote without volume has no volume ratio', () => {
  const bars = barsOf(wave(40, 0.5))
  expect(technicalView(bars, { lastVolumeKnown: true })?.indicators.volumeRatio).toBeCloseTo(1, 3)
  const unknown = technicalView(bars, { lastVolumeKnown: false })
  expect(unknown?.score.parts.find(({ key }) => key === 'volume')?.reason).toBe('volume_unknown')
})
