// How likely an advice is to come true, and whether saying so was worth more than always saying the base rate.

/** A session's observations and how many of them came true. */
export type Outcomes = { counts: Float64Array; hits: Float64Array }

type Told = {
  /** Of the group. */
  outcomes: Outcomes
  /** Of every day, whatever was advised on it. */
  all: Outcomes
  horizon: number
}

export type ConfidenceFigures = {
  hit_rate: number
  base_rate: number
  confidence_probability: number | null
  brier_skill: number | null
}

/** Below so many independent observations there is no probability. */
export const LEAST_FOR_PROBABILITY = 30

/** How many observations the base rate counts for when it is mixed with what the group showed. */
const PRIOR = 30

/**
 * The probability is the group's share of hits drawn towards the base rate. The Brier skill is that of forecasts made in the same
 * way on every session, from outcomes that were known by then: 1 − (their squared error / that of the base rate of the time).
 */
export function confidenceOf({ outcomes, all, horizon }: Told, effective: number): ConfidenceFigures {
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

type Known = { count: number; hits: number; base: number }

/** Overlapping observations count for as much as they are worth. */
const mixed = ({ count, hits, base }: Known, weight: number): number =>
  (hits * weight + base * PRIOR) / (count * weight + PRIOR)

function skillOf({ outcomes, all, horizon }: Told, weight: number): number | null {
  const known = { count: 0, hits: 0, allCount: 0, allHits: 0 }
  let [error, baseError] = [0, 0]
  for (let day = 0; day < outcomes.counts.length; day++) {
    // Bought at the next open, an outcome is known one session after its horizon.
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

/** Of one forecast for so many observations, of which some came true. */
const squaredError = (forecast: number, count: number, hits: number): number =>
  hits * (1 - forecast) ** 2 + (count - hits) * forecast ** 2

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6 + 0
