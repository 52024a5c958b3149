// Error responses of the front itself. They have the shape that the service uses at that path, if the path is known.

import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { endWith } from './front-sockets.ts'

type Refusal = { readonly status: number; readonly detail: string }

export const STARTING: Refusal = { status: 503, detail: 'The service is being started; try again in some seconds' }
export const INTERRUPTED: Refusal = {
  status: 503,
  detail: 'The service was interrupted before it answered; whether the request was carried out is not known',
}

/** Timeout for the headers of a request; the same as Node's default. */
export const HEAD_PATIENCE_MS = 60_000
const MAX_HEAD_BYTES = maxHeaderSize

/** Keys are error codes of Node's HTTP parser. */
const UNREADABLE: ReadonlyMap<string | undefined, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: `The headers are larger than ${MAX_HEAD_BYTES} bytes` }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, detail: 'The pieces of the body say too much besides' }],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { status: 408, detail: `The head of the request did not come within ${HEAD_PATIENCE_MS / 1000} s` },
  ],
])
const NO_HTTP: Refusal = { status: 400, detail: 'The request is no HTTP, or is cut off' }

export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { headers, body } = answerOf(refusal, response.req.url)
  response.writeHead(refusal.status, headers)
  response.end(body)
}

export function refuseSocket(socket: Duplex, refusal: Refusal, path?: string): void {
  const { headers, body } = answerOf(refusal, path)
  const all = Object.entries({ ...headers, connection: 'close' })
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  endWith(socket, `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines}\r\n${body}`)
}

type Unreadable = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

/** `answer` is the response to the previous request on the connection. While it is being sent, no other response can start. */
export function refuseUnreadable(socket: Duplex, error: Unreadable, answer: ServerResponse | undefined): void {
  const isInside = answer?.headersSent === true && !answer.writableFinished
  if (!socket.writable || error.code === 'ECONNRESET' || isInside) {
    socket.destroy()
    return
  }
  const [, path] = /^[A-Z]+ (\/\S*)/.exec(error.rawPacket?.toString('latin1', 0, MAX_HEAD_BYTES) ?? '') ?? []
  refuseSocket(socket, UNREADABLE.get(error.code) ?? NO_HTTP, path)
}

function answerOf({ status, detail }: Refusal, path = ''): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(path.startsWith('/api/v1/') ? flat(status, detail) : { detail })
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return { headers: status === 503 ? { ...headers, 'retry-after': '2' } : headers, body }
}

const flat = (status: number, message: string): object =>
  status === 503 ? { error: 'unavailable', message } : { error: 'http_error', message, detail: null }
