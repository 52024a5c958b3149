export type Scale = (value: number) => number

export function linear([d0, d1]: [number, number], [r0, r1]: [number, number]): Scale {
  const slope = d1 === d0 ? 0 : (r1 - r0) / (d1 - d0)
  return (value) => r0 + (value - d0) * slope
}

/** Round values inside the range, about as many as asked for: steps of 1, 2 or 5 times a power of ten. */
export function ticks(min: number, max: number, count: number): number[] {
  if (!(max > min)) return [min]
  const rough = (max - min) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10)
  const first = Math.ceil(min / step)
  const last = Math.floor(max / step)
  // Multiplied, not added up, so that no rounding error grows along the axis.
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** The mean of the last `length` values at each place; `null` until there are so many. */
export function movingAverage(values: number[], length: number): (number | null)[] {
  let sum = 0
  return values.map((value, index) => {
    sum += value - (index >= length ? (values[index - length] ?? 0) : 0)
    return index >= length - 1 ? sum / length : null
  })
}

/** Places for labels of one line height that stay in order and never cover each other, as near as may be to where they belong. */
export function spread(wanted: number[], height: number, [top, bottom]: [number, number]): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  const placed = [...wanted]
  let floor = top
  for (const index of order) {
    placed[index] = Math.max(placed[index] ?? 0, floor)
    floor = (placed[index] ?? 0) + height
  }
  let ceiling = bottom
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index] ?? 0, ceiling)
    ceiling = (placed[index] ?? 0) - height
  }
  return placed
}
