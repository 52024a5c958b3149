// P4: the event log's own append against the bare statement, timed inside the object.

import { rawRequest } from '../requests.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'

const BATCHES = 500

export async function append(stage: Stage): Promise<Measurement[]> {
  return [
    {
      row: 'P4',
      what: 'append of 64 events in one call, events',
      unit: '/s',
      ours: () => timed(stage, '/ours'),
      baseline: () => timed(stage, '/baseline'),
    },
  ]
}

async function timed({ client, small, measured }: Stage, path: string): Promise<Sample> {
  const side = small.append
  const request = rawRequest(side, { method: 'GET', path: `${path}?batches=${BATCHES}` }, null)
  return measured(side, async () => {
    const answer = await client.call('ask', { port: side.port, request })
    const { events, ms } = JSON.parse(answer) as { events: number; ms: number }
    return { value: (events / ms) * 1000, requests: events, clientCpu: null }
  })
}
