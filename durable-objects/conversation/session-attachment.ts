import { z } from 'zod'

/** What of a socket must outlive hibernation. */
export const Attachment = z.object({
  protocol: z.enum(['plain', 'socket.io']),
  sid: z.string(),
  /** The id of the last event that was sent to a socket that is not live; null when it is. */
  sent: z.number().nullable(),
  /** Whether the client has joined; until then it gets no events. */
  joined: z.boolean(),
  /** When the client was asked for a sign of life that has not come yet, epoch ms. */
  askedAt: z.number().nullable(),
  /** When the client gave its last sign of life, or came, epoch ms. */
  heardAt: z.number(),
  /** The API key behind it, and when it must be gone, epoch ms; null in local mode, and for never. */
  key: z.string().nullable(),
  until: z.number().nullable(),
})
export type Attachment = z.infer<typeof Attachment>

export type Goodbye = { code: number; reason: string; farewell: boolean }

/** Policy: the client need not come back with what it has. */
export const KEY_REVOKED: Goodbye = { code: 1008, reason: 'the key was revoked', farewell: true }
export const KEY_EXPIRED: Goodbye = { code: 1008, reason: 'the key has expired', farewell: true }
/** Later perhaps. Without a farewell, which a Socket.IO client takes for a dismissal and does not come back. */
export const KEY_UNCHECKED: Goodbye = { code: 1013, reason: 'the key could not be checked', farewell: false }
