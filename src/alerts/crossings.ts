// Crossings of indicators over completed daily bars. A missing bar gives no crossing: the last two bars must be those
// of the last two sessions.

import type { Bar } from '../market/bars.ts'
import { previousTradingDay } from '../market/calendar.ts'
import { emaFromFirst, sma } from '../market/indicators/averages.ts'
import { rsi } from '../market/indicators/momentum.ts'
import { blank, type Numbers, rollingMax, rollingMin, type Series } from '../market/indicators/series.ts'
import type { Market } from '../market/instruments.ts'
import { type AlertType, barsNeeded, type Parameters } from './kinds.ts'

export type Crossing =
  | { ok: true; crossed: boolean; value: number; threshold: number }
  | { ok: false; reason: 'no_bar' | 'gap' | 'few_bars' }

export type BarQuestion = { type: AlertType; parameters: Parameters; market: Market; session: string }

/** Whether the indicator crossed with the bar of that session. */
export function crossing(bars: readonly Bar[], { type, parameters, market, session }: BarQuestion): Crossing {
  const last = bars.findLastIndex(({ date }) => date <= session)
  if (bars[last]?.date !== session) return { ok: false, reason: 'no_bar' }
  if (bars[last - 1]?.date !== previousTradingDay(market, session)) return { ok: false, reason: 'gap' }
  const known = bars.slice(0, last + 1)
  if (known.length < barsNeeded(type, parameters)) return { ok: false, reason: 'few_bars' }
  const { line, base } = linesOf(type, parameters, known)
  const [value, threshold] = [line[last] as number, base[last] as number]
  if (Number.isNaN(value) || Number.isNaN(threshold)) return { ok: false, reason: 'few_bars' }
  const { direction } = parameters
  const isUp = direction === 'above' || direction === 'bullish_cross'
  return { ok: true, crossed: hasCrossed(line, base, isUp ? 1 : -1), value, threshold }
}

/** On the requested side now, and on the other side when the lines last differed: touching and going back is not a crossing. */
function hasCrossed(line: Numbers, base: Numbers, sign: 1 | -1): boolean {
  let i = line.length - 1
  const side = (at: number) => Math.sign(((line[at] as number) - (base[at] as number)) * sign)
  if (side(i) !== 1) return false
  i -= 1
  while (i >= 0 && side(i) === 0) i -= 1
  return i >= 0 && side(i) === -1
}

type Lines = { line: Numbers; base: Numbers }

function linesOf(type: AlertType, parameters: Parameters, bars: readonly Bar[]): Lines {
  const close = Float64Array.from(bars, (bar) => bar.close)
  const of = (name: string) => Number(parameters[name])
  const constant = () => new Float64Array(bars.length).fill(of('threshold'))
  if (type === 'ma_price_cross') return { line: close, base: sma(close, of('window')) }
  if (type === 'rsi_threshold') return { line: rsi(close, of('period')), base: constant() }
  if (type === 'cci_threshold') return { line: cci(bars, of('period')), base: constant() }
  if (type === 'macd_cross') return macdLines(close, of('fast_period'), of('slow_period'), of('signal_period'))
  if (type === 'kdj_cross') return kdjLines(bars, of('period'), of('k_period'), of('d_period'))
  throw new Error(`${type} looks at no bars`)
}

/** DIF and DEA as the indicator `macd` defines them, over any periods. */
export function macdLines(close: Numbers, fast: number, slow: number, signal: number): Lines {
  const [quick, lazy] = [emaFromFirst(close, fast), emaFromFirst(close, slow)]
  const line = quick.map((value, i) => value - (lazy[i] as number))
  const base = emaFromFirst(line, signal)
  const ready = Math.min(slow + signal - 2, line.length)
  return { line: line.fill(Number.NaN, 0, ready), base: base.fill(Number.NaN, 0, ready) }
}

/** K and D as the indicator `kdj` defines them, over any periods. */
export function kdjLines(bars: readonly Bar[], period: number, kPeriod: number, dPeriod: number): Lines {
  const highest = rollingMax(
    Float64Array.from(bars, ({ high }) => high),
    period,
  )
  const lowest = rollingMin(
    Float64Array.from(bars, ({ low }) => low),
    period,
  )
  const [line, base] = [blank(bars.length), blank(bars.length)]
  let [k, d] = [50, 50]
  for (let i = period - 1; i < bars.length; i++) {
    const low = lowest[i] as number
    const range = (highest[i] as number) - low
    const rsv = range === 0 ? 50 : (((bars[i]?.close ?? 0) - low) / range) * 100
    k += (rsv - k) / kPeriod
    d += (k - d) / dPeriod
    line[i] = k
    base[i] = d
  }
  return { line, base }
}

const CCI_SCALE = 0.015

/**
 * CCI (Lambert 1980): (TP − SMA(TP)) / (0.015 · mean deviation of TP from that average), TP = (high + low + close) / 3.
 * Warm-up: n−1 bars. Without any movement it is 0.
 */
export function cci(bars: readonly Bar[], period: number): Series {
  const typical = Float64Array.from(bars, ({ high, low, close }) => (high + low + close) / 3)
  const average = sma(typical, period)
  const out = blank(bars.length)
  for (let i = period - 1; i < bars.length; i++) {
    const mean = average[i] as number
    let away = 0
    for (let k = i - period + 1; k <= i; k++) away += Math.abs((typical[k] as number) - mean)
    out[i] = away === 0 ? 0 : ((typical[i] as number) - mean) / ((CCI_SCALE * away) / period)
  }
  return out
}
