// Made-up daily bars that behave like a stock's: trends that come and go, quiet and nervous weeks,
// volume that rises with the move, prices on the market's own ticks. The same key gives the same bars.

/** A generator of numbers in [0, 1) from a text, the same on every machine (mulberry32 over FNV-1a). */
function randomFrom(text) {
  let state = 0x811c9dc5
  for (const char of text) state = Math.imul(state ^ char.codePointAt(0), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function normalFrom(random) {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** Daily log returns that lead from the first price to the last, with their volatility of the day. */
function returnsOf(spec, count, normal) {
  const daily = spec.volatility / Math.sqrt(252)
  let variance = daily ** 2
  let drift = 0
  const steps = []
  for (let i = 0; i < count; i++) {
    drift = 0.95 * drift + 0.05 * daily * normal()
    const shock = Math.sqrt(variance) * normal()
    steps.push({ change: drift + shock, sigma: Math.sqrt(variance) })
    variance = 0.06 * daily ** 2 + 0.08 * shock ** 2 + 0.86 * variance
  }
  const total = steps.reduce((sum, step) => sum + step.change, 0)
  const correction = (Math.log(spec.to / spec.from) - total) / count
  return steps.map((step) => ({ ...step, change: step.change + correction }))
}

// Hong Kong's table of minimum spreads: below each price, that tick.
const HONG_KONG_TICKS = [
  [10, 0.01],
  [20, 0.02],
  [100, 0.05],
  [200, 0.1],
  [500, 0.2],
  [Number.POSITIVE_INFINITY, 0.5],
]

function toTick(price, market) {
  const tick = market === 'hk' ? HONG_KONG_TICKS.find(([below]) => price < below)[1] : 0.01
  return Number((Math.round(price / tick) * tick).toFixed(2))
}

/**
 * Bars for the given dates. `spec`: key, market, from and to (prices), volatility (per year), volume
 * (shares on a usual day), limit (largest daily move, mainland only).
 */
export function syntheticBars(spec, dates) {
  const random = randomFrom(`bellwether-sample-1/${spec.key}`)
  const normal = normalFrom(random)
  const limit = spec.limit ?? 1
  let previous = spec.from
  return returnsOf(spec, dates.length, normal).map(({ change, sigma }, i) => {
    const within = (price) => Math.min(Math.max(price, previous * (1 - limit)), previous * (1 + limit))
    const round = (price) => toTick(within(price), spec.market)
    const close = round(previous * Math.exp(change))
    const open = round(previous * Math.exp(0.4 * change + 0.25 * sigma * normal()))
    const high = Math.max(open, close, round(Math.max(open, close) * Math.exp(0.45 * sigma * Math.abs(normal()))))
    const low = Math.min(open, close, round(Math.min(open, close) * Math.exp(-0.45 * sigma * Math.abs(normal()))))
    const excitement = Math.min(Math.abs(change) / sigma, 3)
    const volume = Math.round((spec.volume / 100) * Math.exp(0.3 * normal() + 0.35 * excitement - 0.28)) * 100
    previous = close
    const amount = spec.market === 'us' ? null : Math.round((volume * (open + high + low + close)) / 4)
    return { date: dates[i], open, high, low, close, volume, amount }
  })
}
