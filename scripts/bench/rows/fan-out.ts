// P6, P7 and the row of Socket.IO: one client speaks, 200 hear it, on our server and on a Socket.IO server in Node.

import type { SocketTarget } from '../client/socket-client.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'
import { IO_MESSAGE, ioTarget, PLAIN_MESSAGE, pausedConversation, plainTarget, socketIoSide } from './sockets.ts'

const CLIENTS = 200
const SLICE_MS = 1_000
/** What a model says in a second or so, when it comes at once. */
const BURST = 100

type Crowd = { readonly side: Side; readonly target: SocketTarget; readonly message: string }
type Crowds = { readonly ours: Crowd; readonly theirs: Crowd }

/** A single event at a time, over the plain protocol. */
export async function singleEvents(stage: Stage): Promise<Measurement[]> {
  const crowds = await crowdsOf(stage, 'plain')
  return [
    measurement(stage, crowds, { row: 'P6', burst: 1, figure: 'perSecond' }),
    measurement(stage, crowds, { row: 'P6', burst: 1, figure: 'p99Ms' }),
  ]
}

/** Bursts over the plain protocol, which may send several events in one frame. */
export async function bursts(stage: Stage): Promise<Measurement[]> {
  const crowds = await crowdsOf(stage, 'plain')
  return [measurement(stage, crowds, { row: 'P7', burst: BURST, figure: 'perSecond' })]
}

/** The very same clients on both sides. */
export async function socketIoClients(stage: Stage): Promise<Measurement[]> {
  const crowds = await crowdsOf(stage, 'socket.io')
  const row = 'socket-io'
  return [
    measurement(stage, crowds, { row, burst: 1, figure: 'perSecond' }),
    measurement(stage, crowds, { row, burst: BURST, figure: 'perSecond' }),
  ]
}

async function crowdsOf(stage: Stage, protocol: SocketTarget['protocol']): Promise<Crowds> {
  const { worker, client } = stage
  const conversation = await pausedConversation(stage)
  const [target, message] =
    protocol === 'plain'
      ? [plainTarget(worker, conversation), PLAIN_MESSAGE]
      : [ioTarget(worker, conversation), IO_MESSAGE]
  const theirs = await socketIoSide(stage)
  await client.call('watch', { group: 'ours', target, count: CLIENTS })
  await client.call('watch', { group: 'theirs', target: theirs.target, count: CLIENTS })
  return { ours: { side: worker, target, message }, theirs: { ...theirs, message: IO_MESSAGE } }
}

type RowSpec = { row: string; burst: number; figure: 'perSecond' | 'p99Ms' }

function measurement(stage: Stage, crowds: Crowds, { row, burst, figure }: RowSpec): Measurement {
  const what = `${burst === 1 ? 'single events' : `bursts of ${burst} events`} to ${CLIENTS} clients`
  return {
    row,
    what: figure === 'p99Ms' ? `${what}, p99 until the last has it` : what,
    unit: figure === 'p99Ms' ? 'ms' : '/s',
    ours: () => slice(stage, crowds.ours, { group: 'ours', burst, figure }),
    baseline: () => slice(stage, crowds.theirs, { group: 'theirs', burst, figure }),
  }
}

type Slice = Pick<RowSpec, 'burst' | 'figure'> & { group: string }

function slice({ client, measured }: Stage, crowd: Crowd, { group, burst, figure }: Slice): Promise<Sample> {
  const { side, target: publisher, message } = crowd
  return measured(side, async () => {
    const result = await client.call('fanOut', { group, publisher, message, burst, durationMs: SLICE_MS })
    return { value: result[figure], requests: result.bursts * burst, clientCpu: result.clientCpu }
  })
}
