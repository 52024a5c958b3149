// Whole sets of indicators over a long daily series, by our code and by three libraries, on ready-made columns. In a process of its own:
// each of our sets is a megabyte outside the heap, which makes the collector look through all that is in the heap, and in the
// benchmark's own process 70 MB of other things took half of the time.

import * as cinar from 'indicatorts'
import * as classic from 'technicalindicators'
import * as signals from 'trading-signals'
import type { Bar } from '../../src/market/bars.ts'
import { columns, INDICATORS } from '../../src/market/indicators/index.ts'
import { longSeries } from '../../test/support/long-series.ts'
import { serveCalls } from './pinned-process.ts'

const AVERAGES = [5, 10, 20, 60, 120, 250]
const RSI = [6, 12, 24]
const SLICE_MS = 600

export type IndicatorCalls = { setsPerSecond(side: Side): Promise<number> }
export type Side = keyof typeof SIDES

const bars = longSeries()
const table = columns(bars)
// Returns, risk and turnover are ours alone.
const set = INDICATORS.filter(({ part }) => part !== 'performance')

const SIDES = {
  ours: () => {
    for (const { compute } of set) compute(table)
  },
  technicalindicators: () => withClassic(bars),
  'trading-signals': () => withSignals(bars),
  indicatorts: () => withCinar(bars),
}

function setsPerSecond(run: () => void): number {
  run()
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < SLICE_MS) {
    run()
    count += 1
  }
  return (count * 1000) / (performance.now() - startedAt)
}

const column = (bars: readonly Bar[], name: 'high' | 'low' | 'close' | 'volume'): number[] =>
  bars.map((bar) => bar[name])

function withClassic(bars: readonly Bar[]): void {
  const [high, low, close, volume] = [
    column(bars, 'high'),
    column(bars, 'low'),
    column(bars, 'close'),
    column(bars, 'volume'),
  ]
  for (const period of AVERAGES) classic.SMA.calculate({ period, values: close })
  for (const period of RSI) classic.RSI.calculate({ period, values: close })
  const ema = { SimpleMAOscillator: false, SimpleMASignal: false }
  classic.MACD.calculate({ values: close, fastPeriod: 12, slowPeriod: 26, signalPeriod: 9, ...ema })
  classic.Stochastic.calculate({ high, low, close, period: 9, signalPeriod: 3 })
  classic.BollingerBands.calculate({ period: 20, stdDev: 2, values: close })
  classic.ATR.calculate({ period: 14, high, low, close })
  classic.OBV.calculate({ close, volume })
}

function withSignals(bars: readonly Bar[]): void {
  const ofCloses = [
    ...AVERAGES.map((period) => new signals.SMA(period)),
    ...RSI.map((period) => new signals.RSI(period)),
    new signals.MACD(new signals.EMA(12), new signals.EMA(26), new signals.EMA(9)),
    new signals.BollingerBands(20, 2),
  ]
  const [atr, stochastic, obv] = [
    new signals.ATR(14),
    new signals.StochasticOscillator({ kPeriod: 9, kSlowingPeriod: 3, dPeriod: 3 }),
    new signals.OBV(5),
  ]
  for (const bar of bars) {
    for (const indicator of ofCloses) indicator.update(bar.close, false)
    atr.update(bar, false)
    stochastic.update(bar, false)
    obv.update(bar, false)
  }
}

function withCinar(bars: readonly Bar[]): void {
  const [high, low, close, volume] = [
    column(bars, 'high'),
    column(bars, 'low'),
    column(bars, 'close'),
    column(bars, 'volume'),
  ]
  for (const period of AVERAGES) cinar.sma(close, { period })
  for (const period of RSI) cinar.rsi(close, { period })
  cinar.macd(close)
  cinar.kdj(high, low, close, { rPeriod: 9, kPeriod: 3, dPeriod: 3 })
  cinar.bb(close, { period: 20 })
  cinar.atr(high, low, close, { period: 14 })
  cinar.obv(close, volume)
}

const calls: IndicatorCalls = { setsPerSecond: async (side) => setsPerSecond(SIDES[side]) }

serveCalls(calls)
