// Our indicators against three libraries: equal within 1e-9 where the definitions agree; where they do not, the difference is
// named here, and it is that difference and no other.

import * as cinar from 'indicatorts'
import * as classic from 'technicalindicators'
import * as signals from 'trading-signals'
import { expect, test } from 'vitest'
import type { Bar } from '../../src/market/bars.ts'
import { ema } from '../../src/market/indicators/averages.ts'
import { columns, indicatorSeries } from '../../src/market/indicators/index.ts'
import { listSamples, loadSampleBars } from '../../src/market/providers/sample.ts'
import { longSeries } from '../support/long-series.ts'

const samples = await Promise.all(
  listSamples()
    .slice(0, 4)
    .map(async (sample): Promise<[string, Bar[]]> => [sample.key, await loadSampleBars(sample)]),
)
const SERIES: [string, Bar[]][] = [...samples, ['5,908 bars', longSeries()]]

type Values = ArrayLike<number>
type Theirs = readonly (number | null | undefined)[]

/** The largest difference from an index on, relative to the size of the values; theirs may be shorter at its start. */
function apart(ours: Values, theirs: Theirs, from = 0): number {
  const shift = ours.length - theirs.length
  let [most, compared] = [0, 0]
  for (let i = Math.max(from, shift); i < ours.length; i++) {
    const [a, b] = [ours[i] ?? Number.NaN, theirs[i - shift] ?? Number.NaN]
    if (Number.isNaN(a) || Number.isNaN(b)) continue
    compared += 1
    most = Math.max(most, Math.abs(a - b) / Math.max(1, Math.abs(b)))
  }
  // Nothing compared would be equal to anything.
  return compared > 50 ? most : Number.POSITIVE_INFINITY
}

const EQUAL = 1e-9

type Plain = { update: (value: never, replace: boolean) => unknown }

/** A streaming indicator fed bar by bar; what is not ready is null. */
function fed(indicator: Plain, bars: readonly Bar[], input: (bar: Bar) => unknown): unknown[] {
  return bars.map((bar) => indicator.update(input(bar) as never, false) ?? null)
}

const closeOf = ({ close }: Bar) => close
const field = (rows: unknown[], name: string): (number | null)[] =>
  rows.map((row) => (row as Record<string, number> | null)?.[name] ?? null)

test('averages, MACD, RSI, Bollinger, ATR and OBV equal every library that defines them alike, within 1e-9', () => {
  for (const [name, bars] of SERIES) {
    const table = columns(bars)
    const [close, volume] = [[...table.close], [...table.volume]]
    const ours = indicatorSeries(table)
    const stream = (indicator: Plain) => fed(indicator, bars, closeOf) as (number | null)[]
    const pairs: [string, Values, Theirs][] = []
    for (const n of [5, 10, 20, 60, 120, 250] as const) {
      pairs.push([`sma${n} trading-signals`, ours[`ma${n}`], stream(new signals.SMA(n))])
      pairs.push([`sma${n} technicalindicators`, ours[`ma${n}`], classic.SMA.calculate({ period: n, values: close })])
      // indicatorts starts before its window is full; from there on the definitions agree.
      pairs.push([`sma${n} indicatorts`, ours[`ma${n}`], cinar.sma(close, { period: n })])
    }
    for (const n of [12, 26] as const) {
      pairs.push([`ema${n} trading-signals`, ema(table.close, n), stream(new signals.EMA(n))])
      pairs.push([`ema${n} indicatorts`, ema(table.close, n), cinar.ema(close, { period: n })])
    }
    for (const n of [6, 12, 24] as const) {
      pairs.push([`rsi${n} trading-signals`, ours[`rsi${n}`], stream(new signals.RSI(n))])
    }
    const macd = fed(new signals.MACD(new signals.EMA(12), new signals.EMA(26), new signals.EMA(9)), bars, closeOf)
    const lines = cinar.macd(close)
    pairs.push(['dif trading-signals', ours.dif, field(macd, 'macd')])
    pairs.push(['dif indicatorts', ours.dif, lines.macdLine])
    pairs.push(['dea indicatorts', ours.dea, lines.signalLine])
    const doubled = lines.macdLine.map((value, i) => 2 * (value - (lines.signalLine[i] ?? 0)))
    pairs.push(['histogram indicatorts', ours.histogram, doubled])
    const bands = fed(new signals.BollingerBands(20, 2), bars, closeOf)
    const classicBands = classic.BollingerBands.calculate({ period: 20, stdDev: 2, values: close })
    const cinarBands = cinar.bb(close, { period: 20 })
    for (const edge of ['upper', 'middle', 'lower'] as const) {
      const mine = { upper: ours.bollUpper, middle: ours.bollMiddle, lower: ours.bollLower }[edge]
      pairs.push([`boll ${edge} trading-signals`, mine, field(bands, edge)])
      pairs.push([`boll ${edge} technicalindicators`, mine, classicBands.map((band) => band[edge])])
      pairs.push([`boll ${edge} indicatorts`, mine, cinarBands[edge]])
    }
    pairs.push(['atr trading-signals', ours.atr, fed(new signals.ATR(14), bars, (bar) => bar) as (number | null)[]])
    pairs.push(['obv indicatorts', ours.obv, cinar.obv(close, volume)])
    pairs.push(['obv technicalindicators', ours.obv, classic.OBV.calculate({ close, volume })])
    const unequal = pairs.filter(([, mine, theirs]) => apart(mine, theirs) > EQUAL)
    expect([name, unequal.map(([what, mine, theirs]) => `${what}: ${apart(mine, theirs)}`)]).toEqual([name, []])
  }
})

test('an EMA that starts from an SMA, and whatever is made of one, differs at first and is equal once its start has faded', () => {
  const bars = longSeries()
  const table = columns(bars)
  const [close, high, low] = [[...table.close], [...table.high], [...table.low]]
  const ours = indicatorSeries(table)
  const macd = classic.MACD.calculate({
    values: close,
    fastPeriod: 12,
    slowPeriod: 26,
    signalPeriod: 9,
    SimpleMAOscillator: false,
    SimpleMASignal: false,
  })
  const streamed = fed(new signals.MACD(new signals.EMA(12), new signals.EMA(26), new signals.EMA(9)), bars, closeOf)
  const fading: [string, Values, Theirs][] = [
    ['ema12 technicalindicators', ema(table.close, 12), classic.EMA.calculate({ period: 12, values: close })],
    ['dif technicalindicators', ours.dif, macd.map((row) => row.MACD)],
    ['dea technicalindicators', ours.dea, macd.map((row) => row.signal)],
    // Its signal line starts at the first DIF that counts, ours at the first DIF there is.
    ['dea trading-signals', ours.dea, field(streamed, 'signal')],
    // Its first true range is the second bar's.
    ['atr technicalindicators', ours.atr, classic.ATR.calculate({ period: 14, high, low, close })],
    // Its smoothed averages start from the first change instead of the mean of the first n.
    ['rsi12 indicatorts', ours.rsi12, cinar.rsi(close, { period: 12 })],
  ]
  for (const [name, mine, theirs] of fading) {
    expect([name, apart(mine, theirs) > EQUAL, apart(mine, theirs, 1_000) <= EQUAL]).toEqual([name, true, true])
  }
})

test('RSI of technicalindicators is ours rounded to two decimals; ATR of indicatorts is a plain mean of true ranges', () => {
  const bars = longSeries(1_500)
  const table = columns(bars)
  const [close, high, low] = [[...table.close], [...table.high], [...table.low]]
  const ours = indicatorSeries(table)
  for (const n of [6, 12, 24] as const) {
    const theirs = classic.RSI.calculate({ period: n, values: close })
    const shift = close.length - theirs.length
    theirs.forEach((value, i) => {
      expect(Math.abs((ours[`rsi${n}`][i + shift] ?? 0) - value)).toBeLessThanOrEqual(0.005 + EQUAL)
    })
  }
  const { trLine, atrLine } = cinar.atr(high, low, close, { period: 14 })
  const mean = trLine.map((_, i) => {
    const window = trLine.slice(Math.max(0, i - 13), i + 1)
    return window.reduce((sum, value) => sum + value, 0) / window.length
  })
  expect(apart(Float64Array.from(mean), atrLine, 14)).toBeLessThanOrEqual(EQUAL)
})

test('KDJ follows its own recursion, from which libraries differ by taking plain means of three', () => {
  const bars = longSeries(800)
  const ours = indicatorSeries(columns(bars))
  let [k, d] = [50, 50]
  for (let i = 8; i < bars.length; i++) {
    const window = bars.slice(i - 8, i + 1)
    const low = Math.min(...window.map((bar) => bar.low))
    const high = Math.max(...window.map((bar) => bar.high))
    const raw = high === low ? 50 : (((bars[i]?.close ?? 0) - low) / (high - low)) * 100
    k = (2 / 3) * k + (1 / 3) * raw
    d = (2 / 3) * d + (1 / 3) * k
    expect(Math.abs((ours.k[i] ?? 0) - k)).toBeLessThanOrEqual(EQUAL * 100)
    expect(Math.abs((ours.d[i] ?? 0) - d)).toBeLessThanOrEqual(EQUAL * 100)
    expect(Math.abs((ours.j[i] ?? 0) - (3 * k - 2 * d))).toBeLessThanOrEqual(EQUAL * 1_000)
  }
  const closes = bars.map(closeOf)
  const theirs = cinar.kdj(
    bars.map((bar) => bar.high),
    bars.map((bar) => bar.low),
    closes,
    { rPeriod: 9, kPeriod: 3, dPeriod: 3 },
  )
  expect(apart(ours.k, theirs.k, 100)).toBeGreaterThan(0.01)
})
