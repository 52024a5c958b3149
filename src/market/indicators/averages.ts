import { defineIndicator, type Numbers, type Series, warmingUp } from './series.ts'

/**
 * Simple moving average: SMA_i = (x_{i−n+1} + … + x_i) / n. Warm-up: n−1 bars. The running sum is that of differences
 * from the first value, so the average of a flat series is exact.
 */
export function sma(values: Numbers, period: number): Series {
  const out = warmingUp(values.length, period - 1)
  const base = (values[0] ?? 0) as number
  let sum = 0
  const head = Math.min(period, values.length)
  for (let i = 0; i < head; i++) sum += (values[i] as number) - base
  if (head === period) out[period - 1] = base + sum / period
  for (let i = period; i < values.length; i++) {
    sum += (values[i] as number) - base
    sum -= (values[i - period] as number) - base
    out[i] = base + sum / period
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

/** The same recursion including its warm-up values, for averages of averages such as MACD's signal line. */
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

/** Bias: (close − MA) / MA · 100, in percent. Warm-up: that of the average, whose series is overwritten with the bias. */
function biasPct(closes: Numbers, period: number): Series {
  const out = sma(closes, period)
  for (let i = period - 1; i < out.length; i++) {
    const mean = out[i] as number
    out[i] = mean === 0 ? Number.NaN : (((closes[i] as number) - mean) / mean) * 100
  }
  return out
}

export const movingAverages = defineIndicator({
  part: 'averages',
  lines: {
    ma5: { warmUp: 4, field: 'ma5', isPercent: false },
    ma10: { warmUp: 9, field: 'ma10', isPercent: false },
    ma20: { warmUp: 19, field: 'ma20', isPercent: false },
    ma60: { warmUp: 59, field: 'ma60', isPercent: false },
    ma120: { warmUp: 119, field: 'ma120', isPercent: false },
    ma250: { warmUp: 249, field: 'ma250', isPercent: false },
  },
  compute: ({ close }) => ({
    ma5: sma(close, 5),
    ma10: sma(close, 10),
    ma20: sma(close, 20),
    ma60: sma(close, 60),
    ma120: sma(close, 120),
    ma250: sma(close, 250),
  }),
})

export const biases = defineIndicator({
  part: 'averages',
  lines: {
    bias5: { warmUp: 4, field: 'bias_ma5', isPercent: true },
    bias10: { warmUp: 9, field: 'bias_ma10', isPercent: true },
    bias20: { warmUp: 19, field: 'bias_ma20', isPercent: true },
  },
  compute: ({ close }) => ({
    bias5: biasPct(close, 5),
    bias10: biasPct(close, 10),
    bias20: biasPct(close, 20),
  }),
})
