// A long daily series that is the same in every run: a walk with quiet and wild stretches, gaps and days without volume.

import type { Bar } from '../../src/market/bars.ts'

/** As many sessions as a share that was listed in 2000 has had. */
export const LONG = 5_908

export function longSeries(count = LONG): Bar[] {
  let state = 20_260_320
  const random = () => {
    // A linear congruential generator: enough for prices, and alike on every machine.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  let close = 10
  return Array.from({ length: count }, (_, i) => {
    const wild = Math.floor(i / 250) % 3 === 0 ? 0.04 : 0.015
    const open = close * (1 + (random() - 0.5) * wild)
    close = Math.max(0.5, Math.round(open * (1 + (random() - 0.499) * wild) * 100) / 100)
    const high = Math.max(open, close) * (1 + random() * wild * 0.5)
    const low = Math.min(open, close) * (1 - random() * wild * 0.5)
    const volume = i % 97 === 0 ? 0 : Math.round(1e6 * (0.5 + random()))
    const date = new Date(Date.UTC(2000, 0, 3) + i * 86_400_000).toISOString().slice(0, 10)
    return { date, open, high, low, close, volume, amount: null }
  })
}
