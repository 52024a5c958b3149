// What rows about sockets share: an inert conversation, how each side is joined, and what is said on it.

import type { SocketTarget } from '../client/socket-client.ts'
import { type Conversation, startConversation } from '../conversation.ts'
import { keyHeader } from '../requests.ts'
import type { SocketIoCalls } from '../socket-io-server.ts'
import type { Side, Stage, WorkerSide } from '../stage.ts'

/** Changes nothing and starts nothing: an event, and that is all. */
const ACTION = { action: 'change_agent_state', args: { agent_state: 'user_confirmed' } }
export const PLAIN_MESSAGE = JSON.stringify(ACTION)
export const IO_MESSAGE = `42${JSON.stringify(['oh_user_action', ACTION])}`

/** Comes after every event. */
const NOTHING_MISSED = '1000000000'

/** A conversation whose agent is paused: what is sent to it stays there as it is. */
export async function pausedConversation(stage: Pick<Stage, 'worker'>): Promise<Conversation> {
  const conversation = await startConversation(stage)
  await conversation.post('change_agent_state', { agent_state: 'paused' })
  return conversation
}

export function plainTarget(
  worker: WorkerSide,
  { path }: Pick<Conversation, 'path'>,
  after = NOTHING_MISSED,
): SocketTarget {
  return { port: worker.port, path: `${path}/ws?after=${after}`, headers: keyHeader(worker.key), protocol: 'plain' }
}

export function ioTarget(worker: WorkerSide, { path }: Conversation): SocketTarget {
  const id = path.split('/').at(-1)
  const query = `EIO=4&transport=websocket&conversation_id=${id}&latest_event_id=${NOTHING_MISSED}`
  return { port: worker.port, path: `/socket.io/?${query}`, headers: keyHeader(worker.key), protocol: 'socket.io' }
}

/** The server that Socket.IO clients were built for, as a side, and how it is joined. */
export async function socketIoSide(stage: Stage): Promise<{ side: Side; target: SocketTarget }> {
  const server = stage.startProgram<SocketIoCalls>('socket-io-server.ts')
  const port = await server.call('listen', null)
  const target = { port, path: '/socket.io/?EIO=4&transport=websocket', headers: '', protocol: 'socket.io' } as const
  return { side: { port, runtime: server.pid }, target }
}
