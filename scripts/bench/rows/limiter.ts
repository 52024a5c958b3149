// What counting costs: the same route of the same Worker with and without its limit.

import { startConversation } from '../conversation.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement } from '../rounds.ts'
import type { Stage, WorkerSide } from '../stage.ts'
import { latency, throughput } from './http.ts'

export async function limiter(stage: Stage): Promise<Measurement[]> {
  const { worker } = stage
  const unlimited = await stage.startWorker({ vars: { RATE_LIMIT_READS: 'off', RATE_LIMIT_STARTS: 'off' } })
  const read = (side: WorkerSide) => ({
    side,
    request: rawRequest(side, { method: 'GET', path: '/api/options/agents' }, side.key),
  })
  const [ours, theirs] = [await startOf(worker), await startOf(unlimited)]
  const row = 'limiter'
  return [
    // Counted by the isolate alone.
    throughput(stage, { row, what: 'a read', ours: read(worker), baseline: read(unlimited) }),
    // Counted by the key's object.
    latency(stage, { row, what: 'a start', ours, baseline: theirs }),
  ]
}

/** Of a conversation that runs, which changes nothing. */
async function startOf(side: WorkerSide) {
  const { path } = await startConversation({ worker: side })
  return { side, request: rawRequest(side, { method: 'POST', path: `${path}/start`, body: '{}' }, side.key) }
}
