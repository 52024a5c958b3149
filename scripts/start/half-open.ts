// A client that ends its half of a connection with the request may still read the answer, and one that has left looks the same until
// something is written to it. So something is written: what any client takes, and the system of one that left refuses. The refusal
// is told to the write after it.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** From the first word to the second, and until the first is said again. Clients are on this machine. */
const SECOND_WORD_MS = 5
const WORDS_MS = 5_000
/** In which nothing of an answer that was begun is written, and of one to a client that takes no word before it. */
const STALL_MS = 60_000
const SILENT_MS = 10_000

/** Node ends its half as soon as the client does, unless this is said; its types do not know it. */
export function answerHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}

/** Ends the connection of a client that left, and keeps that of one that only ended its half until it has the answer. */
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
    // It is on its way whole, and ends the connection by itself.
    if (response.writableEnded) return
    // Who ends the connection after the beginning has left.
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

/** Nobody follows for ever what only an end of the client's would end. */
export function endHalfOpen({ socket }: IncomingMessage, response: ServerResponse): void {
  if (socket.readableEnded) response.destroy()
}
