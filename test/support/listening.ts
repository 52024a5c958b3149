// Starts a small server for one test, which stops with the test.

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export async function listening(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port: (server.address() as AddressInfo).port }
}
