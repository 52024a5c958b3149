// P1 and P2: the cost of a request, with authentication alone and with a call of an object.

import { startConversation } from '../conversation.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'
import { latency, throughput } from './http.ts'

/** The default size of a page of events. */
const PAGE_EVENTS = 20

export async function optionList(stage: Stage): Promise<Measurement[]> {
  const hello = stage.small.hello
  const routes = {
    row: 'P1',
    what: 'list of agents',
    ours: get(stage.worker, '/api/options/agents', stage.worker.key),
    baseline: get(hello, '/hello', null),
  }
  return [throughput(stage, routes), latency(stage, routes)]
}

export async function objectReads(stage: Stage): Promise<Measurement[]> {
  const conversation = await startConversation(stage)
  // Paused, so that what is posted stays there as it is and nothing runs behind the measurement.
  await conversation.post('change_agent_state', { agent_state: 'paused' })
  for (let i = 0; i < PAGE_EVENTS; i++) await conversation.post('run', { command: `grep -rn "word ${i}" docs` })
  const baseline = get(stage.small['empty-object'], '/ask', null)
  const read = (what: string, path: string) => {
    const ours = get(stage.worker, `${conversation.path}${path}`, stage.worker.key)
    return throughput(stage, { row: 'P2', what, ours, baseline })
  }
  return [read('a conversation', ''), read(`a page of ${PAGE_EVENTS} events`, '/events')]
}

function get(side: Side, path: string, key: string | null) {
  return { side, request: rawRequest(side, { method: 'GET', path }, key) }
}
