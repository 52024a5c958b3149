// The mean of observations that overlap in time and share days, with an interval that accounts for both. Observations
// are first summed by day (Driscoll and Kraay 1998); the variance of the mean is that of Newey and West (1987) over the
// days, with Bartlett's weights; the quantile is Student's, with the number of effective blocks of days minus one as
// degrees of freedom (Carter, Schnepel and Steigerwald 2017). The variance is never smaller than that of independent
// observations.

/** One entry for each session, in order. */
export type DailySums = { counts: Float64Array; sums: Float64Array; squares: Float64Array }

export type Estimate = {
  count: number
  /** The number of independent observations that would give the same uncertainty. */
  effectiveSize: number
  mean: number
  standardError: number
  degrees: number
}

/** Null when a spread cannot be computed. */
export function estimate({ counts, sums, squares }: DailySums, lag: number): Estimate | null {
  const [count, sum, square] = [total(counts), total(sums), total(squares)]
  if (count < 2) return null
  const mean = sum / count
  const spread = Math.max(0, (square - count * mean ** 2) / (count - 1))
  const blocks = effectiveBlocks(counts, lag + 1)
  if (spread === 0 || blocks < 2) return null
  const correction = blocks / (blocks - 1)
  const variance = Math.max((correction * longRun(counts, sums, { mean, lag })) / count ** 2, spread / count)
  return {
    count,
    effectiveSize: spread / variance,
    mean,
    standardError: Math.sqrt(variance),
    degrees: blocks - 1,
  }
}

function total(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/** The sum of the products of all pairs of days that are at most `lag` apart, with smaller weights for larger distances. */
function longRun(counts: Float64Array, sums: Float64Array, { mean, lag }: { mean: number; lag: number }): number {
  const off = counts.map((n, day) => (sums[day] ?? 0) - mean * n)
  let result = 0
  for (let day = 0; day < off.length; day++) {
    const here = off[day] ?? 0
    if (here === 0) continue
    result += here * here
    for (let back = 1; back <= lag && back <= day; back++) {
      result += 2 * (1 - back / (lag + 1)) * here * (off[day - back] ?? 0)
    }
  }
  return Math.max(0, result)
}

/**
 * The effective number of blocks of days of one size: a few blocks with most of the observations count little more than
 * these few.
 */
function effectiveBlocks(counts: Float64Array, size: number): number {
  let [sum, squares] = [0, 0]
  for (let start = 0; start < counts.length; start += size) {
    const block = total(counts.subarray(start, start + size))
    sum += block
    squares += block ** 2
  }
  return squares === 0 ? 0 : sum ** 2 / squares
}

export type Interval = { low: number; high: number }

/** The 95 % confidence interval of the mean. */
export function interval({ mean, standardError, degrees }: Estimate): Interval {
  const reach = studentQuantile(0.975, degrees) * standardError
  return { low: mean - reach, high: mean + reach }
}

/** The probability of a mean this far above zero when the true mean is zero. */
export function chanceOfMore({ mean, standardError, degrees }: Estimate): number {
  return 1 - studentShare(mean / standardError, degrees)
}

/** Holm's adjusted probabilities, because among many rows one will look good by chance. In the order of the input. */
export function holm(chances: readonly number[]): number[] {
  const order = chances.map((_, i) => i).sort((a, b) => (chances[a] ?? 1) - (chances[b] ?? 1))
  const adjusted = chances.map(() => 1)
  let most = 0
  order.forEach((at, rank) => {
    most = Math.max(most, Math.min(1, (chances[at] ?? 1) * (chances.length - rank)))
    adjusted[at] = most
  })
  return adjusted
}

/** The cumulative Student distribution at `t`. */
function studentShare(t: number, degrees: number): number {
  const tail = incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
  return t > 0 ? 1 - tail : tail
}

export function studentQuantile(share: number, degrees: number): number {
  let [low, high] = [0, 1e4]
  if (share < 0.5) return -studentQuantile(1 - share, degrees)
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2
    if (studentShare(middle, degrees) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** The regularised incomplete beta function, by Lentz's continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x))
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b
}

const TINY = 1e-30
const FRACTION_STEPS = 300

function fraction(x: number, a: number, b: number): number {
  const kept = (value: number) => (Math.abs(value) < TINY ? TINY : value)
  let c = 1
  let d = 1 / kept(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= FRACTION_STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / kept(1 + even * d)
    c = kept(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / kept(1 + odd * d)
    c = kept(1 + odd / c)
    result *= d * c
    if (Math.abs(d * c - 1) < 1e-12) break
  }
  return result
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

/** Lanczos' approximation, for arguments above zero. */
function logGamma(z: number): number {
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z)
  const base = z + LANCZOS.length - 1.5
  const series = LANCZOS.reduce((sum, each, i) => sum + each / (z + i), 0.99999999999980993)
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(base) - base + Math.log(series)
}

// How likely an advice is to come true, and whether its forecast was better than always predicting the base rate.

/** A session's observations and how many of them came true. */
export type Outcomes = { counts: Float64Array; hits: Float64Array }

type GroupOutcomes = {
  /** The outcomes of the group. */
  outcomes: Outcomes
  /** The outcomes of every day, whatever was advised. */
  all: Outcomes
  horizon: number
}

export type ConfidenceFigures = {
  hit_rate: number
  base_rate: number
  confidence_probability: number | null
  brier_skill: number | null
}

/** With fewer independent observations there is no probability. */
const LEAST_FOR_PROBABILITY = 30

/** The weight of the base rate, in observations, when it is combined with the group's outcomes. */
const PRIOR = 30

/**
 * The probability is the group's hit rate, shrunk towards the base rate. The Brier skill is that of forecasts made in
 * the same way on every session, from outcomes known by then: 1 − (their squared error / that of the base rate at the
 * time).
 */
export function confidenceOf({ outcomes, all, horizon }: GroupOutcomes, effective: number): ConfidenceFigures {
  const [count, hits] = [sumOf(outcomes.counts), sumOf(outcomes.hits)]
  const base = sumOf(all.hits) / sumOf(all.counts)
  const weight = effective / Math.max(1, count)
  const isEnough = effective >= LEAST_FOR_PROBABILITY
  return {
    hit_rate: rounded(hits / count),
    base_rate: rounded(base),
    confidence_probability: isEnough ? rounded(mixed({ count, hits, base }, weight)) : null,
    brier_skill: isEnough ? skillOf({ outcomes, all, horizon }, weight) : null,
  }
}

type HitCounts = { count: number; hits: number; base: number }

/** Overlapping observations count with their effective number. */
const mixed = ({ count, hits, base }: HitCounts, weight: number): number =>
  (hits * weight + base * PRIOR) / (count * weight + PRIOR)

function skillOf({ outcomes, all, horizon }: GroupOutcomes, weight: number): number | null {
  const known = { count: 0, hits: 0, allCount: 0, allHits: 0 }
  let [error, baseError] = [0, 0]
  for (let day = 0; day < outcomes.counts.length; day++) {
    // With a purchase at the next open, an outcome is known one session after its horizon.
    const over = day - horizon - 1
    known.count += outcomes.counts[over] ?? 0
    known.hits += outcomes.hits[over] ?? 0
    known.allCount += all.counts[over] ?? 0
    known.allHits += all.hits[over] ?? 0
    const [count, hits] = [outcomes.counts[day] ?? 0, outcomes.hits[day] ?? 0]
    if (count === 0 || known.allCount === 0) continue
    const base = known.allHits / known.allCount
    error += squaredError(mixed({ ...known, base }, weight), count, hits)
    baseError += squaredError(base, count, hits)
  }
  return baseError === 0 ? null : rounded(1 - error / baseError)
}

/** The error of one forecast for a number of observations, some of which came true. */
const squaredError = (forecast: number, count: number, hits: number): number =>
  hits * (1 - forecast) ** 2 + (count - hits) * forecast ** 2

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6 + 0
