// Responses of the tests' loopback host beside git: redirects, slow and large responses, and a log of its requests.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const PIECES = 8
const PIECE_MS = 15

/** Sends the response completely, or with the fault that the address requests: `cut`, `stall` or `slow`. */
export async function send(answer: Uint8Array, response: ServerResponse, fault: string | null): Promise<void> {
  if (fault === null) {
    response.end(answer)
    return
  }
  const size = Math.ceil(answer.byteLength / PIECES)
  for (let piece = 0; piece < PIECES; piece++) {
    if (fault !== 'slow' && piece === PIECES / 2) break
    response.write(answer.subarray(piece * size, (piece + 1) * size))
    await sleep(PIECE_MS)
  }
  if (fault === 'slow') response.end()
  if (fault === 'cut') response.destroy()
  // One that stalls is closed with the server at the latest.
}

export async function reply(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  const [, status] = /^\/status\/(\d{3})\//.exec(url.pathname) ?? []
  if (status !== undefined) {
    response.writeHead(Number(status), { 'content-type': 'text/html' })
    response.end('<html>no</html>')
    return
  }
  // A git client asks for paths below the address that it is given.
  switch (url.pathname.replace(/\/info\/refs$/, '')) {
    case '/moved':
      response.writeHead(301, { location: `${parameter('to')}/info/refs?service=git-upload-pack` })
      response.end()
      return
    case '/redirect':
      response.writeHead(Number(parameter('status') || '302'), { location: parameter('to') })
      response.end()
      return
    case '/loop':
      response.writeHead(302, { location: `/loop?n=${Number(parameter('n')) + 1}` })
      response.end()
      return
    case '/echo': {
      const body: Uint8Array[] = []
      for await (const part of request) body.push(part as Uint8Array)
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          method: request.method,
          headers: request.headers,
          body: Buffer.concat(body).toString('utf8'),
        }),
      )
      return
    }
    case '/big':
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      response.end(Buffer.alloc(Number(parameter('bytes'))))
      return
    case '/never':
      // Closed with the server at the latest.
      return
    case '/drip':
      response.writeHead(200)
      response.write('first')
      return
    case '/cut':
      response.writeHead(200, { 'content-length': '100' })
      response.write('first')
      setTimeout(() => response.destroy(), 10)
      return
    default:
      response.writeHead(404)
      response.end('nothing here')
  }
}
