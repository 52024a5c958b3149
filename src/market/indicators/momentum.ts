import { defineIndicator, type Numbers, rollingMax, rollingMin, type Series, warmingUp } from './series.ts'

export type Macd = { dif: Series; dea: Series; histogram: Series }

const FAST = 12
const SLOW = 26
const SIGNAL = 9

/**
 * MACD (Appel): DIF = EMA12 − EMA26, DEA = EMA9 of DIF, histogram = 2 · (DIF − DEA), the doubled form of Asian charts.
 * Warm-up: 25 bars for DIF, 33 for DEA and histogram.
 */
export function macd(closes: Numbers): Macd {
  const size = closes.length
  const ready = SLOW + SIGNAL - 2
  const [dif, dea, histogram] = [warmingUp(size, SLOW - 1), warmingUp(size, ready), warmingUp(size, ready)]
  const [fastWeight, slowWeight, signalWeight] = [2 / (FAST + 1), 2 / (SLOW + 1), 2 / (SIGNAL + 1)]
  let fast = (closes[0] ?? 0) as number
  let slow = fast
  let signal = 0
  // The three averages of `emaFromFirst` in one loop, so that none needs another one's whole series first.
  for (let i = 0; i < size; i++) {
    const close = closes[i] as number
    fast += fastWeight * (close - fast)
    slow += slowWeight * (close - slow)
    const between = fast - slow
    signal += signalWeight * (between - signal)
    if (i >= SLOW - 1) dif[i] = between
    if (i < ready) continue
    dea[i] = signal
    histogram[i] = 2 * (between - signal)
  }
  return { dif, dea, histogram }
}

/**
 * RSI (Wilder 1978): 100 · U / (U + D), where U and D are averages of gains and losses. The first average is the mean
 * of the first n changes, then avg_i = (avg_{i−1} · (n−1) + x_i) / n. Warm-up: n bars. Without any movement it is 50.
 * The code keeps n times the averages, as Wilder's own work sheet does: sum_i = sum_{i−1} · (n−1)/n + x_i, without a
 * division.
 */
export function rsi(closes: Numbers, period: number): Series {
  const out = warmingUp(closes.length, period)
  const kept = (period - 1) / period
  let [gain, loss] = [0, 0]
  for (let i = 1; i < closes.length; i++) {
    const change = (closes[i] as number) - (closes[i - 1] as number)
    const share = i > period ? kept : 1
    gain = gain * share + (change > 0 ? change : 0)
    loss = loss * share + (change < 0 ? -change : 0)
    if (i >= period) out[i] = shareOf(gain, loss)
  }
  return out
}

const shareOf = (gain: number, loss: number): number => (gain + loss === 0 ? 50 : (100 * gain) / (gain + loss))

export type Kdj = { k: Series; d: Series; j: Series }

const KDJ_PERIOD = 9

/**
 * KDJ 9/3/3: RSV = (C − LL9) / (HH9 − LL9) · 100, K = 2/3 K' + 1/3 RSV, D = 2/3 D' + 1/3 K, J = 3K − 2D, with K and D
 * starting at 50. A window without range has RSV 50. Warm-up: 8 bars.
 */
export function kdj(highs: Numbers, lows: Numbers, closes: Numbers): Kdj {
  const highest = rollingMax(highs, KDJ_PERIOD)
  const lowest = rollingMin(lows, KDJ_PERIOD)
  const series = () => warmingUp(closes.length, KDJ_PERIOD - 1)
  const [k, d, j] = [series(), series(), series()]
  let lastK = 50
  let lastD = 50
  for (let i = KDJ_PERIOD - 1; i < closes.length; i++) {
    const low = lowest[i] as number
    const range = (highest[i] as number) - low
    const rsv = range === 0 ? 50 : (((closes[i] as number) - low) / range) * 100
    lastK += (rsv - lastK) / 3
    lastD += (lastK - lastD) / 3
    k[i] = lastK
    d[i] = lastD
    j[i] = 3 * lastK - 2 * lastD
  }
  return { k, d, j }
}

export const convergence = defineIndicator({
  part: 'convergence',
  lines: {
    dif: { warmUp: SLOW - 1, field: 'macd_dif', isPercent: false },
    dea: { warmUp: SLOW + SIGNAL - 2, field: 'macd_dea', isPercent: false },
    histogram: { warmUp: SLOW + SIGNAL - 2, field: 'macd_bar', isPercent: false },
  },
  compute: ({ close }) => macd(close),
})

export const relativeStrength = defineIndicator({
  part: 'oscillators',
  lines: {
    rsi6: { warmUp: 6, field: 'rsi_6', isPercent: false },
    rsi12: { warmUp: 12, field: 'rsi_12', isPercent: false },
    rsi24: { warmUp: 24, field: 'rsi_24', isPercent: false },
  },
  compute: ({ close }) => ({ rsi6: rsi(close, 6), rsi12: rsi(close, 12), rsi24: rsi(close, 24) }),
})

export const stochastic = defineIndicator({
  part: 'oscillators',
  lines: {
    k: { warmUp: KDJ_PERIOD - 1, field: 'kdj_k', isPercent: false },
    d: { warmUp: KDJ_PERIOD - 1, field: 'kdj_d', isPercent: false },
    j: { warmUp: KDJ_PERIOD - 1, field: 'kdj_j', isPercent: false },
  },
  compute: ({ high, low, close }) => kdj(high, low, close),
})
