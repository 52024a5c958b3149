import { expect, test } from 'vitest'
import { ledgerEntryOf, outcomeOf, scoresOf } from '../../../src/analysis/evidence/ledger.ts'
import { adviceIn, type LedgerContent } from '../../../src/analysis/evidence/ledger-content.ts'
import { METHOD_VERSION } from '../../../src/analysis/evidence/vocabulary.ts'
import type { NewAnalysis } from '../../../src/db/analyses.ts'
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

const reportWith = (raw_result: unknown) => JSON.stringify({ details: { raw_result } })
const LEVELS = [
  { key: 'ideal_buy', price: 99 },
  { key: 'stop_loss', price: 95 },
  { key: 'take_profit', price: 110 },
]
const RAW = { confidence_probability: 0.62, dashboard: { battle_plan: { levels: LEVELS } } }
const PHASE = JSON.stringify({ effective_daily_bar_date: '2026-03-19' })

/** What the ledger keeps of a report that was made after the close of 20 March 2026. */
function entryOf(change: Partial<NewAnalysis> = {}) {
  const analysis = {
    ...{ owner: 'ann', queryId: 'q', key: '600519', reportType: 'detailed', createdAt: '2026-03-20T08:30:00.000000Z' },
    ...{ action: 'buy', sentimentScore: 70, currentPrice: 100, dataNotice: null },
    ...{ report: reportWith(RAW), marketPhaseSummary: PHASE },
    ...change,
  }
  return ledgerEntryOf(analysis as NewAnalysis)
}
const contentOf = (change?: Partial<NewAnalysis>) => JSON.parse(entryOf(change)?.content ?? 'null') as LedgerContent

test('the ledger keeps all that an advice is scored by, in members of a fixed order, as their text is hashed', () => {
  const content = {
    ...{ query_id: 'q', key: '600519', created_at: '2026-03-20T08:30:00.000000Z', method_version: METHOD_VERSION },
    ...{ session_date: '2026-03-19', action: 'buy', score: 70, price: 100, stop_loss: 95, take_profit: 110 },
    ...{ confidence_probability: 0.62, unscorable: null },
  }
  expect(entryOf()).toEqual({ owner: 'ann', queryId: 'q', content: JSON.stringify(content), unscorable: null })
  expect(entryOf({ reportType: 'market_review' })).toBeNull()
  // While a session runs the advice is one of it, and of a sample it is what the sample ends with.
  const running = { createdAt: '2026-03-20T02:00:00.000000Z' }
  expect(contentOf(running).session_date).toBe('2026-03-20')
  expect(contentOf({ ...running, dataNotice: 'sample' }).session_date).toBe('2026-03-19')
  expect(contentOf({ ...running, key: 'none of ours' }).session_date).toBe('2026-03-19')
  // What a report does not have is null, and so is what no report can have.
  const none = { stop_loss: null, take_profit: null }
  expect(contentOf({ report: reportWith({ confidence_probability: null, dashboard: null }) })).toMatchObject({
    ...{ ...none, confidence_probability: null, unscorable: null },
  })
  for (const odd of [{}, { dashboard: {} }, { dashboard: { battle_plan: { levels: 'many' } } }, { dashboard: 7 }])
    expect(contentOf({ report: reportWith({ ...odd, confidence_probability: 'high' }) })).toMatchObject({
      ...{ ...none, confidence_probability: null, unscorable: null },
    })
})

test('what can never be scored says why from the beginning, the first reason before the others', () => {
  const nothing = { action: null, currentPrice: null, marketPhaseSummary: null } as const
  const cases: [Partial<NewAnalysis>, LedgerContent['unscorable']][] = [
    [{}, null],
    [{ ...nothing, report: '{', dataNotice: 'sample' }, 'sample'],
    [{ ...nothing, report: '{' }, 'unreadable'],
    [{ report: '{}' }, 'unreadable'],
    [nothing, 'no_advice'],
    [{ ...nothing, action: 'buy' }, 'no_price'],
    [{ marketPhaseSummary: null }, 'no_session'],
    [{ marketPhaseSummary: '{}' }, 'no_session'],
    [{ marketPhaseSummary: JSON.stringify({ effective_daily_bar_date: null }) }, 'no_session'],
  ]
  for (const [change, unscorable] of cases) {
    const entry = entryOf(change)
    expect([change, entry?.unscorable, contentOf(change).unscorable]).toEqual([change, unscorable, unscorable])
    const row = { content: entry?.content ?? '', queryId: 'q', unscorable }
    expect(adviceIn(row)).toEqual({ advice: contentOf(change), isTrue: true })
    // The columns beside the text must say what it says.
    expect(adviceIn({ ...row, queryId: 'p' }).isTrue).toBe(false)
    expect(adviceIn({ ...row, unscorable: unscorable === null ? 'sample' : null }).isTrue).toBe(false)
  }
  for (const content of ['', '{', '{}', 'null']) {
    const { advice, isTrue } = adviceIn({ content, queryId: 'q', unscorable: null })
    expect([advice, isTrue, outcomeOf(advice, BARS)]).toMatchObject([null, false, { reason: 'unreadable' }])
  }
})

test('an advice of before this version is of the session that ran when it was given', () => {
  const running = { created_at: `${dateAt(30)}T02:00:00.000000Z`, session_date: dateAt(29) }
  expect(outcomeOf(advice('buy', 0, running), BARS)).toEqual(outcomeOf(advice('buy', 30), BARS))
  expect(outcomeOf(advice('buy', 0, { session_date: null }), BARS).reason).toBe('no_session')
  expect(outcomeOf(advice('sing', 10), BARS).reason).toBe('no_advice')
  expect(outcomeOf(advice(null, 10), BARS).reason).toBe('no_advice')
  expect(outcomeOf(advice('buy', 10), []).reason).toBe('too_young')
})
