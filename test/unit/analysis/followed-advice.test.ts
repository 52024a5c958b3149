import { expect, test } from 'vitest'
import { backtestVerdict, meanOf, shareOf, signalOutcome } from '../../../src/analysis/evidence/advice-sums.ts'
import {
  dailyHeld,
  followable,
  followedAdvice,
  type GivenAdvice,
  movesOfAnyDay,
} from '../../../src/analysis/evidence/followed.ts'
import { defaultHorizon, expiryOf, planQuality } from '../../../src/analysis/report/signal.ts'
import { Action } from '../../../src/analysis/schemas.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { isTradingDay, nextOpening, nextTradingDay, sessionEnd, startedSession } from '../../../src/market/calendar.ts'
import { netReturn } from '../../../src/market/costs.ts'
import { type Market, parseCode } from '../../../src/market/instruments.ts'
import { SERIES } from '../../../src/market/sample-data/series.generated.ts'

function instrument(key: string) {
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(key)
  return parsed.instrument
}

function daysOf(market: Market, count: number): string[] {
  const days: string[] = []
  for (let day = Date.parse('2025-03-03'); days.length < count; day += 86_400_000) {
    const date = new Date(day).toISOString().slice(0, 10)
    if (isTradingDay(market, date)) days.push(date)
  }
  return days
}

type Shape = Partial<Omit<Bar, 'date'>>

/** Quiet sessions at 100 but for those that are named by their place. */
function series(market: Market, shapes: Record<number, Shape> = {}, count = 40): Bar[] {
  return daysOf(market, count).map((date, i) => {
    const wave = i % 2 === 0 ? 0.2 : -0.2
    const bar = { open: 100, high: 100.8, low: 99.2, close: 100 + wave, volume: 1_000 + i, amount: null }
    return { date, ...bar, ...shapes[i] }
  })
}

const ADVICE: GivenAdvice = { action: 'buy', anchor: '', price: 100, stop: 95, target: 106, unscorable: null }

function follow(
  key: string,
  bars: Bar[],
  { at = 9, sessions = 5, ...advice }: Partial<GivenAdvice> & { at?: number; sessions?: number } = {},
) {
  const listing = instrument(key)
  const market = followable(
    listing,
    { bars, keptAt: Date.parse('2026-01-01') },
    { index: null, now: Date.parse('2026-01-01') },
  )
  const told = followedAdvice({ ...ADVICE, anchor: bars[at]?.date ?? '', ...advice }, market, {
    sessions,
    daily: null,
    anyDay: { rose: 0, fell: 0 },
  })
  return told.ok ? told.followed : told.reason
}

const tradeOf = (followed: ReturnType<typeof follow>) => (typeof followed === 'string' ? followed : followed.trade)

test('a purchase is made at the next open and sold at its stop, its target or the end, after costs', () => {
  const net = (exit: number, bars: Bar[], at: number) => {
    const [from, to] = [bars[10], bars[at]]
    const fills = {
      bought: { price: from?.open ?? 0, date: from?.date ?? '' },
      sold: { price: exit, date: to?.date ?? '' },
    }
    return netReturn(instrument('AAPL'), fills) * 100
  }
  const quiet = series('us')
  expect(tradeOf(follow('AAPL', quiet))).toMatchObject({
    exit: 'window_end',
    netPct: net(100.2, quiet, 14),
    hitStop: false,
    hitTarget: false,
  })
  const falls = series('us', { 12: { low: 94.5 } })
  expect(tradeOf(follow('AAPL', falls))).toMatchObject({
    exit: 'stop_loss',
    exitPrice: 95,
    sessions: 3,
    netPct: net(95, falls, 12),
  })
  // A gap below the stop is sold at the open, not at the stop.
  const gap = series('us', { 12: { open: 93, high: 94, low: 92, close: 93 }, 13: { open: 93.5, low: 93 } })
  expect(tradeOf(follow('AAPL', gap))).toMatchObject({ exit: 'stop_loss', exitPrice: 93 })
  const both = series('us', { 11: { low: 94, high: 107 } })
  expect(tradeOf(follow('AAPL', both))).toMatchObject({ exit: 'stop_loss', isAmbiguous: true })
  const rises = series('us', { 13: { high: 106.5 } })
  expect(tradeOf(follow('AAPL', rises))).toMatchObject({
    exit: 'take_profit',
    exitPrice: 106,
    sessions: 4,
    hitTarget: true,
  })
})

test('what nobody could trade is no trade: a suspension, an open at the limit, a stop above the open, a sale on the day of the purchase', () => {
  const missing = series('us').filter((_, i) => i !== 10)
  expect(follow('AAPL', missing)).toBe('not_traded')
  const limit = series('cn', {
    10: { open: 110.2, high: 110.2, low: 110.2, close: 110.2 },
    11: { open: 110, high: 111, low: 109, close: 110 },
  })
  const atLimit = follow('600519', limit)
  expect(typeof atLimit === 'string' ? atLimit : [atLimit.trade, atLimit.startPrice]).toEqual([null, 110.2])
  expect(tradeOf(follow('AAPL', series('us', { 10: { open: 94, low: 93.5 } })))).toBeNull()
  const sameDay = { 10: { low: 94 } }
  expect(tradeOf(follow('AAPL', series('us', sameDay)))).toMatchObject({ exit: 'stop_loss', sessions: 1 })
  expect(tradeOf(follow('600519', series('cn', sameDay)))).toMatchObject({ exit: 'window_end' })
})

test('levels move with the prices where a split lies between, and what cannot be told says why', () => {
  // Today's bars are a tenth of the prices that the report was made at.
  const followed = follow('AAPL', series('us', { 12: { low: 94.5 } }), { price: 1_002, stop: 952, target: 1_062 })
  expect(tradeOf(followed)).toMatchObject({ exit: 'stop_loss', exitPrice: expect.closeTo(95, 0) })
  const bars = series('us')
  expect(follow('AAPL', bars, { at: 36 })).toBe('too_young')
  expect(follow('AAPL', bars, { anchor: '2026-01-02' })).toBe('too_young')
  expect(follow('AAPL', bars, { anchor: '2024-01-02' })).toBe('bars_gone')
  expect(follow('AAPL', bars, { unscorable: 'sample' })).toBe('sample')
  const broken = series('us', { 20: { high: 50 } })
  expect(follow('AAPL', broken)).toBe('bad_bars')
})

test('a bar of a session that went on when it was fetched is no result', () => {
  const bars = series('us', {}, 15)
  const last = bars.at(-1)?.date ?? ''
  const through = (keptAt: number) => {
    const market = followable(
      instrument('AAPL'),
      { bars, keptAt },
      { index: { bars, keptAt }, now: Date.parse('2026-01-01') },
    )
    return typeof market === 'string' ? market : [market.through, market.index.size]
  }
  expect(through(sessionEnd('us', last) - 60_000)).toEqual([bars.at(-2)?.date, 14])
  expect(through(sessionEnd('us', last) + 3_600_000)).toEqual([last, 15])
})

test('holding is counted from the first advice to the newest close, after the costs of one trade', () => {
  const bars = series('us', { 39: { close: 110, high: 110.5 } })
  const market = followable(
    instrument('AAPL'),
    { bars, keptAt: Date.parse('2026-01-01') },
    { index: null, now: Date.parse('2026-01-01') },
  )
  if (typeof market === 'string') throw new Error(market)
  const [first, last] = [bars[10], bars[39]]
  const fills = { bought: { price: 100, date: first?.date ?? '' }, sold: { price: 110, date: last?.date ?? '' } }
  const whole = netReturn(instrument('AAPL'), fills)
  expect(Math.expm1((dailyHeld(market, bars[9]?.date ?? '') ?? 0) * 30)).toBeCloseTo(whole, 10)
  expect(dailyHeld(market, '2026-02-02')).toBeNull()
  // Of the 36 windows of five sessions the last one rises.
  expect(movesOfAnyDay(market, 5)).toEqual({ rose: 1 / 36, fell: 0 })
})

test('every advice has its direction, its band, and no rate below twenty', () => {
  const of = (action: Action) => [-3, -2, -1, 0, 1, 2, 3].map((pct) => signalOutcome(action, pct)?.[0] ?? '-').join('')
  expect(Action.options.map((action) => [action, of(action)])).toEqual([
    ...[
      ['buy', 'mmnnnhh'],
      ['add', 'mmnnnhh'],
      ['hold', 'mmnnnhh'],
      ['reduce', 'hhnnnmm'],
      ['sell', 'hhnnnmm'],
    ],
    ...[
      ['watch', '-------'],
      ['avoid', 'hhnnnmm'],
      ['alert', '-------'],
    ],
  ])
  const told = (action: Action, pct: number) => Object.values(backtestVerdict(action, pct))
  expect(told('buy', 2)).toEqual(['up', 'win', true])
  expect(told('buy', -2)).toEqual(['up', 'loss', false])
  expect(told('buy', 1)).toEqual(['up', 'neutral', true])
  expect(told('sell', -2)).toEqual(['down', 'win', true])
  expect(told('sell', 2)).toEqual(['down', 'loss', false])
  expect(told('hold', 2)).toEqual(['not_down', 'win', true])
  expect(told('hold', 0)).toEqual(['not_down', 'neutral', true])
  expect(told('hold', -1)).toEqual(['not_down', 'neutral', false])
  expect(told('watch', 9)).toEqual(['flat', 'neutral', null])
  expect([shareOf(19, 19), shareOf(15, 20), meanOf(Array(19).fill(1)), meanOf(Array(20).fill(1))]).toEqual([
    null,
    75,
    null,
    1,
  ])
})

test('a signal ends with a session, and begins with one that had opened', () => {
  // A Friday evening before a Monday without trading, in New York.
  const evening = Date.parse('2026-01-16T22:00:00Z')
  expect(startedSession('us', evening)).toBe('2026-01-16')
  expect(startedSession('us', Date.parse('2026-01-16T14:00:00Z'))).toBe('2026-01-15')
  expect(startedSession('us', Date.parse('2026-01-16T14:30:00Z'))).toBe('2026-01-16')
  expect(nextTradingDay('us', '2026-01-16')).toBe('2026-01-20')
  expect(new Date(nextOpening('us', evening)).toISOString()).toBe('2026-01-20T14:30:00.000Z')
  expect(new Date(nextOpening('us', Date.parse('2026-01-16T14:00:00Z'))).toISOString()).toBe('2026-01-16T14:30:00.000Z')
  expect(expiryOf('intraday', 'us', evening)).toBe('2026-01-20T21:00:00.000000Z')
  expect(expiryOf('3d', 'us', evening)).toBe('2026-01-22T21:00:00.000000Z')
  expect(expiryOf('intraday', 'us', Date.parse('2026-01-16T15:00:00Z'))).toBe('2026-01-16T21:00:00.000000Z')
  expect([expiryOf('swing', 'us', evening), expiryOf(null, 'us', evening)]).toEqual([null, null])
  expect([
    defaultHorizon('buy', 'postmarket'),
    defaultHorizon('buy', 'intraday'),
    defaultHorizon('alert', null),
  ]).toEqual([...['3d', 'intraday', 'intraday']])
  const none = {
    entryLow: null,
    entryHigh: null,
    stopLoss: null,
    targetPrice: null,
    invalidation: null,
    watchConditions: null,
  }
  expect([planQuality(none), planQuality({ ...none, stopLoss: 1, targetPrice: 2 })]).toEqual(['minimal', 'partial'])
})

test('advice that knows nothing is right half of the time, where the rule of the page’s own service calls far more of it right', () => {
  const claims = ['buy', 'add', 'hold', 'reduce', 'sell', 'avoid'] as const
  const theirs = (action: (typeof claims)[number], pct: number) =>
    action === 'buy' || action === 'add'
      ? { hit: pct >= 2, miss: pct <= -2 }
      : action === 'hold'
        ? { hit: pct >= 0, miss: pct <= -2 }
        : { hit: pct <= 2, miss: pct > 2 }
  const rates = [1, 3, 5, 10].map((sessions) => {
    const sum = { ours: { hit: 0, miss: 0 }, theirs: { hit: 0, miss: 0 } }
    for (const series of Object.values(SERIES)) {
      const bars = series
        .trim()
        .split('\n')
        .map((line) => line.split(',').map(Number))
      for (let i = 0; i + sessions < bars.length; i++) {
        const pct = ((bars[i + sessions]?.[4] ?? 0) / (bars[i + 1]?.[1] ?? 1) - 1) * 100
        for (const action of claims) {
          const ours = signalOutcome(action, pct)
          const their = theirs(action, pct)
          sum.ours.hit += ours === 'hit' ? 1 : 0
          sum.ours.miss += ours === 'miss' ? 1 : 0
          sum.theirs.hit += their.hit ? 1 : 0
          sum.theirs.miss += their.miss ? 1 : 0
        }
      }
    }
    const rate = ({ hit, miss }: { hit: number; miss: number }) => Math.round((100 * hit) / (hit + miss))
    return [rate(sum.ours), rate(sum.theirs)]
  })
  // Told in docs/analysis-page.md.
  expect(rates).toEqual([
    [50, 90],
    [50, 72],
    [50, 67],
    [50, 62],
  ])
})
