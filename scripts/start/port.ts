import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.ts'

export const HOST = '127.0.0.1'

/** A server that was just told to stop needs a moment to let go. */
const PATIENCE_MS = 2_000

/** Listens on the port, or throws a `Fault` that says why it cannot be listened on and what to do. */
export async function listenPatiently<Server>(port: number, listen: () => Promise<Server>): Promise<Server> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      return await listen()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : null
      if (code === null) throw error
      if (code !== 'EADDRINUSE' || Date.now() > deadline) throw unusable(port, code)
      await sleep(100)
    }
  }
}

function unusable(port: number, code: string): Fault {
  if (code === 'EACCES') {
    return new Fault(`Port ${port} needs more rights than this user has. Try another: PORT=8788 npm start`)
  }
  if (code !== 'EADDRINUSE') return new Fault(`Port ${port} cannot be used (${code}). Try another: PORT=8788 npm start`)
  const other = port === 65_535 ? port - 1 : port + 1
  return new Fault(`Port ${port} is taken. Stop what uses it, or start with another: PORT=${other} npm start`)
}

/** A port that nothing listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host: HOST }, () => {
      const address = server.address()
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port)
        else reject(new Error('a TCP server without a port'))
      })
    })
  })
}
