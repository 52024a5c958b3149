// A bare event stream server in Node: what is posted to it, all listeners are told, as one frame. It keeps nothing.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveCalls } from './pinned-process.ts'

export type SseCalls = { listen(job: null): Promise<number> }

const listeners = new Set<ServerResponse>()

const http = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.flushHeaders()
    listeners.add(response)
    response.on('close', () => listeners.delete(response))
    return
  }
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    for (const listener of listeners) listener.write(body)
    response.writeHead(200).end('{}')
  })
})

const calls: SseCalls = {
  listen: () =>
    new Promise((resolve) => {
      http.listen(0, '127.0.0.1', 4096, () => resolve((http.address() as AddressInfo).port))
    }),
}

serveCalls(calls, async () => {
  http.closeAllConnections()
  http.close()
})
