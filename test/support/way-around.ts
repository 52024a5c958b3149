// A port that forwards to another one, byte by byte: what stands in for every way to a service that its own name does not
// tell of.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type WayAround = { port: number; stop(): Promise<void> }

export async function wayAround(target: number): Promise<WayAround> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      // Either end may go first; the other one then goes too.
      socket.on('error', () => other.destroy())
      socket.on('close', () => sockets.delete(socket))
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
