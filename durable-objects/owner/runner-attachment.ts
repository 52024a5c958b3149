// What belongs to the socket of a runner, for as long as it is open.

import { z } from 'zod'
import { RunnerId } from '../../src/runners/wire.ts'

const RunnerAttachment = z.object({
  kind: z.literal('runner'),
  /** The API key of the socket; null in local mode. */
  key: z.string().nullable(),
  /** When the key expires, epoch ms; null for never. */
  until: z.number().nullable().default(null),
  /** Null until it has said what it is. */
  runner: RunnerId.nullable(),
  /** Of its process; null where it did not say. */
  life: z.string().nullable().default(null),
  /** Of one that is ending: how many conversations it still has. */
  left: z.number().nullable().default(null),
})
export type RunnerAttachment = z.infer<typeof RunnerAttachment>

/** As they were read or written last: each hello looks at those of all sockets. After a hibernation the sockets are new ones. */
const known = new WeakMap<WebSocket, RunnerAttachment>()

export function attachmentOf(socket: WebSocket): RunnerAttachment {
  const attachment = known.get(socket) ?? RunnerAttachment.parse(socket.deserializeAttachment())
  known.set(socket, attachment)
  return attachment
}

export function attach(socket: WebSocket, values: Omit<RunnerAttachment, 'kind'>): void {
  const attachment: RunnerAttachment = { kind: 'runner', ...values }
  socket.serializeAttachment(attachment)
  known.set(socket, attachment)
}

export const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.READY_STATE_OPEN
