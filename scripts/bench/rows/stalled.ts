// P22: the memory that clients cost who are there and read nothing. Each slice has a server of its own: one that has grown
// does not shrink again.

import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { peakRssWhile } from '../usage.ts'
import { pausedConversation, plainTarget } from './sockets.ts'

const CLIENTS = 1_000
const STALLED = 100
/** Together 2 MB for each client, twice what one may owe. */
const EVENTS = 100
const COMMAND_LENGTH = 10_000
const MAX_MS = 120_000

export async function stalledClients(stage: Stage): Promise<Measurement[]> {
  return [
    {
      row: 'P22',
      what: `growth while ${CLIENTS} clients are sent 2 MB each, ${STALLED} of which read nothing`,
      unit: 'MiB',
      isErratic: true,
      ours: () => growth(stage, STALLED),
      baseline: () => growth(stage, 0),
    },
  ]
}

const MESSAGE = JSON.stringify({ action: 'run', args: { command: 'x'.repeat(COMMAND_LENGTH) } })

let slices = 0

async function growth(stage: Stage, stalled: number): Promise<Sample> {
  const group = `stalled-${++slices}`
  const worker = await stage.startWorker({})
  const { client } = stage
  try {
    const publisher = plainTarget(worker, await pausedConversation({ worker }))
    await client.call('watch', { group, target: publisher, count: CLIENTS })
    await client.call('stall', { group, count: stalled })
    const pushing = { group, publisher, message: MESSAGE, burst: 1, durationMs: MAX_MS, bursts: EVENTS }
    const { startMiB, peakMiB } = await peakRssWhile(worker.runtime, () => client.call('fanOut', pushing))
    return { value: peakMiB - startMiB, clientCpu: null, serverMicros: null, waited: null }
  } finally {
    await client.call('leave', { group })
    await worker.stop()
  }
}
