// What the loopback host of the tests answers besides git: redirects, slowness, size, and what it was sent.

import type { IncomingMessage, ServerResponse } from 'node:http'

export async function reply(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  // A git client asks for paths below the address that it is given.
  switch (url.pathname.replace(/\/info\/refs$/, '')) {
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
