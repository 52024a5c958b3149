import { expect, test } from 'vitest'
import { decide } from '../../../src/analysis/judge/decision.ts'
import { type Horizons, isAbove, periodTrends, standing } from '../../../src/analysis/judge/horizons.ts'
import { type Technical, technicalView } from '../../../src/analysis/judge/signals.ts'
import { barsOf, bounce, wave } from './series.ts'

const SOUND = { coreIsSound: true, flowKnown: true }

test('a bounce inside a long fall is told for its horizon, and is neither bought nor called bullish', () => {
  const closes = bounce()
  const view = technicalView(barsOf(closes))
  expect(closes.at(-1)).toBeLessThan(0.7 * 200)
  expect(view?.trend).toMatch(/bull$/)
  expect(view?.horizons).toEqual({ short: 'up', medium: 'down', long: 'down' })
  const strong = view && { ...view, signal: 'strong_buy' as const, score: { ...view.score, total: 83 } }
  expect(decide(strong, SOUND)).toMatchObject({
    ...{ advice: 'watch', type: 'hold', trend: 'sideways', guard: 'buy_in_long_fall', score: 59, rawScore: 83 },
  })
})

test('the same upside down is held as well, and one longer horizon on its side takes the word strong away only', () => {
  const base = technicalView(barsOf(wave(60, 0)))
  if (base === null) throw new Error('the series is too short')
  const view = (horizons: Horizons, signal: Technical['signal'], total: number): Technical => {
    const trend = total > 50 ? 'strong_bull' : 'strong_bear'
    return { ...base, trend, signal, horizons, score: { ...base.score, total } }
  }
  const fallen = view({ short: 'down', medium: 'up', long: 'up' }, 'strong_sell', 12)
  expect(decide(fallen, SOUND)).toMatchObject({
    ...{ advice: 'hold', action: 'hold', trend: 'sideways', guard: 'sell_in_long_rise', score: 45, rawScore: 12 },
  })
  const mixed = decide(view({ short: 'up', medium: 'up', long: 'down' }, 'strong_buy', 88), SOUND)
  expect(mixed).toMatchObject({ advice: 'buy', trend: 'bullish', guard: null, score: 88 })
  const along = decide(view({ short: 'up', medium: 'unknown', long: 'unknown' }, 'strong_buy', 88), SOUND)
  expect(along).toMatchObject({ advice: 'strong_buy', trend: 'strong_bullish', guard: null })
})

test('against the longer horizons is what one of them contradicts and none supports', () => {
  const at = (medium: Horizons['medium'], long: Horizons['long']) => standing({ short: 'up', medium, long }, 'buy')
  expect([at('up', 'up'), at('sideways', 'unknown'), at('up', 'unknown')]).toEqual(['along', 'along', 'along'])
  expect([at('up', 'down'), at('down', 'up')]).toEqual(['mixed', 'mixed'])
  expect([at('down', 'down'), at('down', 'sideways'), at('unknown', 'down')]).toEqual(['against', 'against', 'against'])
})

test('what lies within a tenth of an ATR is level, whatever the price', () => {
  expect([isAbove(100.21, 100, 2), isAbove(100.19, 100, 2), isAbove(100, 100.21, 2)]).toEqual([true, false, false])
  expect([isAbove(100 + 1e-8, 100, null), isAbove(100.001, 100, null)]).toEqual([false, true])
})

test('weeks and months have a trend of their own, told once there are enough of them', () => {
  const rise = barsOf(wave(300, 0.3))
  expect(periodTrends(rise, 1)).toEqual({ weekly: 'up', monthly: 'up' })
  expect(periodTrends(barsOf(wave(300, -0.3)), 0.5)).toEqual({ weekly: 'down', monthly: 'down' })
  expect(periodTrends(rise.slice(-45), 1)).toEqual({ weekly: 'unknown', monthly: 'unknown' })
  expect(periodTrends(rise.slice(-90), 1)).toEqual({ weekly: 'up', monthly: 'unknown' })
  expect(periodTrends(barsOf(Array.from({ length: 300 }, () => 100)), 1)).toEqual({
    weekly: 'sideways',
    monthly: 'sideways',
  })
})

test('while a session runs there is no volume ratio: daily bars do not tell what was traded by this time of other days', () => {
  const bars = barsOf(wave(80, 0.1))
  const ratio = (partial: boolean) => technicalView(bars, { lastVolumeKnown: true, partial })?.indicators.volumeRatio
  expect([ratio(true), ratio(false)]).toEqual([null, expect.closeTo(1, 3)])
})
