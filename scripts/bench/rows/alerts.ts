// 500 rules of alerts against 2,000 quotes each, with what they remember, against a loop that only compares. Both sides run in this
// process, on quotes of which every twentieth crosses a line from one round to the next.

import { evaluateQuotes, type Memories, type SeenQuote, type Watch } from '../../../src/alerts/evaluate.ts'
import type { Measurement, Sample } from '../rounds.ts'

const RULES = 500
const QUOTES = 2_000
const CROSSING = 20

export async function alerts(): Promise<Measurement[]> {
  const targets = Array.from({ length: QUOTES }, (_, i) => String(600_000 + i))
  const rules = Array.from({ length: RULES }, (_, i) => watchOf(i))
  const memories = rules.map((): Memories => ({}))
  let round = 0
  const ours = () => {
    round += 1
    const now = Date.UTC(2026, 7, 13, 2, 30) + round * 300_000
    const quotes = quotesOf(targets, { round, now })
    for (const [i, rule] of rules.entries()) {
      const known = memories[i] ?? {}
      const { changes, evaluated } = evaluateQuotes(rule, { targets, quotes, memories: known, now })
      if (evaluated !== QUOTES) throw new Error(`${evaluated} of ${QUOTES} quotes were looked at`)
      for (const [slot, memory] of changes.memories) known[slot] = memory
    }
  }
  // The first look fills the memories.
  ours()
  return [
    {
      row: 'alerts',
      what: `${RULES} rules against ${QUOTES} quotes, the whole`,
      unit: 'ms',
      ours: async () => timed(ours),
      baseline: async () => timed(() => void compared(rules, targets)),
    },
  ]
}

function watchOf(i: number): Watch {
  const common = { cooldownMs: 86_400_000, armedAt: 0 }
  if (i % 3 === 0) return { ...common, type: 'price_cross', parameters: { direction: 'above', price: 100 } }
  if (i % 3 === 1) return { ...common, type: 'price_change_percent', parameters: { direction: 'down', change_pct: 3 } }
  return { ...common, type: 'volume_spike', parameters: { multiplier: 2 } }
}

function quotesOf(targets: readonly string[], { round, now }: { round: number; now: number }): Map<string, SeenQuote> {
  const session = { day: '2026-08-13', startedAt: 1 }
  return new Map(
    targets.map((target, i) => {
      const isOver = i % CROSSING === 0 && round % 2 === 0
      const figures = { price: isOver ? 101 : 99, changePct: isOver ? -4 : 0, volume: isOver ? 3_000 : 1_000 }
      return [target, { ...figures, at: now, session, meanVolume: 1_000 }]
    }),
  )
}

/** What a comparison alone costs. */
function compared(rules: readonly Watch[], targets: readonly string[]): number {
  const quotes = quotesOf(targets, { round: 1, now: 1 })
  let found = 0
  for (const { parameters } of rules) {
    const line = Number(parameters.price ?? parameters.change_pct ?? parameters.multiplier)
    for (const target of targets) if ((quotes.get(target)?.price ?? 0) >= line) found += 1
  }
  return found
}

function timed(run: () => void): Sample {
  const startedAt = performance.now()
  run()
  return { value: performance.now() - startedAt, clientCpu: null, serverMicros: null, waited: null }
}
