import { sma } from './averages.ts'
import { blank, defineIndicator, type Numbers, type Series } from './series.ts'

/** Return over n sessions: (close / close of n bars before − 1) · 100, in percent. Warm-up: n bars. */
function returnPct(closes: Numbers, period: number): Series {
  const out = blank(closes.length)
  for (let i = period; i < closes.length; i++) {
    const before = closes[i - period] as number
    if (before > 0) out[i] = ((closes[i] as number) / before - 1) * 100
  }
  return out
}

/** The usual number for daily data, in every market. */
const SESSIONS_A_YEAR = 252

/**
 * Volatility: the standard deviation (of a sample, n − 1) of the last n logarithmic daily returns · √252, in percent a
 * year. Warm-up: n bars; also missing for n bars after a close that is not above zero.
 */
function volatilityPct(closes: Numbers, period: number): Series {
  const out = blank(closes.length)
  const steps = new Float64Array(closes.length)
  let [sum, squares, unusable] = [0, 0, 0]
  for (let i = 1; i < closes.length; i++) {
    const step = Math.log((closes[i] as number) / (closes[i - 1] as number))
    if (Number.isFinite(step)) steps[i] = step
    else unusable = i
    const [added, gone] = [steps[i] as number, i > period ? (steps[i - period] as number) : 0]
    sum += added - gone
    squares += added ** 2 - gone ** 2
    if (i - unusable < period) continue
    const variance = Math.max(0, (squares - sum ** 2 / period) / (period - 1))
    out[i] = Math.sqrt(variance * SESSIONS_A_YEAR) * 100
  }
  return out
}

/**
 * Maximum drawdown of the last n closes: the deepest fall from an earlier close among them, in percent, 0 or below.
 * Warm-up: n − 1 bars. A window is the end of one block of n bars and the beginning of the next (van Herk 1992), and
 * its deepest fall is in the first part, in the second, or between the top of the first and the bottom of the second;
 * so every bar is visited three times, whatever n is.
 */
function maxDrawdownPct(closes: Numbers, period: number): Series {
  const size = closes.length
  const [tops, bottoms] = [new Float64Array(size), new Float64Array(size)]
  const [fallsToEnd, fallsFromStart] = [new Float64Array(size), new Float64Array(size)]
  let [bottom, top] = [0, 0]
  for (let i = size - 1; i >= 0; i--) {
    const close = closes[i] as number
    const isLast = i === size - 1 || (i + 1) % period === 0
    bottom = isLast ? close : Math.min(bottom, close)
    tops[i] = isLast ? close : Math.max(tops[i + 1] as number, close)
    fallsToEnd[i] = isLast ? 0 : Math.min(fallsToEnd[i + 1] as number, bottom / close - 1)
  }
  for (let i = 0; i < size; i++) {
    const close = closes[i] as number
    const isFirst = i % period === 0
    top = isFirst ? close : Math.max(top, close)
    bottoms[i] = isFirst ? close : Math.min(bottoms[i - 1] as number, close)
    fallsFromStart[i] = isFirst ? 0 : Math.min(fallsFromStart[i - 1] as number, close / top - 1)
  }
  const out = blank(size)
  for (let i = period - 1; i < size; i++) {
    const from = i - period + 1
    // A window that is exactly a block has no second part.
    const isBlock = from % period === 0
    const between = isBlock ? 0 : (bottoms[i] as number) / (tops[from] as number) - 1
    out[i] = Math.min(between, fallsToEnd[from] as number, isBlock ? 0 : (fallsFromStart[i] as number), 0) * 100
  }
  return out
}

/**
 * Average turnover: the mean of close · volume of the last n bars, in the listing's currency. Warm-up: n − 1 bars;
 * missing without volumes.
 */
function averageTurnover(closes: Numbers, volumes: Numbers, period: number): Series {
  const traded = new Float64Array(closes.length)
  for (let i = 0; i < closes.length; i++) traded[i] = (volumes[i] as number) * (closes[i] as number)
  const out = sma(traded, period)
  for (let i = 0; i < out.length; i++) if (!((out[i] as number) > 0)) out[i] = Number.NaN
  return out
}

export const returns = defineIndicator({
  part: 'performance',
  lines: {
    return5: { warmUp: 5, field: 'return_5d_pct', isPercent: true },
    return20: { warmUp: 20, field: 'return_20d_pct', isPercent: true },
    return60: { warmUp: 60, field: 'return_60d_pct', isPercent: true },
    return250: { warmUp: 250, field: 'return_250d_pct', isPercent: true },
  },
  compute: ({ close }) => ({
    return5: returnPct(close, 5),
    return20: returnPct(close, 20),
    return60: returnPct(close, 60),
    return250: returnPct(close, 250),
  }),
})

export const risk = defineIndicator({
  part: 'performance',
  lines: {
    volatility60: { warmUp: 60, field: 'volatility_60d_pct', isPercent: true },
    maxDrawdown250: { warmUp: 249, field: 'max_drawdown_250d_pct', isPercent: true },
  },
  compute: ({ close }) => ({ volatility60: volatilityPct(close, 60), maxDrawdown250: maxDrawdownPct(close, 250) }),
})

export const liquidity = defineIndicator({
  part: 'performance',
  lines: { turnover20: { warmUp: 19, field: 'average_turnover_20d', isPercent: false } },
  compute: ({ close, volume }) => ({ turnover20: averageTurnover(close, volume, 20) }),
})
