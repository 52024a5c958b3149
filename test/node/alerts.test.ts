// The evaluation of alerts: pure, so it is held against plain restatements and against another library.

import { CCI } from 'technicalindicators'
import { expect, test } from 'vitest'
import { cci, crossing, kdjLines, macdLines } from '../../src/alerts/crossings.ts'
import {
  type Changes,
  evaluateQuotes,
  type Memories,
  Changes as NoChanges,
  note,
  type SeenQuote,
  type Watch,
} from '../../src/alerts/evaluate.ts'
import { ALERT_TYPES, checkedParameters, KINDS, type Parameters } from '../../src/alerts/kinds.ts'
import { quietUntil } from '../../src/alerts/rule.ts'
import { monitorOf } from '../../src/alerts/told.ts'
import { doubtOf, tradingMinutesBetween } from '../../src/alerts/trust.ts'
import type { Bar, Fetched, Quote } from '../../src/market/bars.ts'
import { addDays, isTradingDay, sessionEnd } from '../../src/market/calendar.ts'
import { kdj, macd } from '../../src/market/indicators/momentum.ts'
import { longSeries } from '../support/long-series.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const OPEN = Date.parse('2026-08-13T01:30:00Z')
const SESSION = { day: '2026-08-13', startedAt: OPEN }

const watch = (type: Watch['type'], parameters: Parameters, more: Partial<Watch> = {}): Watch => {
  return { type, parameters, cooldownMs: 0, armedAt: OPEN - DAY, ...more }
}

type Observation = Partial<SeenQuote> & { price?: number }

/** A rule and its memory over observations, one a minute; the values that fired. */
function story(rule: Watch, observations: readonly Observation[]) {
  const memories: Memories = {}
  const fired: { value: number; isCoolingDown: boolean; point: string }[] = []
  for (const [i, given] of observations.entries()) {
    const quote = {
      price: 100,
      changePct: 0,
      volume: 1,
      at: OPEN + i * MINUTE,
      session: SESSION,
      meanVolume: 1,
      ...given,
    }
    const { changes } = evaluateQuotes(rule, {
      targets: ['A'],
      quotes: new Map([['A', quote]]),
      memories,
      now: quote.at,
      levels: () => [{ name: 'stop_loss', price: 90 }],
    })
    Object.assign(memories, Object.fromEntries(changes.memories))
    fired.push(...changes.firings)
  }
  return { fired: fired.map(({ value }) => value), held: fired.map(({ isCoolingDown }) => isCoolingDown), memories }
}

const prices = (...values: number[]): Observation[] => values.map((price) => ({ price }))

test('a price fires when it comes to the line, not because it is beyond it, and again after it went back', () => {
  const above = watch('price_cross', { direction: 'above', price: 100, hysteresis_pct: 0 })
  // The first look only says how things are.
  expect(story(above, prices(101, 102)).fired).toEqual([])
  expect(story(above, prices(99, 100, 101, 99.99, 100.5)).fired).toEqual([100, 100.5])
  const below = watch('price_cross', { direction: 'below', price: 100, hysteresis_pct: 0 })
  expect(story(below, prices(101, 100, 99, 101, 98)).fired).toEqual([100, 98])
  // Two per cent back before it counts again.
  const wide = watch('price_cross', { direction: 'above', price: 100, hysteresis_pct: 2 })
  expect(story(wide, prices(99, 101, 99, 101, 97.9, 101)).fired).toEqual([101, 101])
  expect(
    story(
      watch('price_cross', { direction: 'below', price: 100, hysteresis_pct: 2 }),
      prices(103, 99, 101, 99, 102.1, 99),
    ).fired,
  ).toEqual([99, 99])
  const calm = watch('price_cross', { direction: 'above', price: 100, hysteresis_pct: 0 }, { cooldownMs: 3 * MINUTE })
  expect(story(calm, prices(99, 101, 99, 101, 99, 101)).held).toEqual([false, true, false])
  // An older price after a newer one changes nothing.
  const late = [{ price: 99 }, { price: 101 }, { price: 99, at: OPEN - MINUTE }, { price: 101 }]
  expect(story(above, late).fired).toEqual([101])
})

test('changes and volumes of the day begin anew with each session, and count from its opening on', () => {
  const up = watch('price_change_percent', { direction: 'up', change_pct: 5, hysteresis_pct: 1 })
  const changes = (...values: number[]): Observation[] => values.map((changePct) => ({ changePct }))
  // The session began after the rule was made: a gap at its opening is news.
  expect(story(up, changes(6, 7)).fired).toEqual([6])
  expect(story({ ...up, armedAt: OPEN + 1 }, changes(6, 7, 3.9, 5)).fired).toEqual([5])
  expect(story(up, changes(5, 4.5, 5, 3.9, 5)).fired).toEqual([5, 5])
  const next = { day: '2026-08-14', startedAt: OPEN + DAY }
  expect(story(up, [{ changePct: 6 }, { changePct: 6, at: OPEN + DAY, session: next }]).fired).toEqual([6, 6])
  expect(story(watch('price_change_percent', { direction: 'down', change_pct: 3 }), changes(-2, -3, -4)).fired).toEqual(
    [-3],
  )
  const spike = watch('volume_spike', { multiplier: 2 })
  expect(
    story(
      spike,
      [{ volume: 200 }, { volume: 201 }, { volume: 300 }].map((one) => ({ ...one, meanVolume: 100 })),
    ).fired,
  ).toEqual([201])
  expect(story(spike, [{ volume: null }, { volume: 9, meanVolume: null }]).fired).toEqual([])
})

test('a level is touched from either side, and one that moved is another level', () => {
  const level = watch('level_touch', { level: 'any' })
  expect(story(level, prices(95, 91, 90, 89)).fired).toEqual([90])
  expect(story(level, prices(95, 89, 95)).fired).toEqual([89, 95])
  expect(story(level, prices(90, 91, 90)).fired).toEqual([90])
})

test('a crossing needs both bars: of the session and of the one before', () => {
  const days: string[] = []
  for (let day = '2026-08-13'; days.length < 60; day = addDays(day, -1)) if (isTradingDay('cn', day)) days.unshift(day)
  const bar = (date: string, close: number): Bar => ({
    date,
    open: close,
    high: close,
    low: close,
    close,
    volume: 1,
    amount: null,
  })
  const flat = days.map((date) => bar(date, 10))
  const rising = [...flat.slice(0, -2), bar(days.at(-2) ?? '', 9), bar('2026-08-13', 12)]
  const asked = {
    type: 'ma_price_cross',
    parameters: { direction: 'above', window: 5 },
    market: 'cn',
    session: '2026-08-13',
  } as const
  expect(crossing(rising, asked)).toMatchObject({ ok: true, crossed: true, value: 12 })
  expect(crossing(rising, { ...asked, parameters: { direction: 'below', window: 5 } })).toMatchObject({
    crossed: false,
  })
  expect(crossing(rising.toSpliced(-2, 1), asked)).toEqual({ ok: false, reason: 'gap' })
  expect(crossing(rising.slice(0, -1), asked)).toEqual({ ok: false, reason: 'no_bar' })
  expect(crossing(rising.slice(-4), asked)).toEqual({ ok: false, reason: 'few_bars' })
  // To the average and away again on the same side is no crossing.
  const touching = [
    ...flat.slice(0, -3),
    bar(days.at(-3) ?? '', 11),
    bar(days.at(-2) ?? '', 10.25),
    bar('2026-08-13', 12),
  ]
  expect(crossing(touching, asked)).toMatchObject({ crossed: false })
  // What a rule was made after does not fire, and each bar is looked at once.
  const at = sessionEnd('cn', '2026-08-13')
  const happening = {
    slot: 'A',
    target: 'A',
    at,
    happenedAt: at,
    hasHappened: true,
    value: 12,
    threshold: 10,
    point: '2026-08-13',
  }
  const fires = (armedAt: number, before: Parameters | undefined | [1, number, null, null, null]) => {
    const changes: Changes = new NoChanges()
    note(
      { ...watch('ma_price_cross', {}), armedAt },
      changes,
      happening,
      Array.isArray(before) ? before : undefined,
      at,
    )
    return changes.firings.length
  }
  expect([fires(at - 1, undefined), fires(at, undefined), fires(at - 1, [1, at, null, null, null])]).toEqual([1, 0, 0])
})

test('the indicators of crossings are those of the charts, and CCI is that of another library', () => {
  const bars = longSeries(400)
  const [close, high, low] = (['close', 'high', 'low'] as const).map((name) =>
    Float64Array.from(bars, (bar) => bar[name]),
  ) as [Float64Array, Float64Array, Float64Array]
  const ours = macdLines(close, 12, 26, 9)
  const { dif, dea } = macd(close)
  const strange = kdj(high, low, close)
  const { line, base } = kdjLines(bars, 9, 3, 3)
  for (let i = 40; i < bars.length; i++) {
    expect(ours.line[i]).toBeCloseTo(dif[i] ?? Number.NaN, 10)
    expect(ours.base[i]).toBeCloseTo(dea[i] ?? Number.NaN, 10)
    expect(line[i]).toBeCloseTo(strange.k[i] ?? Number.NaN, 10)
    expect(base[i]).toBeCloseTo(strange.d[i] ?? Number.NaN, 10)
  }
  const theirs = CCI.calculate({ high: [...high], low: [...low], close: [...close], period: 14 })
  const told = [...cci(bars, 14)].slice(-theirs.length)
  expect(theirs.length).toBe(bars.length - 13)
  for (const [i, value] of theirs.entries()) expect(told[i]).toBeCloseTo(value, 6)
})

test('parameters are filled in, and the first wrong one is named', () => {
  const field = (type: (typeof ALERT_TYPES)[number], given: Record<string, unknown>) => {
    const checked = checkedParameters(type, given)
    return checked.ok ? checked.parameters : `${checked.fault.field} ${checked.fault.why}`
  }
  expect(field('price_cross', { direction: 'above', price: '12.5' })).toEqual({
    direction: 'above',
    price: 12.5,
    hysteresis_pct: 0,
  })
  for (const price of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 'x', '1e3', true, [1], {}, 1e13]) {
    expect(field('price_cross', { direction: 'above', price })).toBe('parameters.price number')
  }
  expect(field('price_cross', { direction: 'above' })).toBe('parameters.price missing')
  expect(field('price_cross', { direction: 'up', price: 1 })).toBe('parameters.direction choice')
  expect(field('price_cross', JSON.parse('{"direction":"above","price":1,"__proto__":{"hysteresis_pct":-1}}'))).toBe(
    'parameters.__proto__ unknown',
  )
  expect(field('price_cross', { direction: 'above', price: 1, hystersis_pct: 2 })).toBe(
    'parameters.hystersis_pct unknown',
  )
  expect(field('portfolio_drawdown', { mode: 'near' })).toBe('parameters.mode unknown')
  expect(field('rsi_threshold', { direction: 'above', threshold: 101 })).toBe('parameters.threshold number')
  expect(field('rsi_threshold', { direction: 'above', threshold: 70, period: 12.5 })).toBe('parameters.period number')
  expect(field('macd_cross', { direction: 'bullish_cross', fast_period: 26 })).toBe('parameters.fast_period order')
  expect(field('macd_cross', { direction: 'bullish_cross', slow_period: 200, signal_period: 200 })).toMatch(
    /^parameters\.s\w+_period long$/,
  )
  expect(field('market_light_status', { statuses: [] })).toBe('parameters.statuses choices')
  expect(field('market_light_status', { statuses: ['red', 'red'] })).toEqual({ statuses: ['red'] })
  expect(field('new_advice', {})).toEqual({ actions: [] })
  for (const type of ALERT_TYPES) expect(KINDS[type].scopes.length).toBeGreaterThan(0)
})

const SHARE = { market: 'cn', kind: 'stock' } as const

test('a quote is doubted that is late, of another day, of the future, suspended, or a sample', () => {
  const now = Date.parse('2026-08-13T02:30:00Z')
  const quote = { price: 10, prevClose: 9, volume: 5, quotedAt: now } as Quote
  const fetched = (change: Partial<Quote>): Fetched<Quote> => ({
    ok: true,
    value: { ...quote, ...change },
    provider: 'x',
    provenance: null,
    runs: [],
  })
  const doubt = (change: Partial<Quote>, at = now) => doubtOf(fetched(change), SHARE, at)
  expect(doubt({})).toBeNull()
  expect(doubt({ quotedAt: now - 20 * MINUTE })).toBeNull()
  expect(doubt({ quotedAt: now - 21 * MINUTE })).toBe('stale')
  expect(doubt({ quotedAt: now - DAY })).toBe('other_day')
  expect(doubt({ quotedAt: now + 3 * MINUTE })).toBe('ahead')
  expect(doubt({ quotedAt: null })).toBe('no_time')
  expect(doubt({ volume: 0, price: 9 })).toBe('suspended')
  // A price that no trade made is one of the auction; an index may have no volume at all.
  expect(doubt({ volume: 0, price: 10 })).toBe('suspended')
  expect(doubtOf(fetched({ volume: 0, price: 10 }), { market: 'cn', kind: 'index' }, now)).toBeNull()
  expect(doubtOf(undefined, SHARE, now)).toBe('no_quote')
  const sample = {
    ...fetched({}),
    provenance: { kind: 'historical', label: 'x', endsOn: '2026-08-13' },
  } as Fetched<Quote>
  expect(doubtOf(sample, SHARE, now)).toBe('sample')
  // The pause at noon is no trading time.
  const afterNoon = Date.parse('2026-08-13T05:05:00Z')
  expect(doubt({ quotedAt: Date.parse('2026-08-13T03:30:00Z') }, afterNoon)).toBeNull()
  expect(tradingMinutesBetween('cn', '2026-08-13', 0, Date.parse('2026-08-13T09:00:00Z'))).toBe(240)
})

test('quiet hours end by the clock of their zone, also over midnight and over a change of the clock', () => {
  const night = { from: '22:00', to: '07:30', zone: 'America/New_York' }
  const until = (moment: string, quiet: typeof night) => {
    const at = quietUntil(quiet, Date.parse(moment))
    return at === null ? null : new Date(at).toISOString()
  }
  expect(until('2026-08-13T16:00:00Z', night)).toBeNull()
  expect(until('2026-08-14T03:00:00Z', night)).toBe('2026-08-14T11:30:00.000Z')
  expect(until('2026-08-14T11:29:00Z', night)).toBe('2026-08-14T11:30:00.000Z')
  expect(until('2026-08-14T11:30:00Z', night)).toBeNull()
  // The clocks go back in this night.
  expect(until('2026-11-01T03:00:00Z', night)).toBe('2026-11-01T12:30:00.000Z')
  expect(until('2026-08-13T04:30:00Z', { from: '12:00', to: '13:00', zone: 'Asia/Shanghai' })).toBe(
    '2026-08-13T05:00:00.000Z',
  )
  expect(quietUntil({ ...night, to: '22:00' }, Date.parse('2026-08-14T03:00:00Z'))).toBeNull()
})

test('the list of rules says when nobody looks at them', () => {
  const now = Date.parse('2026-08-13T02:30:00Z')
  const monitor = (last: number | null, isLive = true) => {
    const sweeps = new Map(last === null ? [] : [['rest', last] as const])
    return monitorOf({ sweeps, isLive, now, since: now - 60 * MINUTE }, 'en')
  }
  expect(monitor(now - 15 * MINUTE)).toMatchObject({ state: 'on', message: null })
  expect(monitor(now - 16 * MINUTE)).toMatchObject({
    state: 'late',
    message: 'The monitor has not run since 2026-08-13T02:14:00.000000Z.',
  })
  // Nobody ever looked, and the first rule is an hour old.
  expect(monitor(null)).toMatchObject({ state: 'late', last_run_at: null })
  expect(monitor(now, false)).toMatchObject({ state: 'off' })
})
