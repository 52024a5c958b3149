import { expect, test } from 'vitest'
import { outcomeOf, scoresOf } from '../../../src/analysis/evidence/ledger.ts'
import type { LedgerContent } from '../../../src/analysis/evidence/ledger-content.ts'
import { barsOf } from './series.ts'

// Up by 1 % a session.
const BARS = barsOf(Array.from({ length: 60 }, (_, i) => 100 * 1.01 ** i))
const dateAt = (index: number) => BARS.at(index)?.date ?? ''

const advice = (action: string | null, index: number, over: Partial<LedgerContent> = {}): LedgerContent => ({
  ...{ query_id: 'q', key: '600519', created_at: '2026-03-20T08:00:00.000000Z', method_version: '2' },
  ...{ session_date: dateAt(index), action, score: 70, price: 100, stop_loss: 95, take_profit: 110 },
  ...{ confidence_probability: null, unscorable: null },
  ...over,
})

test('an advice is scored by the bars of the twenty sessions after its own, and by nothing sooner', () => {
  const pct = (sessions: number) => expect.closeTo((1.01 ** sessions - 1) * 100, 3)
  expect(outcomeOf(advice('buy', 39), BARS)).toEqual({
    ...{ state: 'scored', reason: null, right: true },
    ...{ return_5_pct: pct(5), return_10_pct: pct(10), return_20_pct: pct(20) },
  })
  expect(outcomeOf(advice('sell', 39), BARS)).toMatchObject({ state: 'scored', right: false })
  expect(outcomeOf(advice('watch', 39), BARS)).toMatchObject({ state: 'scored', right: false })
  expect(outcomeOf(advice('buy', 40), BARS)).toMatchObject({
    ...{ state: 'pending', reason: 'too_young', right: null },
    ...{ return_5_pct: pct(5), return_20_pct: null },
  })
})

test('what cannot be scored says why, and is counted', () => {
  const rows = [
    { advice: advice('buy', 10), bars: BARS },
    { advice: advice('buy', 11), bars: BARS },
    { advice: advice('sell', 12), bars: BARS },
    { advice: advice('buy', -1), bars: BARS },
    { advice: advice('buy', 0, { session_date: '2027-01-04' }), bars: BARS },
    { advice: advice('buy', 0, { session_date: '2020-01-02' }), bars: BARS },
    { advice: advice('buy', 0), bars: 'no_bars' as const },
    { advice: advice('buy', 0), bars: 'bad_bars' as const },
    { advice: advice('buy', 0, { unscorable: 'sample' }), bars: BARS },
  ]
  const told = rows.map(({ advice: one, bars }) => ({ advice: one, outcome: outcomeOf(one, bars) }))
  expect(told.map(({ outcome }) => outcome.reason)).toEqual([
    ...[null, null, null, 'too_young', 'too_young', 'no_session_bar', 'no_bars', 'bad_bars', 'sample'],
  ])
  const scores = scoresOf(told)
  expect(scores.states).toEqual([
    { state: 'scored', count: 3 },
    { state: 'pending', count: 2 },
    { state: 'no_bars', count: 3 },
    { state: 'unscorable', count: 1 },
  ])
  expect(scores.not_scored.map(({ count }) => count)).toEqual([1, 1, 1, 2])
  expect(scores.actions).toMatchObject([
    { action: 'buy', count: 2, right: 2, mean_return_pct: expect.closeTo((1.01 ** 20 - 1) * 100, 3) },
    { action: 'sell', count: 1, right: 0 },
  ])
  expect(scoresOf([]).actions).toEqual([])
})

test('advice that was given while a session ran is measured from the close of that session, in rows of before too', () => {
  const [before, running] = [dateAt(38), dateAt(39)]
  // Half past ten in Shanghai; the close before is not what the advice was given at.
  const live = { created_at: `${running}T02:30:00.000000Z`, session_date: before }
  const jump = BARS.map((bar, i) => (i >= 39 ? { ...bar, close: bar.close * 1.05 } : bar))
  const ten = (over: Partial<LedgerContent>) => outcomeOf(advice('buy', 38, over), jump).return_10_pct
  expect(ten(live)).toBeCloseTo((1.01 ** 10 - 1) * 100, 3)
  expect(ten({ ...live, session_date: running })).toBe(ten(live))
  // Before the opening, and after the close of the day before, the close before is the one.
  for (const time of [`${running}T01:00:00.000000Z`, `${before}T08:00:00.000000Z`]) {
    expect(ten({ ...live, created_at: time })).toBeCloseTo((1.05 * 1.01 ** 10 - 1) * 100, 3)
  }
})
