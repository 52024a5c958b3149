// P10: from the request that makes a conversation until its first event is on a socket, against a new object with one row.

import type { CreationJob } from '../client/creations.ts'
import { keyHeader, rawRequest } from '../requests.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'

const COUNT = 40
/** A new conversation writes its row of the index once more when its socket is gone; that must not fall on the other side. */
const REST_MS = 1_500

export async function creation(stage: Stage): Promise<Measurement[]> {
  const { worker, small } = stage
  const raw = small['raw-log']
  const post = (side: Side, path: string, body: string, key: string | null) =>
    rawRequest(side, { method: 'POST', path, body }, key)
  return [
    {
      row: 'P10',
      what: 'create to first event on a socket, p50',
      unit: 'ms',
      restMs: REST_MS,
      ours: () =>
        created(stage, worker, {
          request: post(worker, '/api/conversations', '{}', worker.key),
          socket: { path: '/api/conversations/{id}/ws', headers: keyHeader(worker.key) },
          // So many of an owner may run at a time; what making room for one more costs is no part of this.
          putAway: post(worker, '/api/conversations/{id}/stop', '', worker.key),
        }),
      baseline: () => created(stage, raw, { request: post(raw, '/new', FIRST_ROW, null), socket: null, putAway: null }),
    },
  ]
}

const FIRST_ROW = JSON.stringify({ id: 0, source: 'environment', observation: 'agent_state_changed', content: '' })

type CreationRequest = Pick<CreationJob, 'request' | 'socket' | 'putAway'>

async function created({ client, measured }: Stage, side: Side, made: CreationRequest): Promise<Sample> {
  return measured(side, async () => {
    const { p50Ms, clientCpu } = await client.call('create', { port: side.port, count: COUNT, ...made })
    return { value: p50Ms, requests: COUNT, clientCpu }
  })
}
