import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addDays,
  instantAt,
  isoWithOffset,
  isTradingDay,
  lastCompletedSession,
  localDate,
  type MarketPhaseSummary,
  marketPhaseSummary,
  marketZone,
  sessionEnd,
  wallClock,
} from '../../../src/market/calendar.ts'
import type { Market } from '../../../src/market/instruments.ts'

const MARKETS: Market[] = ['cn', 'hk', 'us', 'jp', 'kr', 'tw']

function summaryAt(market: Market, utc: string): MarketPhaseSummary {
  return marketPhaseSummary({ market, epochMs: Date.parse(utc) })
}

/** `phase / session date / last complete session`. */
function phaseAt(market: Market, utc: string): string {
  const { phase, session_date, effective_daily_bar_date } = summaryAt(market, utc)
  return `${phase} / ${session_date} / ${effective_daily_bar_date}`
}

test('an ordinary Friday in Shanghai passes through all its phases', () => {
  const rows: [string, string][] = [
    ['2026-08-13T23:00:00Z', 'premarket / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T01:29:59Z', 'premarket / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T01:30:00Z', 'intraday / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T03:30:00Z', 'lunch_break / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T04:59:59Z', 'lunch_break / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T05:00:00Z', 'intraday / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T06:57:00Z', 'closing_auction / 2026-08-14 / 2026-08-13'],
    ['2026-08-14T07:00:00Z', 'postmarket / 2026-08-14 / 2026-08-14'],
    ['2026-08-15T04:00:00Z', 'non_trading / 2026-08-15 / 2026-08-14'],
    ['2026-08-16T18:00:00Z', 'premarket / 2026-08-17 / 2026-08-14'],
  ]
  for (const [utc, expected] of rows) expect([utc, phaseAt('cn', utc)]).toEqual([utc, expected])
})

test('flags and minutes follow the phase', () => {
  const pick = (market: Market, utc: string) => {
    const { is_trading_day, is_market_open_now, is_partial_bar, minutes_to_open, minutes_to_close } = summaryAt(
      market,
      utc,
    )
    return [is_trading_day, is_market_open_now, is_partial_bar, minutes_to_open, minutes_to_close]
  }
  expect(pick('cn', '2026-08-14T01:00:30Z')).toEqual([true, false, false, 30, null])
  expect(pick('cn', '2026-08-14T02:00:00Z')).toEqual([true, true, true, null, 300])
  expect(pick('cn', '2026-08-14T04:00:00Z')).toEqual([true, false, true, null, null])
  expect(pick('hk', '2026-08-14T07:55:00Z')).toEqual([true, true, true, null, 5])
  expect(pick('hk', '2026-08-14T08:00:00Z')).toEqual([true, false, false, null, null])
  expect(pick('us', '2026-08-15T15:00:00Z')).toEqual([false, false, false, null, null])
  expect(summaryAt('us', '2026-08-14T14:00:00Z')).toEqual({
    market: 'us',
    phase: 'intraday',
    market_local_time: '2026-08-14T10:00:00-04:00',
    session_date: '2026-08-14',
    effective_daily_bar_date: '2026-08-13',
    is_trading_day: true,
    is_market_open_now: true,
    is_partial_bar: true,
    minutes_to_open: null,
    minutes_to_close: 360,
    trigger_source: null,
    analysis_intent: null,
    warnings: [],
  })
})

test('closing auctions begin where each market has them', () => {
  const lastMinuteBefore: [Market, string, number][] = [
    ['cn', '15:00', 3],
    ['hk', '16:00', 10],
    ['us', '16:00', 5],
    ['jp', '15:30', 5],
    ['kr', '15:30', 10],
    ['tw', '13:30', 5],
  ]
  for (const [market, close, minutes] of lastMinuteBefore) {
    const [hour = 0, minute = 0] = close.split(':').map(Number)
    const auction = instantAt('2026-08-14', (hour * 60 + minute - minutes) * 60, marketZone(market))
    const phase = (epochMs: number) => marketPhaseSummary({ market, epochMs }).phase
    expect([market, phase(auction - 1000), phase(auction)]).toEqual([market, 'intraday', 'closing_auction'])
  }
})

test('half past midnight in Shanghai is still the day before in New York', () => {
  expect(phaseAt('cn', '2026-08-13T16:30:00Z')).toBe('premarket / 2026-08-14 / 2026-08-13')
  expect(phaseAt('us', '2026-08-13T16:30:00Z')).toBe('intraday / 2026-08-13 / 2026-08-12')
  expect(phaseAt('us', '2026-08-14T04:30:00Z')).toBe('premarket / 2026-08-14 / 2026-08-13')
})

test('New York opens at half past nine of its own clock on both sides of a clock change', () => {
  const opens = ['2026-03-06T14:30:00Z', '2026-03-09T13:30:00Z', '2026-10-30T13:30:00Z', '2026-11-02T14:30:00Z']
  for (const utc of opens) {
    expect([utc, summaryAt('us', utc).phase]).toEqual([utc, 'intraday'])
    const before = new Date(Date.parse(utc) - 1000).toISOString()
    expect([before, summaryAt('us', before).phase]).toEqual([before, 'premarket'])
  }
  expect(summaryAt('us', '2026-11-02T14:30:00Z').market_local_time).toBe('2026-11-02T09:30:00-05:00')
})

test('holidays, decreed closures and working Saturdays are known', () => {
  const closed: [Market, string][] = [
    ['cn', '2024-02-09'],
    ['cn', '2026-02-17'],
    ['cn', '2026-10-01'],
    ['cn', '2026-10-10'],
    ['hk', '2024-09-06'],
    ['hk', '2026-04-07'],
    ['hk', '2027-12-27'],
    ['us', '2025-01-09'],
    ['us', '2026-07-03'],
    ['us', '2027-12-24'],
  ]
  const open: [Market, string][] = [
    ['cn', '2026-12-25'],
    ['hk', '2026-10-02'],
    ['us', '2026-10-01'],
    ['us', '2027-12-27'],
  ]
  expect(closed.filter(([market, date]) => isTradingDay(market, date))).toEqual([])
  expect(open.filter(([market, date]) => !isTradingDay(market, date))).toEqual([])
  expect(phaseAt('cn', '2026-10-07T03:00:00Z')).toBe('non_trading / 2026-10-07 / 2026-09-30')
})

test('a half day ends at its early close', () => {
  expect(phaseAt('us', '2026-11-27T17:56:00Z')).toBe('closing_auction / 2026-11-27 / 2026-11-25')
  expect(phaseAt('us', '2026-11-27T18:00:00Z')).toBe('postmarket / 2026-11-27 / 2026-11-27')
  expect(phaseAt('hk', '2026-12-24T03:49:00Z')).toBe('intraday / 2026-12-24 / 2026-12-23')
  expect(phaseAt('hk', '2026-12-24T04:00:00Z')).toBe('postmarket / 2026-12-24 / 2026-12-24')
  expect(new Date(sessionEnd('hk', '2026-12-24')).toISOString()).toBe('2026-12-24T04:00:00.000Z')
})

test('Seoul begins an hour late on the day of the college exam, and on the first session of a year', () => {
  const rows: [string, string][] = [
    ['2026-11-19T00:30:00Z', 'premarket / 2026-11-19 / 2026-11-18'],
    ['2026-11-19T01:00:00Z', 'intraday / 2026-11-19 / 2026-11-18'],
    ['2026-11-19T07:19:59Z', 'intraday / 2026-11-19 / 2026-11-18'],
    ['2026-11-19T07:20:00Z', 'closing_auction / 2026-11-19 / 2026-11-18'],
    ['2026-11-19T07:30:00Z', 'postmarket / 2026-11-19 / 2026-11-19'],
    ['2026-11-20T00:30:00Z', 'intraday / 2026-11-20 / 2026-11-19'],
    ['2026-01-02T00:30:00Z', 'premarket / 2026-01-02 / 2025-12-30'],
    ['2026-01-02T06:30:00Z', 'postmarket / 2026-01-02 / 2026-01-02'],
  ]
  for (const [utc, expected] of rows) expect([utc, phaseAt('kr', utc)]).toEqual([utc, expected])
  const exams = ['2024-11-14', '2025-11-13', '2026-11-19', '2027-11-18']
  const ends = exams.map((date) => new Date(sessionEnd('kr', date)).toISOString())
  expect(ends).toEqual(exams.map((date) => `${date}T07:30:00.000Z`))
})

test('Tokyo, Seoul and Taipei keep their own holidays, substitutes and single occasions', () => {
  const closed: Partial<Record<Market, string[]>> = {
    jp: ['2025-01-02', '2025-05-06', '2026-05-06', '2026-09-22', '2027-03-22', '2024-12-31'],
    kr: ['2025-01-27', '2025-06-03', '2026-02-17', '2026-10-05', '2026-12-31', '2027-02-09'],
    tw: ['2024-07-24', '2025-01-23', '2026-02-20', '2026-10-09', '2026-10-26', '2026-12-25'],
  }
  const open: Partial<Record<Market, string[]>> = {
    jp: ['2024-12-30', '2026-01-05', '2026-09-24'],
    kr: ['2025-06-04', '2026-02-19', '2026-12-30'],
    tw: ['2024-07-26', '2026-02-11', '2026-02-23'],
  }
  for (const market of ['jp', 'kr', 'tw'] as const) {
    expect([market, closed[market]?.filter((date) => isTradingDay(market, date))]).toEqual([market, []])
    expect([market, open[market]?.filter((date) => !isTradingDay(market, date))]).toEqual([market, []])
    expect(summaryAt(market, '2026-08-14T03:00:00Z').warnings).toEqual([])
    const perYear = [2024, 2025, 2026, 2027].map((year) => sessionsIn(market, year))
    // Fewer or more have never been kept in a year.
    expect([market, perYear.filter((count) => count < 238 || count > 250)]).toEqual([market, []])
  }
})

function sessionsIn(market: Market, year: number): number {
  let count = 0
  for (let date = `${year}-01-01`; date.startsWith(String(year)); date = addDays(date, 1)) {
    if (isTradingDay(market, date)) count++
  }
  return count
}

test('years without a holiday table say so and count weekdays', () => {
  expect(summaryAt('cn', '2027-10-01T03:00:00Z')).toMatchObject({
    phase: 'intraday',
    warnings: ['calendar_unavailable'],
  })
  expect(summaryAt('us', '2020-04-17T20:00:00Z').warnings).toEqual(['calendar_unavailable'])
  expect(summaryAt('jp', '2030-08-14T00:00:00Z')).toMatchObject({
    phase: 'intraday',
    warnings: ['calendar_unavailable'],
  })
  expect(marketPhaseSummary({ market: null, epochMs: 0, triggerSource: 'api' })).toMatchObject({
    phase: 'unknown',
    session_date: null,
    trigger_source: 'api',
    warnings: ['unknown_market'],
  })
})

test('a phase asked for by hand changes phase and flags, never the dates', () => {
  const at = (analysisIntent: string) =>
    marketPhaseSummary({
      market: 'cn',
      epochMs: Date.parse('2026-08-14T08:00:00Z'),
      triggerSource: 'api',
      analysisIntent,
    })
  expect(at('auto')).toMatchObject({ phase: 'postmarket', is_market_open_now: false, analysis_intent: 'auto' })
  expect(at('intraday')).toMatchObject({
    phase: 'intraday',
    is_market_open_now: true,
    is_partial_bar: true,
    session_date: '2026-08-14',
    effective_daily_bar_date: '2026-08-14',
    market_local_time: '2026-08-14T16:00:00+08:00',
  })
  expect(at('premarket')).toMatchObject({ phase: 'premarket', is_partial_bar: false, minutes_to_open: null })
  const holiday = { market: 'us', epochMs: Date.parse('2026-11-26T16:00:00Z'), triggerSource: 'api' } as const
  const onHoliday = marketPhaseSummary({ ...holiday, analysisIntent: 'auto' })
  for (const analysisIntent of ['premarket', 'intraday', 'postmarket']) {
    expect(marketPhaseSummary({ ...holiday, analysisIntent })).toEqual({
      ...onHoliday,
      analysis_intent: analysisIntent,
      warnings: ['phase_against_calendar'],
    })
  }
})

const anyInstant = fc.integer({ min: Date.parse('2023-06-01T00:00:00Z'), max: Date.parse('2028-06-01T00:00:00Z') })

test('at any instant the summary agrees with itself and with the sessions', () => {
  fc.assert(
    fc.property(fc.constantFrom(...MARKETS), anyInstant, (market, epochMs) => {
      const summary = marketPhaseSummary({ market, epochMs })
      const effective = summary.effective_daily_bar_date ?? ''
      expect(isTradingDay(market, effective)).toBe(true)
      expect(sessionEnd(market, effective)).toBeLessThanOrEqual(epochMs)
      expect(effective <= (summary.session_date ?? '')).toBe(true)
      expect(summary.is_market_open_now).toBe(summary.minutes_to_close !== null)
      expect(summary.phase === 'premarket').toBe(summary.minutes_to_open !== null)
      expect(summary.phase === 'non_trading').toBe(!summary.is_trading_day)
      expect(lastCompletedSession(market, sessionEnd(market, effective))).toBe(effective)
    }),
    { numRuns: 500 },
  )
})

test('a wall clock read in a zone leads back to its instant', () => {
  fc.assert(
    fc.property(fc.constantFrom(...MARKETS), anyInstant, (market, instant) => {
      const epochMs = Math.floor(instant / 1000) * 1000
      const zone = marketZone(market)
      const { date, secondOfDay } = wallClock(epochMs, zone)
      expect(localDate(market, epochMs)).toBe(date)
      expect(Date.parse(isoWithOffset(epochMs, zone))).toBe(epochMs)
      // In the hour that a clock repeats, the same reading means two instants.
      expect(Math.abs(instantAt(date, secondOfDay, zone) - epochMs) % 3_600_000).toBe(0)
    }),
    { numRuns: 500 },
  )
})
