import { sma } from './averages.ts'
import { defineIndicator, type Numbers, type Series, warmingUp } from './series.ts'

export type Bollinger = { upper: Series; middle: Series; lower: Series }

/**
 * Bollinger bands: middle = SMA_n, upper and lower = middle ± width · σ_n with the population deviation. Warm-up: n−1.
 * The squares are summed again for each window: a sliding sum keeps the rounding errors of all earlier jumps, and the
 * square root makes these visible.
 */
export function bollinger(closes: Numbers, period = 20, width = 2): Bollinger {
  const middle = sma(closes, period)
  const [upper, lower] = [warmingUp(closes.length, period - 1), warmingUp(closes.length, period - 1)]
  for (let i = period - 1; i < closes.length; i++) {
    const mean = middle[i] as number
    let squares = 0
    for (let k = i - period + 1; k <= i; k++) squares += ((closes[k] as number) - mean) ** 2
    const reach = width * Math.sqrt(squares / period)
    upper[i] = mean + reach
    lower[i] = mean - reach
  }
  return { upper, middle, lower }
}

/**
 * Average true range (Wilder 1978): TR = max(H − L, |H − C'|, |L − C'|), the first bar's being H − L; the first average is
 * the mean of n true ranges, then ATR_i = (ATR_{i−1} · (n−1) + TR_i) / n. Warm-up: n−1 bars.
 */
export function atr(highs: Numbers, lows: Numbers, closes: Numbers, period = 14): Series {
  const out = warmingUp(closes.length, period - 1)
  let average = 0
  for (let i = 0; i < closes.length; i++) {
    const high = highs[i] as number
    const low = lows[i] as number
    const previous = i === 0 ? low : (closes[i - 1] as number)
    const range = Math.max(high - low, Math.abs(high - previous), Math.abs(low - previous))
    if (i === 0) average = (high - low) / period
    else if (i < period) average += range / period
    else average = (average * (period - 1) + range) / period
    if (i >= period - 1) out[i] = average
  }
  return out
}

export const bollingerBands = defineIndicator({
  part: 'ranges',
  lines: {
    bollUpper: { warmUp: 19, field: 'boll_upper', isPercent: false },
    bollMiddle: { warmUp: 19, field: 'boll_middle', isPercent: false },
    bollLower: { warmUp: 19, field: 'boll_lower', isPercent: false },
  },
  compute({ close }) {
    const { upper, middle, lower } = bollinger(close)
    return { bollUpper: upper, bollMiddle: middle, bollLower: lower }
  },
})

export const averageTrueRange = defineIndicator({
  part: 'ranges',
  lines: { atr: { warmUp: 13, field: 'atr_14', isPercent: false } },
  compute: ({ high, low, close }) => ({ atr: atr(high, low, close) }),
})
