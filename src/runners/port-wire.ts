// The servers in the sandbox, as people look at them, on the wire between a runner and the service.

import { z } from 'zod'

/** One request or socket to a server in the sandbox, by a number that the object gives. */
const PortStream = z.number().int().nonnegative()
const PortNumber = z.number().int().min(1).max(65_535)
/** Bytes of one direction of a stream that may be sent and not acknowledged. */
export const PORT_WINDOW_BYTES = 256 * 1024
/** Of a body in one frame. */
export const PORT_PIECE_BYTES = 64 * 1024
/** A message of a WebSocket, bytes: it goes in one frame. */
export const MAX_PORT_MESSAGE_BYTES = 1_000_000
/** Requests and sockets of one conversation at a time. */
export const MAX_PORT_STREAMS = 100
const PortHeaders = z.array(z.tuple([z.string().max(256), z.string().max(16 * 1024)])).max(200)

/** runner → object, the answer to `port/list`: where something listens that a person may look at. */
export const PortList = z.object({ ports: z.array(PortNumber).max(100) })
export type PortList = z.infer<typeof PortList>
/**
 * object → runner: a request for the server at a port. Bodies, and the messages of a socket, follow as frames in both
 * directions; each direction ends with a frame that says `end`.
 */
export const PortOpen = z.object({
  stream: PortStream,
  port: PortNumber,
  kind: z.enum(['http', 'socket']),
  method: z.string().regex(/^[A-Z]{1,20}$/),
  path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/)
    .max(32 * 1024),
  headers: PortHeaders,
  hasBody: z.boolean(),
})
export type PortOpen = z.infer<typeof PortOpen>
/** runner → object: the head of the server's answer; 101 for a socket that is open. */
export const PortHead = z.object({
  stream: PortStream,
  status: z.number().int().min(101).max(599),
  headers: PortHeaders,
})
export type PortHead = z.infer<typeof PortHead>
/** Both ways: broken off, with the reason. `code`: how a socket was closed. */
export const PortClose = z.object({
  stream: PortStream,
  reason: z.string().max(500),
  code: z.number().int().optional(),
})
export type PortClose = z.infer<typeof PortClose>
