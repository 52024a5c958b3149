import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.ts'

export const HOST = '127.0.0.1'

/** A server that was just told to stop needs a moment to let go. */
const PATIENCE_MS = 2_000

/** Throws a `Fault` when the port cannot be listened on. */
export async function requireFreePort(port: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const code = await tryToListen(port)
    if (code === null) return
    if (code === 'EACCES')
      throw new Fault(`Port ${port} needs more rights than this user has. Try another: PORT=8788 npm start`)
    if (code !== 'EADDRINUSE' || Date.now() > deadline) throw taken(port, code)
    await sleep(100)
  }
}

function taken(port: number, code: string): Fault {
  if (code !== 'EADDRINUSE') return new Fault(`Port ${port} cannot be used (${code}). Try another: PORT=8788 npm start`)
  const other = port === 65_535 ? port - 1 : port + 1
  return new Fault(`Port ${port} is taken. Stop what uses it, or start with another: PORT=${other} npm start`)
}

/** The code of what went wrong, or null. */
function tryToListen(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(null)))
  })
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
