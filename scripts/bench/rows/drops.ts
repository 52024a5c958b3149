// P9: how much arrives when nearly a third of all sockets are lost at every moment.

import type { DropJob } from '../client/drops.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'
import { pausedConversation, plainTarget, socketIoSide } from './sockets.ts'

const PLAN = { clients: 20, steps: 40, eventsPerStep: 5, dropShare: 0.3 }
/** An action that a paused agent leaves alone. */
const ACTION = { action: 'run', args: { command: '{n}' } }

export async function delivery(stage: Stage): Promise<Measurement[]> {
  const { worker } = stage
  const theirs = await socketIoSide(stage)
  const publisher = { target: theirs.target, publisher: theirs.target }
  return [
    {
      row: 'P9',
      what: 'events delivered through 30 % random socket losses',
      unit: 'share',
      isErratic: true,
      // A new conversation each time: a client without an id gets all events.
      ours: async () => {
        const conversation = await pausedConversation(stage)
        const target = plainTarget(worker, conversation, '{after}')
        const message = JSON.stringify(ACTION)
        return delivered(stage, worker, { ...PLAN, message, target, publisher: plainTarget(worker, conversation) })
      },
      baseline: () =>
        delivered(stage, theirs.side, {
          ...PLAN,
          ...publisher,
          message: `42${JSON.stringify(['oh_user_action', ACTION])}`,
        }),
    },
  ]
}

function delivered({ client, measured }: Stage, side: Side, job: DropJob): Promise<Sample> {
  return measured(side, async () => {
    const { delivered: value, repeated, reordered, drops } = await client.call('drops', job)
    if (repeated > 0 || reordered > 0) throw new Error(`${repeated} events came twice, ${reordered} out of order`)
    if (drops === 0) throw new Error('no socket was lost')
    return { value, requests: null, clientCpu: null }
  })
}
