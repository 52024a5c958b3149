import { blank, type Numbers, type Series } from './series.ts'

/**
 * Simple moving average: SMA_i = (x_{i−n+1} + … + x_i) / n. Warm-up: n−1 bars.
 * The running sum is kept of distances to the first value, so a flat series averages to itself exactly.
 */
export function sma(values: Numbers, period: number): Series {
  const out = blank(values.length)
  const base = (values[0] ?? 0) as number
  let sum = 0
  for (let i = 0; i < values.length; i++) {
    sum += (values[i] as number) - base
    if (i >= period) sum -= (values[i - period] as number) - base
    if (i >= period - 1) out[i] = base + sum / period
  }
  return out
}

/**
 * Exponential moving average: EMA_0 = x_0, EMA_i = EMA_{i−1} + 2/(n+1) · (x_i − EMA_{i−1}), as Asian chart programs and
 * pandas' `ewm(adjust=False)` define it. (Western charts start from an SMA; the two meet as the seed's weight
 * (1 − 2/(n+1))^i fades.) The first n−1 values, which are mostly seed, are warm-up.
 */
export function ema(values: Numbers, period: number): Series {
  const out = emaFromFirst(values, period)
  return out.fill(Number.NaN, 0, Math.min(period - 1, out.length))
}

/** The same recursion with its immature head, for averages of averages such as MACD's signal line. */
export function emaFromFirst(values: Numbers, period: number): Series {
  const out = new Float64Array(values.length)
  const weight = 2 / (period + 1)
  let average = (values[0] ?? 0) as number
  for (let i = 0; i < values.length; i++) {
    average += weight * ((values[i] as number) - average)
    out[i] = average
  }
  return out
}

/** Bias: (close − MA) / MA · 100, in percent. Warm-up: that of the average. */
export function biasPct(closes: Numbers, average: Numbers): Series {
  const out = blank(closes.length)
  for (let i = 0; i < closes.length; i++) {
    const mean = average[i] as number
    if (mean !== 0) out[i] = (((closes[i] as number) - mean) / mean) * 100
  }
  return out
}
