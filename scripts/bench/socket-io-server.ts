// The server that the clients were built for, in Node: what one client says, all are told, numbered. It keeps nothing.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'
import { serveCalls } from './pinned-process.ts'

export type SocketIoCalls = { listen(job: null): Promise<number> }

type Action = { action: string; args: object }

const http = createServer()
const io = new Server(http, { transports: ['websocket'], perMessageDeflate: false, serveClient: false })
let next = 0

io.on('connection', (socket) => {
  socket.on('oh_user_action', ({ action, args }: Action, acknowledge?: (answer: object) => void) => {
    const id = next++
    io.emit('oh_event', { id, timestamp: new Date().toISOString(), source: 'user', message: '', action, args })
    acknowledge?.({ success: true, event_id: id })
  })
})

const calls: SocketIoCalls = {
  listen: () =>
    new Promise((resolve) => {
      http.listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port))
    }),
}

serveCalls(calls, async () => void (await io.close()))
