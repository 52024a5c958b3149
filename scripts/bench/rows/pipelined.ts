// P5: one client that does not wait for its acknowledgements. What comes together shares a commit; on the other side every
// message has its own.

import type { SocketTarget } from '../client/socket-client.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'
import { pausedConversation, plainTarget } from './sockets.ts'

const OURS = 20_000
const THEIRS = 4_000

export async function pipelined(stage: Stage): Promise<Measurement[]> {
  const { worker, small } = stage
  const target = plainTarget(worker, await pausedConversation(stage))
  const raw = small['raw-log']
  const rawTarget: SocketTarget = { port: raw.port, path: '/ws', headers: '', protocol: 'plain' }
  return [
    {
      row: 'P5',
      what: 'pipelined append over one socket, acknowledgements',
      unit: '/s',
      ours: () => acknowledged(stage, worker, { target, count: OURS }),
      baseline: () => acknowledged(stage, raw, { target: rawTarget, count: THEIRS }),
    },
  ]
}

const MESSAGE = JSON.stringify({
  ref: 'message-{n}',
  action: 'change_agent_state',
  args: { agent_state: 'user_confirmed' },
})

type PipelineRequest = { target: SocketTarget; count: number }

function acknowledged({ client, measured }: Stage, side: Side, said: PipelineRequest): Promise<Sample> {
  return measured(side, async () => {
    const { perSecond, clientCpu } = await client.call('pipeline', { ...said, message: MESSAGE })
    return { value: perSecond, requests: said.count, clientCpu }
  })
}
