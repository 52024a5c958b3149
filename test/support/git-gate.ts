import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of the git host that holds back the first requested pack. */
export async function holdingGate(upstream: string, address = '127.0.0.1') {
  const held = Promise.withResolvers<void>()
  const let_ = Promise.withResolvers<void>()
  const server = createServer((incoming, response) => {
    // The provider's API root, where tokens are checked.
    if (/^\/api\/v3\/?$/.test(incoming.url ?? '')) {
      response.setHeader('content-type', 'application/json')
      return void response.end(JSON.stringify({ current_user_url: '/user' }))
    }
    const isPack = incoming.method === 'POST'
    if (isPack) held.resolve()
    const forward = () => {
      const outgoing = ask(`${upstream}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: incoming.headers,
      })
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      outgoing.on('error', () => response.destroy())
      incoming.pipe(outgoing)
    }
    if (isPack) void let_.promise.then(forward)
    else forward()
  })
  server.listen(0, address)
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://${address}:${port}`, isHeld: held.promise, letGo: let_.resolve, close }
}
