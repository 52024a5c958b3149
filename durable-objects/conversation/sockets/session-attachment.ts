import { z } from 'zod'

/** The tag of a runner's socket: sockets that follow the events have none. */
export const RUNNER_TAG = 'runner'

/** The state of a socket that must survive hibernation. */
export const Attachment = z.object({
  protocol: z.enum(['plain', 'socket.io']),
  sid: z.string(),
  /** The id of the last event that was sent to a socket that is not live; null when it is. */
  sent: z.number().nullable(),
  /** Whether the client has joined; before that it gets no events. */
  joined: z.boolean(),
  /** When a probe was sent that the client has not answered yet, epoch ms. */
  askedAt: z.number().nullable(),
  /** When the client last answered a probe, or when it connected, epoch ms. */
  heardAt: z.number(),
  /**
   * The API key of the socket, and when the socket must be closed, epoch ms; null in local mode, and for a key that does not
   * expire.
   */
  key: z.string().nullable(),
  until: z.number().nullable(),
})
export type Attachment = z.infer<typeof Attachment>

export type Goodbye = { code: number; reason: string; farewell: boolean }

/** Closed for a policy violation: the client should not connect again. */
export const KEY_REVOKED: Goodbye = { code: 1008, reason: 'the key was revoked', farewell: true }
export const KEY_EXPIRED: Goodbye = { code: 1008, reason: 'the key has expired', farewell: true }
/**
 * The client may connect again later. No disconnect packet is sent, because a Socket.IO client does not reconnect after
 * one.
 */
export const KEY_UNCHECKED: Goodbye = { code: 1013, reason: 'the key could not be checked', farewell: false }
/** The server ends the session and gives the reason. */
export const sessionEnd = (reason: string): Goodbye => ({ code: 1000, reason, farewell: true })
/** No disconnect packet, for the same reason. */
export const NO_SIGN: Goodbye = { code: 1013, reason: 'no sign of life', farewell: false }
