import { expect, onTestFinished, test, vi } from 'vitest'
import { turn } from '../../../src/analysis/run/run-analysis.ts'

test('between the turns of many runs the runtime comes round, and every run gets its turn', async () => {
  // No turn lasts so long that the others give it up.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const seen: string[] = []
  let isOver = false
  const outside = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      seen.push('outside')
    }
  })()
  const runs = Array.from({ length: 12 }, async (_, i) => {
    const who = {}
    for (let stage = 0; stage < 3; stage++) {
      await turn(who)
      seen.push(`run ${i}`)
    }
  })
  await Promise.all(runs)
  isOver = true
  await outside
  expect(seen.filter((what) => what !== 'outside')).toHaveLength(36)
  for (const [i, what] of seen.entries()) {
    const next = seen[i + 1]
    // A run need not make way for itself.
    if (what !== 'outside' && next !== undefined) expect(['outside', what]).toContain(next)
  }
})

test('whoever is alone goes on at once, without waiting for a timer', async () => {
  const alone = {}
  await turn(alone)
  let isDone = false
  void turn(alone).then(() => {
    isDone = true
  })
  await Promise.resolve()
  await Promise.resolve()
  expect(isDone).toBe(true)
})
