// Where one answer of the judgement ends and the next one begins: the limits of docs/analysis-method.md, each on both of its sides.

import { expect, test } from 'vitest'
import { type Company, type Part, yearOfDividends } from '../../../src/analysis/gather/company.ts'
import type { PreviousReport } from '../../../src/analysis/gather/previous.ts'
import { type Decision, decide } from '../../../src/analysis/judge/decision.ts'
import {
  isOutdated,
  isUntraded,
  outdatedHeld,
  steadied,
  structureOf,
  untradedHeld,
} from '../../../src/analysis/judge/guardrails.ts'
import { liquidityOf, peerMultiples } from '../../../src/analysis/judge/market-comparison.ts'
import { type Technical, technicalView } from '../../../src/analysis/judge/signals.ts'
import type { Dividend, Peer } from '../../../src/market/company.ts'
import type { Consistency } from '../../../src/market/consistency/examine.ts'
import { type Finding, finding } from '../../../src/market/consistency/types.ts'
import { parseCode } from '../../../src/market/instruments.ts'
import { REPORT } from './company-reports.ts'
import { barsOf, wave } from './series.ts'

const TECHNICAL = technicalView(barsOf(wave(60, 0)))
if (TECHNICAL === null) throw new Error('the series is too short')
const BASE = TECHNICAL

function scored(total: number, signal: Technical['signal']): Decision {
  const trend = total >= 60 ? 'bull' : 'bear'
  const horizons = { short: 'sideways', medium: 'sideways', long: 'sideways' } as const
  const view = { ...BASE, trend, signal, horizons, score: { ...BASE.score, total } } as const
  return decide(view, { coreIsSound: true, flowKnown: true })
}

const SOUND: Consistency = {
  ...{ findings: [], isBlocked: false, withheld: [], marks: {} },
  adjustment: { kind: 'none', source: 'sina' },
}
const told = (detail: Finding['detail']): Consistency => ({
  ...SOUND,
  findings: [finding('missing_sessions', 'warn', { detail })],
})

test('a price is near, past or far from the extremes by fixed shares of them', () => {
  const at = (price: number) => {
    const view = { ...BASE, priorLow20: 1000, priorHigh20: 2000 }
    const { nearSupport, broken, nearResistance, breakout } = structureOf(view, price) ?? {}
    return Object.entries({ nearSupport, broken, nearResistance, breakout }).flatMap(([name, is]) => (is ? [name] : []))
  }
  // 3 % above the low is near it, 1.5 % below it has broken it; 3 % below the high is near it, 1 % above it is out of the range.
  const cases: [number, string[]][] = [
    [984.9, ['nearSupport', 'broken']],
    [985, ['nearSupport']],
    [1030, ['nearSupport']],
    [1030.1, []],
    [1939.9, []],
    [1940, ['nearResistance']],
    [2020, ['nearResistance']],
    [2020.1, ['breakout']],
  ]
  expect(cases.map(([price]) => [price, at(price)])).toEqual(cases)
  expect(structureOf({ ...BASE, priorLow20: 1000, priorHigh20: 2000 }, 0)).toBeNull()
  expect(structureOf({ ...BASE, priorLow20: null, priorHigh20: 2000 }, 1500)).toBeNull()
  expect(structureOf({ ...BASE, priorLow20: 1000, priorHigh20: 2000 }, 1500)).toMatchObject({
    ...{ support: 1000, resistance: 2000 },
  })
})

const [buy, sell, watch] = [scored(72, 'buy'), scored(25, 'sell'), scored(50, 'watch')]

test('nothing is bought or sold at a price that nobody traded at, or that the market has left behind', () => {
  expect([buy.type, sell.type, watch.type]).toEqual(['buy', 'sell', 'hold'])
  for (const detail of ['suspended', 'idle'] as const) {
    expect(isUntraded(told(detail))).toBe(true)
    expect(untradedHeld(watch, told(detail))).toBe(watch)
    // Its score goes to the nearest end of the part of the middle band that is kept for what is held.
    const held = { advice: 'watch', action: 'watch', type: 'hold', guard: 'not_traded', confidence: 'medium' }
    expect(untradedHeld(buy, told(detail))).toMatchObject({
      ...{ ...held, score: 59, rawScore: 72, guardValues: { score: 72 } },
      interventions: [{ guard: 'not_traded', from: 'buy', to: 'watch', rawScore: 72, score: 59 }],
    })
    expect(untradedHeld(sell, told(detail))).toMatchObject({ ...held, score: 45, rawScore: 25 })
  }
  expect(untradedHeld(buy, told('gap'))).toBe(buy)
  // A session that has just ended may be missing; two may not, but for a share that is suspended.
  expect([0, 1, 2].map((missedSessions) => isOutdated({ missedSessions, consistency: SOUND }))).toEqual([
    ...[false, false, true],
  ])
  expect(isOutdated({ missedSessions: 9, consistency: told('suspended') })).toBe(false)
  expect(outdatedHeld(buy, { missedSessions: 1, consistency: SOUND })).toBe(buy)
  expect(outdatedHeld(watch, { missedSessions: 2, consistency: SOUND })).toBe(watch)
  expect(outdatedHeld(buy, { missedSessions: 2, consistency: SOUND })).toMatchObject({
    ...{ advice: 'watch', type: 'hold', guard: 'outdated_bars', score: 59, guardValues: { missed: 2, score: 72 } },
  })
  expect(outdatedHeld(sell, { missedSessions: 2, consistency: SOUND })).toMatchObject({ type: 'hold', score: 45 })
})

const PREVIOUS: PreviousReport = {
  ...{ queryId: 'a', createdAt: '2026-03-18T08:00:00.000000Z', date: '2026-03-18', price: 100, score: 66 },
  ...{ advice: 'buy', type: 'buy', trend: 'bull', parts: {}, isSample: false },
  levels: { stop_loss: 92, take_profit: 112 },
}

test('an advice is kept while the score is less than four points out of its band, for five sessions and between its levels', () => {
  const kept = (total: number, before: Partial<PreviousReport>, now: { date?: string | null; price?: number } = {}) => {
    const signal = total >= 60 ? 'buy' : total < 40 ? 'sell' : 'watch'
    const moment = { market: 'cn', date: '2026-03-20', price: 100, ...now } as const
    const { guard, advice } = steadied(scored(total, signal), { ...PREVIOUS, ...before }, moment)
    return guard === null ? null : `${guard} ${advice}`
  }
  const was = (type: PreviousReport['type'], advice: PreviousReport['advice']) => ({ type, advice })
  const cases: [number, Partial<PreviousReport>, string | null][] = [
    [57, was('buy', 'buy'), 'unsettled buy'],
    [56, was('buy', 'buy'), null],
    // What was called strong is kept as what it was, without the word.
    [57, was('buy', 'strong_buy'), 'unsettled buy'],
    [42, was('sell', 'strong_sell'), 'unsettled sell'],
    [43, was('sell', 'sell'), null],
    [62, was('hold', 'hold'), 'unsettled hold'],
    [63, was('hold', 'hold'), null],
    [37, was('hold', 'watch'), 'unsettled watch'],
    [36, was('hold', 'watch'), null],
    [39, was('hold', 'none'), 'unsettled watch'],
    [30, was('buy', 'buy'), 'reversal watch'],
    [70, was('sell', 'sell'), 'reversal watch'],
    [70, was('buy', 'buy'), null],
  ]
  for (const [total, before, expected] of cases)
    expect([total, before, kept(total, before)]).toEqual([total, before, expected])
  // Friday the 13th is five sessions before Friday the 20th.
  const dates: [string | null, string | null, boolean][] = [
    ['2026-03-13', '2026-03-20', true],
    ['2026-03-12', '2026-03-20', false],
    ['2026-03-20', '2026-03-20', true],
    ['2026-03-21', '2026-03-20', false],
    [null, '2026-03-20', false],
    ['2026-03-18', null, false],
  ]
  for (const [date, now, isKept] of dates)
    expect([date, now, kept(57, { date }, { date: now }) !== null]).toEqual([date, now, isKept])
  // At its stop or its target it still stands, past them it does not.
  expect([91.99, 92, 112, 112.01].map((price) => kept(57, {}, { price }) !== null)).toEqual([false, true, true, false])
  expect([1, 1000].map((price) => kept(57, { levels: {} }, { price }) !== null)).toEqual([true, true])
})

const NOBODY: Part<never> = { state: 'failed', value: null, source: null, ageSeconds: null, reasons: [], runs: [] }
const known = <T>(value: T): Part<T> => ({ ...NOBODY, state: 'ok', value, source: 'test' })
const UNKNOWN: Company = { fundamentals: NOBODY, flow: NOBODY, boards: NOBODY, rankings: NOBODY, peers: NOBODY }

test('the dividends of a year are those that went off in the 365 days that end with the session', () => {
  const of = (dividends: Partial<Dividend>[], { price = 100 as number | null, priceCurrency = 'CNY' } = {}) => {
    const all = dividends.map((one) => {
      return { exDate: '2026-01-05', recordDate: null, announcedOn: null, cashPerShare: 1, currency: 'CNY', ...one }
    })
    const company = { ...UNKNOWN, fundamentals: known({ ...REPORT, dividends: all }) }
    return yearOfDividends({ company, price, priceCurrency, asOf: '2026-03-20' })
  }
  const counted = ['2025-03-20', '2025-03-21', '2026-03-20', '2026-03-21', null].map(
    (exDate) => of([{ exDate }])?.count,
  )
  expect(counted).toEqual([0, 1, 1, 0, 0])
  expect(of([{ cashPerShare: 1.5 }, { cashPerShare: 0.75 }])).toEqual({
    ...{ count: 2, cash: 2.25, currency: 'CNY', yieldPct: 2.25 },
  })
  // A sum holds one kind of money, and a yield needs the price in it.
  expect(of([{}, { currency: 'HKD' }])).toEqual({ count: 2, cash: null, currency: null, yieldPct: null })
  expect(of([{ currency: 'HKD' }])).toEqual({ count: 1, cash: 1, currency: 'HKD', yieldPct: null })
  expect(of([{}], { price: 0 })?.yieldPct).toBeNull()
  expect(of([{}], { price: null })?.yieldPct).toBeNull()
  expect(of([])).toEqual({ count: 0, cash: 0, currency: null, yieldPct: 0 })
  expect(yearOfDividends({ company: UNKNOWN, price: 1, priceCurrency: 'CNY', asOf: '2026-03-20' })).toBeNull()
})

function instrumentOf(code: string) {
  const parsed = parseCode(code)
  if (!parsed.ok) throw new Error(`${code} is no listing`)
  return parsed.instrument
}

test('how long a position takes to sell is told of twenty whole sessions with volume, in money whose position is stated', () => {
  const bars = (count: number, volume = 100_000) =>
    barsOf(Array<number>(count).fill(10)).map((bar) => ({ ...bar, volume }))
  const subject = {
    ...{ instrument: instrumentOf('600519'), bars: bars(20), partial: false, lastVolumeKnown: true },
    ...{ consistency: SOUND, priceCurrency: 'CNY' },
  }
  const of = (change: Partial<typeof subject>) => liquidityOf({ ...subject, ...change })
  // 1,000,000 a session, of which a tenth is sold.
  expect(of({})).toEqual({
    ...{ status: 'told', averageTurnover: 1_000_000, position: 1_000_000, currency: 'CNY' },
    ...{ mostASession: 100_000, sessionsToSell: 10 },
  })
  const positions = { CNY: 1e6, HKD: 1e6, USD: 150_000, JPY: 2e7, KRW: 2e8, TWD: 5e6, EUR: null, toString: null }
  for (const [priceCurrency, position] of Object.entries(positions)) {
    const { status, averageTurnover, mostASession, ...rest } = of({ priceCurrency })
    expect([status, averageTurnover, mostASession]).toEqual([position === null ? 'other_money' : 'told', 1e6, 1e5])
    expect(rest).toEqual({
      position,
      currency: priceCurrency,
      sessionsToSell: position === null ? null : position / 1e5,
    })
  }
  const nothing = { averageTurnover: null, sessionsToSell: null, mostASession: null }
  const failed = (change: Partial<Consistency>) => ({ consistency: { ...SOUND, ...change } })
  const without: [Partial<typeof subject>, string][] = [
    [{ bars: bars(19) }, 'too_few'],
    [{ partial: true }, 'too_few'],
    [{ lastVolumeKnown: false }, 'too_few'],
    [{ bars: bars(20, 0) }, 'no_volume'],
    [{ instrument: instrumentOf('SH000300') }, 'is_index'],
    [failed({ isBlocked: true }), 'withheld'],
    [failed({ withheld: ['volume'] }), 'withheld'],
  ]
  for (const [change, status] of without) expect(of(change)).toMatchObject({ status, ...nothing })
  // The session that runs, or whose volume nobody told, counts neither for nor against.
  const unfinished = [...bars(20), ...bars(1, 1)]
  expect(of({ bars: unfinished, partial: true }).averageTurnover).toBe(1e6)
  expect(of({ bars: unfinished, lastVolumeKnown: false }).averageTurnover).toBe(1e6)
  expect(of({ bars: unfinished }).averageTurnover).toBeCloseTo((19 * 1e6 + 10) / 20, 6)
})

test('the multiples of an industry are medians of five others at least, without losses and without what no ratio can be', () => {
  const others = (ratios: readonly (number | null)[]): Peer[] =>
    ratios.map((peRatio, i) => ({ code: `00000${i}`, name: `${i}`, peRatio, pbRatio: null, marketValue: null }))
  const of = (companies: Peer[], own: Peer[] = []) => {
    const peers = known({ board: { code: 'BK1', name: '白酒' }, total: 9, companies: [...own, ...companies] })
    const { status, count, losses, median, ...rest } = peerMultiples({
      ...{ company: { ...UNKNOWN, peers }, instrument: instrumentOf('600519'), provenance: null },
    })
    return { status, count, losses, pe: median.pe, own: rest.own, board: rest.board, source: rest.source }
  }
  const nobody = { own: { pe: null, pb: null }, board: '白酒', source: 'test' }
  expect(of(others([10, 20, 30, 40, 60]))).toEqual({ status: 'ok', count: 5, losses: 0, pe: 30, ...nobody })
  expect(of(others([60, 40, 30, 20, 10, 50]))).toMatchObject({ status: 'ok', count: 6, pe: 35 })
  expect(of(others([10, 20, 30, 40]))).toMatchObject({ status: 'too_few', count: 4, pe: null })
  // A loss has no ratio, nor has a price without earnings; a hundred thousand is the most that is one.
  expect(of(others([10, 20, 30, 40, -5]))).toMatchObject({ status: 'too_few', count: 5, losses: 1, pe: null })
  expect(of(others([10, 20, 30, 40, 0]))).toMatchObject({ status: 'too_few', losses: 0 })
  expect(of(others([10, 20, 30, 40, null]))).toMatchObject({ status: 'too_few', losses: 0 })
  expect(of(others([10, 20, 30, 40, 1e5]))).toMatchObject({ status: 'ok', pe: 30 })
  expect(of(others([10, 20, 30, 40, 1e5 + 1]))).toMatchObject({ status: 'too_few' })
  // The company itself is none of the others.
  const moutai: Peer = { code: '600519', name: '贵州茅台', peRatio: 26, pbRatio: 8, marketValue: 1 }
  expect(of(others([10, 20, 30, 40, 60]), [moutai])).toMatchObject({ count: 5, pe: 30, own: { pe: 26, pb: 8 } })
})
