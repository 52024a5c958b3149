// What the console reads from a stored report to tell how it came about, and the lines of its chart.

import { expect, test } from 'vitest'
import { placeNodes } from '../../src/web/analysis/flow-places.ts'
import { heat, reviewsIn } from '../../src/web/analysis/stored-review.ts'
import { storedStory } from '../../src/web/analysis/stored-story.ts'
import {
  alongside,
  drawnOf,
  inPercent,
  levelsInReach,
  PERCENT_FORMAT,
  priceFormat,
} from '../../src/web/charts/series.ts'

const day = (n: number) => new Date(Date.UTC(2025, 0, 1 + n)).toISOString().slice(0, 10)
const bar = (n: number) => {
  const close = 100 + 10 * Math.sin(n / 5)
  return { date: day(n), open: close - 1, high: close + 2, low: close - 2, close, volume: 1000 + n }
}
const BARS = Array.from({ length: 180 }, (_, n) => bar(n))

test('score parts, gates, checks, zones, news and the series are read as they are stored', () => {
  const story = storedStory({
    details: {
      raw_result: {
        confidence_level: 'Low',
        guardrail_interventions: [{ raw_score: 62, score: 59, reason: 'too little to win' }, { reason: 'no score' }],
        consistency: { findings: [{ verdict: 'pass' }, { verdict: 'warn' }, { verdict: 'not_possible' }] },
        changes_since_previous: { sentences: ['the score fell'] },
        dashboard: {
          core_conclusion: { one_sentence: 'wait', position_advice: { no_position: 'stay out', has_position: null } },
          intelligence: { risk_alerts: ['a', 7], positive_catalysts: ['b'] },
          phase_decision: { watch_conditions: ['w'], data_limitations: ['l'] },
        },
        market_comparison: { index: { code: 'SH000300', name: 'CSI 300' } },
        news_summary: 'told',
      },
      context_snapshot: {
        enhanced_context: {
          trend_analysis: {
            score_parts: [{ label: 'Trend', points: 20, max: 30, reason: 'up' }, { label: 'odd' }],
            supports: [{ price: 10, basis: 'MA5' }],
          },
        },
        news_items: [
          {
            title: 'A',
            url: 'https://n.example/a',
            source: 'N',
            publishedAt: '2025-01-02T00:00:00Z',
            dimension: 'news',
          },
          { title: 'B', url: 'javascript:alert(1)', source: 'N', publishedAt: null, dimension: 'news' },
          { title: 'C', url: null, source: 'N', publishedAt: null, dimension: 'industry' },
        ],
        chart_series: {
          columns: ['date', 'close', 'open', 'high', 'low', 'volume'],
          rows: [['2025-01-02', 2, 1, 3, 0.5, null], ['2025-01-03', 'x', 1, 3, 0.5, 9], 'odd'],
        },
      },
    },
  })
  expect(story).toMatchObject({
    oneSentence: 'wait',
    scoreParts: [{ label: 'Trend', points: 20, max: 30, reason: 'up' }],
    gates: [{ raw: 62, score: 59, reason: 'too little to win' }],
    checked: { passed: 1, made: 2 },
    changes: ['the score fell'],
    risks: ['a'],
    supports: [{ price: 10, basis: 'MA5' }],
    told: ['told'],
    headlines: [
      { title: 'A', url: 'https://n.example/a', source: 'N', day: '2025-01-02' },
      { title: 'B', url: null, source: 'N', day: '' },
    ],
    bars: [{ date: '2025-01-02', open: 1, high: 3, low: 0.5, close: 2, volume: null }],
    index: { code: 'SH000300', name: 'CSI 300' },
  })
  for (const odd of [null, {}, { raw_result: 'x', context_snapshot: { chart_series: [] } }]) {
    expect(storedStory({ details: odd })).toMatchObject({
      scoreParts: [],
      gates: [],
      checked: null,
      bars: [],
      index: null,
    })
  }
})

test('every average has its value from the first bar that is shown, and equals the mean of the bars before it', () => {
  const drawn = drawnOf(BARS, 120)
  expect(drawn.bars).toHaveLength(120)
  for (const { name, values } of drawn.averages) {
    const length = Number(name.slice(2))
    expect([name, [...values].filter(Number.isNaN).length]).toEqual([name, 0])
    const first = BARS.slice(60 - length + 1, 61)
    expect(values[0]).toBeCloseTo(first.reduce((sum, { close }) => sum + close, 0) / length, 9)
  }
  for (const line of [...drawn.macd, ...drawn.rsi, ...drawn.kdj]) {
    expect([line.name, [...line.values].some(Number.isNaN)]).toEqual([line.name, false])
  }
  // Fewer bars than the average needs: it begins where it can.
  expect([...(drawnOf(BARS.slice(0, 70), 60).averages[2]?.values ?? [])].filter(Number.isNaN)).toHaveLength(49)
})

test('a level far from the bars is not drawn, and another listing lies on the same days', () => {
  const levels = [
    { label: 'near', price: 95, kind: 'stop' as const },
    { label: 'far', price: 400, kind: 'target' as const },
  ]
  expect(levelsInReach(BARS, levels).map(({ label }) => label)).toEqual(['near'])
  const other = [{ ...bar(1), close: 7 }, bar(500)]
  expect([...alongside(BARS.slice(0, 3), other)]).toEqual([Number.NaN, 7, Number.NaN])
})

test('beside another listing all prices are in percent of one close, so an average keeps its place among the candles', () => {
  const drawn = drawnOf(BARS, 120)
  const beside = { name: 'other', values: Float64Array.of(Number.NaN, 50, 55) }
  const levels = [{ label: 'stop', price: 95, kind: 'stop' as const }]
  const shown = inPercent({ drawn, levels, beside })
  const base = drawn.bars[0]?.close ?? Number.NaN
  const percent = (price = Number.NaN) => (price / base - 1) * 100
  expect(shown.drawn.bars[0]).toMatchObject({ close: 0, high: percent(drawn.bars[0]?.high) })
  for (const [at, { values }] of shown.drawn.averages.entries()) {
    expect(values[0]).toBeCloseTo(percent(drawn.averages[at]?.values[0]), 9)
  }
  expect(shown.levels).toEqual([{ label: 'stop', price: percent(95), kind: 'stop' }])
  expect([...shown.beside.values].map((value) => Math.round(value))).toEqual([Number.NaN, 0, 10])
})

test('percentages beside the chart are whole ones with their decimals, and the first session has its change as well', () => {
  const said = [-12.6066, -8.5, 26.85, 0, -0.001].map(PERCENT_FORMAT.formatter)
  expect(said).toEqual(['−12.61 %', '−8.50 %', '26.85 %', '0.00 %', '0.00 %'])
  expect([drawnOf(BARS, 120).closeBefore, drawnOf(BARS, 180).closeBefore]).toEqual([BARS[59]?.close, null])
  expect(
    [bar(0), { ...bar(0), close: 0.5 }, { ...bar(0), close: 0.005 }].map((one) => priceFormat([one]).precision),
  ).toEqual([2, 4, 6])
})

test('a review has cards for its indices and tiles for its boards, whether of one market or of several', () => {
  const market = {
    market_scope: 'China A-shares',
    color_scheme: 'red_up',
    indices: [
      { code: 'sh000001', name: 'SSE', current: 2736, change: 18, change_pct: 0.69, amount: 1 },
      { name: 'odd' },
    ],
    sectors: { top: [{ name: 'Banks', change_pct: 2.5 }], bottom: [{ name: 'Steel', change_pct: -0.1 }] },
    market_light: { score: 54, label: 'Balanced', status: 'yellow', reasons: ['r', 1], guidance: 'g' },
  }
  const of = (payload: object) => reviewsIn({ context_snapshot: { market_review_payload: payload } })
  expect(of(market)).toMatchObject([
    {
      isRedUp: true,
      indices: [{ name: 'SSE', changePct: 0.69 }],
      tiles: [{ tiles: [{ name: 'Banks' }, { name: 'Steel' }] }],
    },
  ])
  expect(of({ markets: { cn: market, us: { ...market, market_scope: 'US' } } }).map(({ scope }) => scope)).toEqual([
    'China A-shares',
    'US',
  ])
  // On the mainland a price that rose is red wherever it is shown.
  expect(of({ ...market, region: 'cn', color_scheme: 'green_up' })[0]?.isRedUp).toBe(true)
  expect(of({ ...market, region: 'us', color_scheme: 'green_up' })[0]?.isRedUp).toBe(false)
  expect(reviewsIn(null)).toEqual([])
  expect([0, 0.1, 4, -9, -1.7].map(heat)).toEqual(['flat', 'up-1', 'up-5', 'down-5', 'down-3'])
})

test('the steps of a run stand in the column of their stage, one below the other', () => {
  const node = (id: string, lane: string) => {
    return { id, lane, label: id, status: 'success', duration_ms: null, record_count: null, message: null }
  }
  const placed = placeNodes({
    lanes: [
      { id: 'analysis', label: 'Analysis', order: 2 },
      { id: 'entry', label: 'Entry', order: 1 },
    ],
    nodes: [node('a', 'entry'), node('b', 'analysis'), node('c', 'analysis'), node('lost', 'nowhere')],
  })
  expect([...placed.keys()]).toEqual(['a', 'b', 'c'])
  const at = (id: string) => placed.get(id) ?? { x: Number.NaN, y: Number.NaN }
  expect(at('a').x).toBeLessThan(at('b').x)
  expect(at('b').x).toBe(at('c').x)
  expect(at('c').y).toBeGreaterThan(at('b').y)
})
