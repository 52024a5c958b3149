import type { Bar } from '../bars.ts'

/** The prices at which the current shares were bought, estimated from turnover. Shares are fractions, not percent. */
export type ChipDistribution = {
  /** The part of the float that is in profit at the last close. */
  profitRatio: number
  /** The median cost. */
  averageCost: number
  cost90: CostRange
  cost70: CostRange
  /** The number of bars. */
  bars: number
}

/** The middle part of the costs; `concentration` is (high − low) / (high + low). */
export type CostRange = { low: number; high: number; concentration: number }

const BINS = 150
const WINDOW = 120
/** With fewer bars, the cost of most of the float is unknown. */
const MIN_CHIP_BARS = 20

/**
 * The distribution of costs over the last 120 bars: each day the existing amounts shrink by (1 − turnover), and the
 * day's turnover is added over its range as a triangle with its peak at (O + C + H + L) / 4. Turnover is volume /
 * float. Null for fewer than 20 bars, without a float, or without any volume.
 */
export function chipDistribution(bars: readonly Bar[], floatShares: number): ChipDistribution | null {
  const window = bars.slice(-WINDOW)
  const last = window.at(-1)
  if (window.length < MIN_CHIP_BARS || last === undefined || !(floatShares > 0)) return null
  const grid = gridOf(window)
  const chips = new Float64Array(BINS)
  for (const bar of window) trade(chips, grid, { bar, turnover: Math.min(1, bar.volume / floatShares) })
  const total = chips.reduce((sum, chip) => sum + chip, 0)
  if (!(total > 0)) return null
  const costAt = (share: number) => quantile(chips, grid, share * total)
  return {
    profitRatio: belowOf(chips, grid, last.close) / total,
    averageCost: costAt(0.5),
    cost90: rangeOf(costAt(0.05), costAt(0.95)),
    cost70: rangeOf(costAt(0.15), costAt(0.85)),
    bars: window.length,
  }
}

/** Prices in equal steps; `step` is 0 when the price never moved. */
type Grid = { low: number; step: number }

function gridOf(bars: readonly Bar[]): Grid {
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (const bar of bars) {
    low = Math.min(low, bar.low)
    high = Math.max(high, bar.high)
  }
  return { low, step: (high - low) / BINS }
}

const binOf = ({ low, step }: Grid, price: number): number =>
  step === 0 ? 0 : Math.min(BINS - 1, Math.max(0, Math.floor((price - low) / step)))

const middleOf = ({ low, step }: Grid, bin: number): number => low + (bin + 0.5) * step

function trade(chips: Float64Array, grid: Grid, { bar, turnover }: { bar: Bar; turnover: number }): void {
  for (let i = 0; i < BINS; i++) chips[i] = (chips[i] as number) * (1 - turnover)
  const [first, final] = [binOf(grid, bar.low), binOf(grid, bar.high)]
  const peak = (bar.open + bar.close + bar.high + bar.low) / 4
  const weights = new Float64Array(final - first + 1)
  let sum = 0
  for (let i = 0; i < weights.length; i++) {
    weights[i] = heightAt(bar, peak, middleOf(grid, first + i))
    sum += weights[i] as number
  }
  for (let i = 0; i < weights.length; i++) {
    // A range narrower than a step has no height at any grid point.
    const share = sum > 0 ? (weights[i] as number) / sum : 1 / weights.length
    chips[first + i] = (chips[first + i] as number) + turnover * share
  }
}

function heightAt({ low, high }: Bar, peak: number, price: number): number {
  if (price <= low || price >= high) return 0
  if (price <= peak) return peak === low ? 1 : (price - low) / (peak - low)
  return peak === high ? 1 : (high - price) / (high - peak)
}

/** The price below which this amount was bought, interpolated linearly within its step. */
function quantile(chips: Float64Array, grid: Grid, amount: number): number {
  let sum = 0
  for (let i = 0; i < BINS; i++) {
    const chip = chips[i] as number
    if (sum + chip >= amount && chip > 0) return grid.low + (i + (amount - sum) / chip) * grid.step
    sum += chip
  }
  return grid.low + BINS * grid.step
}

/** The amount that was bought at or below a price. */
function belowOf(chips: Float64Array, grid: Grid, price: number): number {
  const bin = binOf(grid, price)
  const inside = grid.step === 0 ? 1 : Math.min(1, Math.max(0, (price - grid.low) / grid.step - bin))
  let sum = 0
  for (let i = 0; i < bin; i++) sum += chips[i] as number
  return sum + (chips[bin] as number) * inside
}

function rangeOf(low: number, high: number): CostRange {
  return { low, high, concentration: high + low > 0 ? (high - low) / (high + low) : 0 }
}

export type ChipHealth = 'healthy' | 'average' | 'alert'

/** The meaning of the distribution: nearly everyone in profit, or widely spread costs, is a warning. */
export function chipHealth({ profitRatio, cost90 }: ChipDistribution): ChipHealth {
  if (profitRatio >= 0.9 || cost90.concentration >= 0.25) return 'alert'
  return cost90.concentration < 0.15 && profitRatio >= 0.3 ? 'healthy' : 'average'
}

type FloatSource = {
  price: number
  volume: number | null
  turnoverRatePct: number | null
  circulatingMarketValue: number | null
}

/** The number of tradable shares, from a quote's fields; null when it has none of them. */
export function floatSharesOf(quote: FloatSource): number | null {
  const { price, volume, turnoverRatePct, circulatingMarketValue } = quote
  if (circulatingMarketValue !== null && circulatingMarketValue > 0 && price > 0) return circulatingMarketValue / price
  if (volume !== null && volume > 0 && turnoverRatePct !== null && turnoverRatePct > 0) {
    return volume / (turnoverRatePct / 100)
  }
  return null
}
