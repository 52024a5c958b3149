import { blank, defineIndicator, type Numbers, type Series } from './series.ts'

/** On-balance volume (Granville): the running sum of volume, added on a rise, taken off on a fall; it starts at 0 and has no warm-up. */
export function obv(closes: Numbers, volumes: Numbers): Series {
  const out = new Float64Array(closes.length)
  let sum = 0
  for (let i = 1; i < closes.length; i++) {
    const change = (closes[i] as number) - (closes[i - 1] as number)
    if (change > 0) sum += volumes[i] as number
    else if (change < 0) sum -= volumes[i] as number
    out[i] = sum
  }
  return out
}

/** The number of previous sessions whose mean volume is used for comparison. */
export const SESSIONS_COMPARED = 5

/**
 * Volume ratio: today's volume / mean of the `period` days before it. Warm-up: `period` bars; also missing when those
 * days had no volume at all, as after a suspension or for an index without volumes.
 */
export function volumeRatio(volumes: Numbers, period = SESSIONS_COMPARED): Series {
  const out = blank(volumes.length)
  for (let i = period; i < volumes.length; i++) {
    let sum = 0
    for (let k = i - period; k < i; k++) sum += volumes[k] as number
    if (sum > 0) out[i] = (volumes[i] as number) / (sum / period)
  }
  return out
}

export const onBalanceVolume = defineIndicator({
  part: 'ranges',
  lines: { obv: { warmUp: 0, field: 'obv', isPercent: false } },
  compute: ({ close, volume }) => ({ obv: obv(close, volume) }),
})

export const relativeVolume = defineIndicator({
  part: 'averages',
  lines: { volumeRatio: { warmUp: SESSIONS_COMPARED, field: 'volume_ratio_5d', isPercent: false } },
  compute: ({ volume }) => ({ volumeRatio: volumeRatio(volume) }),
})
