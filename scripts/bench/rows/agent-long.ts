// A turn of five hundred steps: whether its last steps take longer than its first, and what it costs in memory.

import { type ModelBench, openAgent, sampleOf, startAgentWorker, startModel } from '../agent-bench.ts'
import { ask } from '../conversation.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { median } from '../stats.ts'
import { peakRssWhile } from '../usage.ts'
import { stepGaps } from './agent.ts'

const LONG = 500
const SHORT = 50
const WARM_UP = 5

export async function longTurn(stage: Stage): Promise<Measurement[]> {
  const model = await startModel()
  let gaps: number[] = []
  return [
    {
      row: 'agent-long',
      what: `the last ${SHORT} of ${LONG} steps against the first ${SHORT}, p50`,
      unit: 'ms',
      isErratic: true,
      ours: async () => {
        gaps = (await turnOf(LONG, stage, model)).gaps
        return sampleOf(median(gaps.slice(-SHORT)))
      },
      baseline: async () => sampleOf(median(gaps.slice(WARM_UP, WARM_UP + SHORT))),
    },
    {
      row: 'agent-long',
      what: `growth of the server in a turn of ${LONG} steps, against one of ${SHORT}`,
      unit: 'MiB',
      isErratic: true,
      ours: () => growth(LONG, stage, model),
      baseline: () => growth(SHORT, stage, model),
    },
  ]
}

async function growth(steps: number, stage: Stage, model: ModelBench): Promise<Sample> {
  const { grownMiB } = await turnOf(steps, stage, model)
  return sampleOf(grownMiB)
}

/** In a server of its own: one that has grown does not shrink again. */
async function turnOf(steps: number, stage: Stage, model: ModelBench) {
  const worker = await startAgentWorker(stage, model)
  try {
    await ask(worker, '/api/settings', { max_iterations: 2 * LONG })
    const client = await openAgent(worker)
    let gaps: number[] = []
    const { startMiB, peakMiB } = await peakRssWhile(worker.runtime, async () => {
      gaps = await stepGaps({ model, client, steps })
    })
    client.close()
    return { gaps, grownMiB: peakMiB - startMiB }
  } finally {
    await worker.stop()
  }
}
