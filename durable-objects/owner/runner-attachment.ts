// The state of a runner's socket, for as long as it is open.

import { z } from 'zod'
import { RunnerId } from '../../src/runners/wire.ts'

const RunnerAttachment = z.object({
  kind: z.literal('runner'),
  /** The API key of the socket; null in local mode. */
  key: z.string().nullable(),
  /** When the key expires, epoch ms; null for never. */
  until: z.number().nullable().default(null),
  /** Null until the runner has said hello. */
  runner: RunnerId.nullable(),
  /** The life of its process; null when the runner did not report it. */
  life: z.string().nullable().default(null),
  /** For a runner that is shutting down: how many conversations it still has. */
  left: z.number().nullable().default(null),
})
export type RunnerAttachment = z.infer<typeof RunnerAttachment>

/**
 * A cache of the attachments, because each hello reads those of all sockets. After hibernation the sockets are new
 * objects.
 */
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
