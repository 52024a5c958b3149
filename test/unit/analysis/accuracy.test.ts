import fc from 'fast-check'
import { expect, test } from 'vitest'
import { moodOf } from '../../../src/analysis/gather/previous.ts'
import {
  type Advised,
  accuracyOf,
  advisedSession,
  HORIZONS,
  returnsAfter,
  wilson,
} from '../../../src/analysis/judge/accuracy.ts'
import { Action } from '../../../src/analysis/schemas.ts'
import type { StoredAnalysis } from '../../../src/db/analyses.ts'
import { anyBars, barsOf } from './series.ts'

const RISING = barsOf(Array.from({ length: 40 }, (_, i) => 100 + i))
const at = (index: number): string => RISING[index]?.date ?? ''
const advice = (action: Action, index: number): Advised => ({ action, date: at(index), bars: RISING })

test('returns run from the close of the advice to the close so many sessions later, in one scale of prices', () => {
  expect(returnsAfter(advice('buy', 10))).toEqual({
    5: (115 / 110 - 1) * 100,
    10: (120 / 110 - 1) * 100,
    20: (130 / 110 - 1) * 100,
  })
  expect(returnsAfter(advice('buy', 30))).toMatchObject({ 10: null, 20: null })
  // A weekend or a suspended day belongs to the session before it.
  expect(returnsAfter({ action: 'buy', date: '2026-03-15', bars: RISING })[5]).not.toBeNull()
  expect(returnsAfter({ action: 'buy', date: '2001-01-01', bars: RISING })).toEqual({ 5: null, 10: null, 20: null })
})

test('advice belongs to the session that ran when it was given, by the clock of its market, else to the last one that was over', () => {
  const of = (key: string, at: string) => advisedSession(key, at, '2026-03-19')
  expect(of('600519', '2026-03-20T02:30:00.123000Z')).toBe('2026-03-20')
  // The lunch break is a part of it, the evening and the morning before it are not.
  expect(of('600519', '2026-03-20T04:30:00Z')).toBe('2026-03-20')
  for (const at of ['2026-03-20T01:00:00Z', '2026-03-19T12:00:00Z', '2026-03-21T02:30:00Z'])
    expect(of('600519', at)).toBe('2026-03-19')
  expect(of('AAPL', '2026-03-20T02:30:00Z')).toBe('2026-03-19')
  expect(of('AAPL', '2026-03-20T15:00:00Z')).toBe('2026-03-20')
  expect(advisedSession('what is this?', '2026-03-20T02:30:00Z', null)).toBeNull()
})

test('a hit is what the advice wanted: a rise, a fall, or calm; what is too young is pending and not counted', () => {
  const result = accuracyOf([advice('buy', 5), advice('sell', 5), advice('hold', 5), advice('watch', 38)])
  expect([result.total, result.pending]).toEqual([4, 1])
  const [five] = result.overall
  expect(five).toMatchObject({ horizon: 5, count: 3, hits: 2 })
  const of = (action: Action) => result.by_action.find((row) => row.action === action)?.horizons[0]
  expect(of('buy')).toMatchObject({ count: 1, hits: 1, hit_rate: 1 })
  expect(of('sell')).toMatchObject({ count: 1, hits: 0, hit_rate: 0 })
  expect(of('hold')).toMatchObject({ count: 1, hits: 1 })
  expect(of('watch')).toMatchObject({ count: 0, hit_rate: null, hit_rate_low: null, average_return_pct: null })
  expect(accuracyOf([])).toMatchObject({ total: 0, pending: 0, by_action: [] })
})

test('one hit of one is no certainty: the interval says how little is known', () => {
  const one = wilson(1, 1)
  expect(one?.low).toBeCloseTo(0.2065, 3)
  expect(one?.high).toBe(1)
  expect(wilson(50, 100)?.low).toBeCloseTo(0.4038, 3)
  expect(wilson(0, 0)).toBeNull()
})

test('for any reports rates lie within their interval and hits within their count', () => {
  const past = fc.record({
    action: fc.constantFrom(...Action.options),
    bars: anyBars,
    date: fc.constantFrom('2025-12-01', '2026-02-02', '2026-03-20'),
  })
  fc.assert(
    fc.property(fc.array(past, { maxLength: 20 }), (some) => {
      const { overall, by_action } = accuracyOf(some)
      expect(overall.map(({ horizon }) => horizon)).toEqual([...HORIZONS])
      for (const row of [...overall, ...by_action.flatMap(({ horizons }) => horizons)]) {
        expect(row.hits).toBeLessThanOrEqual(row.count)
        if (row.hit_rate === null) continue
        expect(row.hit_rate).toBeGreaterThanOrEqual(row.hit_rate_low ?? 2)
        expect(row.hit_rate).toBeLessThanOrEqual(row.hit_rate_high ?? -1)
        expect(Number.isFinite(row.average_return_pct)).toBe(true)
      }
    }),
    { numRuns: 30 },
  )
})

test("the market's mood is that of a review of its latest session, and of no other", () => {
  const now = Date.parse('2026-03-20T08:30:00Z')
  const review = (contextSnapshot: unknown) => ({ contextSnapshot: JSON.stringify(contextSnapshot) }) as StoredAnalysis
  const light = (status: string, trade_date = '2026-03-20', region = 'cn') => ({ region, trade_date, status })
  expect(moodOf(review({ market_light_snapshots: [light('red')] }), 'cn', now)).toBe('defensive')
  expect(moodOf(review({ market_light_snapshots: { cn: light('green') } }), 'cn', now)).toBe('risk_on')
  expect(moodOf(review({ market_light_snapshots: [light('red', '2026-03-19')] }), 'cn', now)).toBeNull()
  expect(moodOf(review({ market_light_snapshots: [light('red', '2026-03-20', 'us')] }), 'cn', now)).toBeNull()
  for (const odd of [{}, null, { market_light_snapshots: 'x' }]) expect(moodOf(review(odd), 'cn', now)).toBeNull()
  expect(moodOf({ contextSnapshot: '{' } as StoredAnalysis, 'cn', now)).toBeNull()
  expect(moodOf(null, 'cn', now)).toBeNull()
})
