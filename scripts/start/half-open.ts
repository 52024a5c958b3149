// A client may close its half of the connection after the request and still read the response. A client that has left looks the
// same until something is written to it. So `102 Processing` is written, which every client must accept. The system of a client
// that has left replies with a reset, and the next write fails.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** The delay between the two writes of a pair, and between two pairs. Clients are on this machine, so a reset arrives quickly. */
const SECOND_WORD_MS = 5
const WORDS_MS = 5_000
/** The longest pause within a response, and before a response to a client of HTTP/1.0, which knows no 102. */
const STALL_MS = 60_000
const SILENT_MS = 10_000

/** Without this option Node closes its half as soon as the client does. The option is missing in Node's types. */
export function answerHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}

/** Closes the connection of a client that has left. A client that closed only its half keeps it until it has the response. */
export function watchHalfOpen(request: IncomingMessage, response: ServerResponse): void {
  const { socket, httpVersion } = request
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = (isFirst: boolean) => {
    if (response.headersSent) {
      timer = endIdle(request, STALL_MS)
      return
    }
    response.writeProcessing()
    timer = setTimeout(() => ask(!isFirst), isFirst ? SECOND_WORD_MS : WORDS_MS)
  }
  const ended = () => {
    // The whole response is being sent; its end closes the connection.
    if (response.writableEnded) return
    // A client that closes its half after the response has started has left.
    if (response.headersSent) socket.destroy()
    else if (httpVersion === '1.1') ask(true)
    else timer = endIdle(request, SILENT_MS)
  }
  if (socket.readableEnded) ended()
  else socket.once('end', ended)
  response.once('close', () => {
    clearTimeout(timer)
    socket.off('end', ended)
  })
}

function endIdle({ socket }: IncomingMessage, idleMs: number): ReturnType<typeof setTimeout> {
  let written = socket.bytesWritten
  return setInterval(() => {
    if (socket.bytesWritten === written) socket.destroy()
    written = socket.bytesWritten
  }, idleMs)
}

/** Ends a stream that only the client's close would end. */
export function endHalfOpen({ socket }: IncomingMessage, response: ServerResponse): void {
  if (socket.readableEnded) response.destroy()
}
