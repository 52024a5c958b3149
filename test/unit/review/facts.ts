// A market's day for tests of its review, and a model that answers what it is told to.

import type { RegionFacts } from '../../../src/analysis/market-review/facts.ts'

export const facts = (change: Partial<RegionFacts> = {}): RegionFacts => ({
  region: 'cn',
  language: 'en',
  date: '2026-08-14',
  indices: [
    {
      ...{ code: 'sh000001', key: 'SH000001', name: 'SSE Composite', current: 3500.12, change: 42, changePct: 1.21 },
      ...{ open: 3460, high: 3510, low: 3450, volume: null, amount: 5e11, amplitude: 1.73, date: '2026-08-14' },
      provenance: null,
      checks: null,
      closes: Array.from({ length: 30 }, (_, i) => 3400 + i * 3),
    },
  ],
  breadth: { up: 4000, down: 1000, flat: 100, limitUp: 90, limitDown: 10, totalAmount: 12_345.6 },
  boards: null,
  flows: [],
  overnight: [],
  news: [],
  gaps: [],
  provenance: null,
  isPartial: false,
  runs: [],
  ...change,
})

export const TEXTS = { overview: 'o', indices: 'i', sectors: 's', funds: 'f', news: 'n', plan: 'p', risks: 'r' }

/** Patient by default: what is to come to its end does, however busy the machine is. */
export const narrating = (complete: () => Promise<unknown>, timeoutMs = 60_000) => ({
  narrator: {
    complete: async () => ({ output: await complete(), model: 'm-1', provider: 'p', tokens: 1, isCutOff: false }),
  },
  timeoutMs,
})
