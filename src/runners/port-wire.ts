// The servers in the sandbox that users open in a browser, on the wire between a runner and the service.

import { z } from 'zod'

/** One request or socket to a server in the sandbox, identified by a number from the object. */
const PortStream = z.number().int().nonnegative()
const PortNumber = z.number().int().min(1).max(65_535)
/** Unacknowledged bytes of one direction of a stream. */
export const PORT_WINDOW_BYTES = 256 * 1024
/** Bytes of a body in one frame. */
export const PORT_PIECE_BYTES = 64 * 1024
/** Bytes of a WebSocket message: it is sent in one frame. */
export const MAX_PORT_MESSAGE_BYTES = 1_000_000
/** The most requests and sockets of one conversation at a time. */
export const MAX_PORT_STREAMS = 100
const PortHeaders = z.array(z.tuple([z.string().max(256), z.string().max(16 * 1024)])).max(200)

/** runner → object, the answer to `port/list`: ports with servers that users may open. */
export const PortList = z.object({ ports: z.array(PortNumber).max(100) })
export type PortList = z.infer<typeof PortList>
/**
 * object → runner: a request for the server at a port. Bodies, and the messages of a socket, follow as frames in both
 * directions; each direction ends with a frame with `end`.
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
/** Both ways: interrupted, with the reason. `code`: the close code of a socket. */
export const PortClose = z.object({
  stream: PortStream,
  reason: z.string().max(500),
  code: z.number().int().optional(),
})
export type PortClose = z.infer<typeof PortClose>
