// P12: the way of an answer from its bytes to pieces of text, as the agent reads it and as the SDK's streamText does.

import { rawRequest } from '../requests.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'

const TOKENS = { ours: 60_000, baseline: 6_000 } as const

export async function modelStream(stage: Stage): Promise<Measurement[]> {
  return [
    {
      row: 'P12',
      what: 'reading an answer of a model, tokens',
      unit: '/s',
      ours: () => timed(stage, 'ours'),
      baseline: () => timed(stage, 'baseline'),
    },
  ]
}

async function timed({ client, small, measured }: Stage, who: keyof typeof TOKENS): Promise<Sample> {
  const side = small['model-stream']
  const request = rawRequest(side, { method: 'GET', path: `/${who}?tokens=${TOKENS[who]}` }, null)
  return measured(side, async () => {
    const answer = await client.call('ask', { port: side.port, request })
    const { tokens, ms } = JSON.parse(answer) as { tokens: number; ms: number }
    return { value: (tokens / ms) * 1000, requests: tokens, clientCpu: null }
  })
}
