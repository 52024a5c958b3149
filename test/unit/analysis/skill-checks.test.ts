import { expect, test } from 'vitest'
import type { CheckKey } from '../../../src/analysis/codes.ts'
import type { Company, Part } from '../../../src/analysis/gather/company.ts'
import { technicalView } from '../../../src/analysis/judge/signals.ts'
import { answerTo, type SkillView } from '../../../src/analysis/judge/skills.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { QUOTE, REPORT } from './company-reports.ts'
import { barsOf, wave } from './series.ts'

const known = <T>(value: T): Part<T> => ({
  ...{ state: 'ok', value, source: 'test', ageSeconds: null, reasons: [], runs: [] },
})
const NOTHING: Part<never> = { ...known(null as never), state: 'failed', value: null }
const COMPANY: Company = { fundamentals: NOTHING, flow: NOTHING, boards: NOTHING, rankings: NOTHING, peers: NOTHING }
const BARS = barsOf(wave(80, 0.3))
const TECHNICAL = technicalView(BARS)
if (TECHNICAL === null) throw new Error('80 bars are enough for a view')

const VIEW: SkillView = {
  technical: TECHNICAL,
  bars: BARS,
  price: 100,
  quote: null,
  flow: { bias: 'unavailable', today: null, days5: null, days10: null, date: null },
  value: null,
  company: COMPANY,
  news: null,
  stockName: 'Moutai',
}
const asked = (check: CheckKey, change: Partial<SkillView>) => answerTo(check, { ...VIEW, ...change })
const chart = (change: Partial<typeof TECHNICAL>, indicators: Partial<typeof TECHNICAL.indicators> = {}) => ({
  technical: { ...TECHNICAL, ...change, indicators: { ...TECHNICAL.indicators, ...indicators } },
})

/** Bars of one price, but for what is changed of them, counted from the last. */
const flat = (count: number, changes: Record<number, Partial<Bar>> = {}): Bar[] =>
  barsOf(Array.from({ length: count }, () => 100)).map((bar, i) => ({
    ...bar,
    ...{ open: 100, high: 100, low: 100, close: 100 },
    ...changes[i - count],
  }))

test('a question about the figures of the chart is answered at its limit and on both sides of it', () => {
  const cases: [CheckKey, Partial<SkillView>, boolean | null][] = [
    ['averages_rise', chart({ trend: 'bull' }), true],
    ['averages_rise', chart({ trend: 'strong_bull' }), true],
    ['averages_rise', chart({ trend: 'weak_bull' }), false],
    ['above_ma20', chart({}, { ma20: 100 }), true],
    ['above_ma20', chart({}, { ma20: 100.1 }), false],
    ['above_ma20', chart({}, { ma20: null }), null],
    ['not_chasing', chart({}, { bias5: 5 }), true],
    ['not_chasing', chart({}, { bias5: 5.1 }), false],
    ['macd_rises', chart({}, { histogram: 0.01 }), true],
    ['macd_rises', chart({}, { histogram: 0 }), false],
    ['breaks_high', chart({ priorHigh20: 99.9 }), true],
    ['breaks_high', chart({ priorHigh20: 100 }), false],
    ['breaks_high', chart({ priorHigh20: null }), null],
    ['heavy_volume', chart({}, { volumeRatio: 1.5 }), true],
    ['heavy_volume', chart({}, { volumeRatio: 1.49 }), false],
    ['shrinking_volume', chart({}, { volumeRatio: 0.8 }), true],
    ['shrinking_volume', chart({}, { volumeRatio: 0.81 }), false],
    ['shrinking_volume', chart({}, { volumeRatio: null }), null],
    ['near_short_average', chart({}, { ma10: 98.1, ma20: 50 }), true],
    ['near_short_average', chart({}, { ma10: 50, ma20: 102 }), true],
    ['near_short_average', chart({}, { ma10: 97, ma20: 104 }), false],
    ['near_short_average', chart({}, { ma10: null, ma20: 104 }), false],
    ['near_short_average', chart({}, { ma10: null, ma20: 0 }), null],
    ['rsi_not_hot', chart({}, { rsi12: 70 }), true],
    ['rsi_not_hot', chart({}, { rsi12: 70.1 }), false],
    ['rsi_cold', chart({}, { rsi12: 40 }), true],
    ['rsi_cold', chart({}, { rsi12: 40.1 }), false],
    ['rsi_cold', { technical: null }, null],
  ]
  for (const [check, change, answer] of cases) {
    expect([check, change, asked(check, change)]).toEqual([check, change, answer])
  }
})

test('boxes, falls and turns are measured over as many bars as they are named by, and not over fewer', () => {
  const cases: [CheckKey, Bar[], boolean | null][] = [
    ['narrow_box', flat(19), null],
    ['narrow_box', flat(20, { [-20]: { high: 114.9 } }), true],
    ['narrow_box', flat(20, { [-20]: { high: 115.1 } }), false],
    ['narrow_box', flat(21, { [-21]: { high: 200 } }), true],
    ['narrow_box', flat(20, { [-1]: { low: 0 } }), null],
    ['at_box_bottom', flat(19), null],
    ['at_box_bottom', flat(20), false],
    ['at_box_bottom', flat(20, { [-5]: { high: 120 }, [-1]: { close: 107 } }), true],
    ['at_box_bottom', flat(20, { [-5]: { high: 120 }, [-1]: { close: 107.1 } }), false],
    ['long_fall', flat(59), null],
    ['long_fall', flat(60, { [-60]: { high: 118 } }), true],
    ['long_fall', flat(60, { [-60]: { high: 117 } }), false],
    ['long_fall', flat(61, { [-61]: { high: 200 } }), false],
    ['turns_up', flat(2, { [-1]: { close: 100.1 } }), true],
    ['turns_up', flat(2), false],
    ['turns_up', flat(1), null],
  ]
  for (const [check, bars, answer] of cases)
    expect([check, bars.length, asked(check, { bars })]).toEqual([check, bars.length, answer])
})

test('the shorter average crosses the longer one on one of the last three days, or it does not', () => {
  const closes = (...last: number[]) =>
    barsOf([...Array.from({ length: 20 - last.length }, (_, i) => 100 - i), ...last])
  expect(asked('golden_cross', { bars: closes() })).toBe(false)
  expect(asked('golden_cross', { bars: closes(130) })).toBe(true)
  expect(asked('golden_cross', { bars: closes(130, 130, 130) })).toBe(true)
  expect(asked('golden_cross', { bars: closes(130, 130, 130, 130) })).toBe(false)
  expect(asked('golden_cross', { bars: closes(130).slice(-13) })).toBe(true)
  expect(asked('golden_cross', { bars: closes(130).slice(-12) })).toBeNull()
})

test('a long rise, three rests and a close above it are seen, and none of them may be missing', () => {
  const five = (change: Record<number, Partial<Bar>> = {}): Bar[] => {
    const rest = { open: 104, close: 103, low: 100, high: 104 }
    const all = { [-5]: { close: 104 }, [-4]: rest, [-3]: rest, [-2]: rest, [-1]: { open: 104, close: 104.1 } }
    return flat(5, Object.fromEntries(Object.entries(all).map(([i, bar]) => [i, { ...bar, ...change[Number(i)] }])))
  }
  expect(asked('yang_rest_yang', { bars: five() })).toBe(true)
  const spoilt: Record<number, Partial<Bar>>[] = [
    { [-5]: { close: 103 } },
    { [-4]: { low: 99.9 } },
    { [-3]: { close: 101 } },
    { [-2]: { close: 107 } },
    { [-1]: { close: 104 } },
    { [-1]: { open: 105 } },
  ]
  for (const change of spoilt)
    expect([change, asked('yang_rest_yang', { bars: five(change) })]).toEqual([change, false])
  expect(asked('yang_rest_yang', { bars: five().slice(1) })).toBeNull()
})

/** A price that goes from turn to turn in steps of five bars. */
function turning(...turns: number[]): Bar[] {
  const closes = turns.flatMap((to, i) => {
    const from = turns[i - 1] ?? to
    return i === 0 ? [to] : Array.from({ length: 5 }, (_, step) => from + ((to - from) * (step + 1)) / 5)
  })
  return flat(closes.length).map((bar, i) => {
    const close = closes[i] ?? 100
    return { ...bar, open: close, high: close, low: close, close }
  })
}

test('rising turns have higher highs and higher lows', () => {
  expect(asked('rising_turns', { bars: turning(105, 100, 120, 110, 130, 125) })).toBe(true)
  expect(asked('rising_turns', { bars: turning(105, 100, 120, 110, 119, 112) })).toBe(false)
  expect(asked('rising_turns', { bars: turning(115, 110, 120, 100, 130, 125) })).toBe(false)
  expect(asked('rising_turns', { bars: turning(100, 120, 110, 130) })).toBeNull()
})

test('a retracement is golden from 38 to 62 percent of the rise before it', () => {
  const taken = (to: number) => asked('golden_retracement', { bars: turning(110, 100, 200, to, to + 20) })
  expect([170, 162.1, 161, 139, 137.9].map(taken)).toEqual([false, false, true, true, false])
  // A fall that goes on has no turn of its own yet.
  expect(asked('golden_retracement', { bars: turning(110, 100, 200, 150) })).toBe(true)
  expect(asked('golden_retracement', { bars: turning(110, 100, 200, 180) })).toBe(false)
  expect(asked('golden_retracement', { bars: turning(100, 200, 150) })).toBeNull()
})

test('the newest turn is a bottom when it is a low that nothing undercut', () => {
  expect(asked('bottom_fractal', { bars: turning(120, 100, 110) })).toBe(true)
  expect(asked('bottom_fractal', { bars: turning(100, 120, 110) })).toBe(false)
  expect(asked('bottom_fractal', { bars: turning(100, 120) })).toBeNull()
  const undercut = turning(120, 100, 110)
  expect(asked('bottom_fractal', { bars: undercut.with(-1, { ...undercut[0], ...flat(1)[0], low: 99 } as Bar) })).toBe(
    false,
  )
})

test('what is known of the company is answered at its limits, and what is not known is not a no', () => {
  const company = (report: Partial<NonNullable<typeof REPORT.report>>): Partial<SkillView> => {
    if (REPORT.report === null) throw new Error('the company has a report')
    return { company: { ...COMPANY, fundamentals: known({ ...REPORT, report: { ...REPORT.report, ...report } }) } }
  }
  const value = (peRatio: number | null) => ({
    value: {
      ...{ peRatio, pbRatio: null, totalMarketValue: null, circulatingMarketValue: null, currency: null, asOf: null },
    },
  })
  const flow = (bias: SkillView['flow']['bias']) => ({ flow: { ...VIEW.flow, bias } })
  const turnover = (turnoverRatePct: number | null) => ({ quote: { ...QUOTE, turnoverRatePct } })
  const cases: [CheckKey, Partial<SkillView>, boolean | null][] = [
    ['profit_grows', company({ netProfitYoyPct: 10 }), true],
    ['profit_grows', company({ netProfitYoyPct: 9.9 }), false],
    ['profit_grows', {}, null],
    ['sales_grow', company({ revenueYoyPct: 10 }), true],
    ['sales_grow', company({ revenueYoyPct: 9.9 }), false],
    ['good_roe', company({ roePct: 10 }), true],
    ['good_roe', company({ roePct: 9.9 }), false],
    ['good_roe', company({ roePct: null }), null],
    ['margin_widens', company({ netProfitYoyPct: 5.1, revenueYoyPct: 5 }), true],
    ['margin_widens', company({ netProfitYoyPct: 5, revenueYoyPct: 5 }), false],
    ['margin_widens', company({ netProfitYoyPct: 5, revenueYoyPct: null }), null],
    ['fair_price', value(40), true],
    ['fair_price', value(40.1), false],
    ['fair_price', value(0.1), true],
    ['fair_price', value(0), false],
    ['fair_price', value(null), null],
    ['calm_turnover', turnover(15), true],
    ['calm_turnover', turnover(15.1), false],
    ['calm_turnover', turnover(null), null],
    ['money_flows_in', flow('inflow'), true],
    ['money_flows_in', flow('outflow'), false],
    ['money_flows_in', flow('unavailable'), null],
    ['has_news', {}, null],
    ['in_hot_board', {}, null],
    ['leads_board', {}, null],
  ]
  for (const [check, change, answer] of cases) {
    // Without a chart too.
    const answers = [asked(check, change), asked(check, { ...change, technical: null })]
    expect([check, change, answers]).toEqual([check, change, [answer, answer]])
  }
})
