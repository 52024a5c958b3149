// Returns, volatility, drawdown and turnover against an oracle that is written from the definitions alone: whole windows, no shared code.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columns, indicatorSeries } from '../../../src/market/indicators/index.ts'
import { nullable } from '../../../src/market/indicators/series.ts'
import { barsOf } from '../analysis/series.ts'

type Window = { closes: number[]; volumes: number[] }

const ORACLE: Record<string, { needs: number; of: (window: Window) => number | null }> = {
  ...Object.fromEntries(
    [5, 20, 60, 250].map((n) => [
      `return${n}`,
      { needs: n + 1, of: ({ closes }: Window) => (100 * ((closes[n] ?? 0) - (closes[0] ?? 0))) / (closes[0] ?? 1) },
    ]),
  ),
  volatility60: {
    needs: 61,
    of: ({ closes }) => {
      const logs = closes.slice(1).map((close, i) => Math.log(close) - Math.log(closes[i] ?? 1))
      // Of all pairs: the variance is half of the mean squared difference of two different ones.
      let squares = 0
      for (const a of logs) for (const b of logs) squares += (a - b) ** 2
      return 100 * Math.sqrt(252 * (squares / (2 * logs.length * (logs.length - 1))))
    },
  },
  maxDrawdown250: {
    needs: 250,
    of: ({ closes }) => {
      const falls = closes.map((close, i) => close / Math.max(...closes.slice(0, i + 1)) - 1)
      return 100 * Math.min(...falls)
    },
  },
  turnover20: {
    needs: 20,
    of: ({ closes, volumes }) => {
      const sum = closes.reduce((total, close, i) => total + close * (volumes[i] ?? 0), 0)
      return sum === 0 ? null : sum / closes.length
    },
  },
}

test('each figure is the one of its definition, and missing before there are enough bars', () => {
  const walks = fc.record({
    steps: fc.array(fc.double({ min: -0.09, max: 0.09, noNaN: true }), { minLength: 255, maxLength: 290 }),
    volume: fc.constantFrom(0, 1_000_000),
  })
  fc.assert(
    fc.property(walks, ({ steps, volume }) => {
      const closes: number[] = []
      for (const step of steps) closes.push((closes.at(-1) ?? 100) * (1 + step))
      const bars = volume === 0 ? barsOf(closes).map((bar) => ({ ...bar, volume: 0 })) : barsOf(closes, { volume })
      const volumes = bars.map((bar) => bar.volume)
      const series = indicatorSeries(columns(bars))
      for (const [name, { needs, of }] of Object.entries(ORACLE)) {
        const ours = nullable(series[name as keyof typeof series])
        for (const at of [needs - 2, needs - 1, closes.length - 1]) {
          const from = at + 1 - needs
          const theirs =
            from < 0 ? null : of({ closes: closes.slice(from, at + 1), volumes: volumes.slice(from, at + 1) })
          if (theirs === null) expect(ours[at]).toBeNull()
          else expect(Math.abs((ours[at] ?? Number.NaN) - theirs)).toBeLessThan(1e-7 * Math.max(1, Math.abs(theirs)))
        }
      }
    }),
    { numRuns: 25, seed: 7 },
  )
})
