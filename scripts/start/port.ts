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

/** Throws a `Fault` when the inspector cannot listen there: the runtime would wait for it without a word. */
export async function requireForInspector(port: number, frontPort: number): Promise<void> {
  const other = port === 65_535 ? port - 1 : port + 1
  const advice = `Try another: npm start -- --inspect ${other}`
  if (port === frontPort) throw new Fault(`Port ${port} belongs to the service itself. ${advice}`)
  try {
    await freePort(port)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new Fault(`The inspector cannot listen on port ${port} (${error.code}). ${advice}`)
  }
}

/** A port that nothing listens on at this moment; the wanted one, where one is. */
export function freePort(wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: wanted, host: HOST }, () => {
      const address = server.address()
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port)
        else reject(new Error('a TCP server without a port'))
      })
    })
  })
}
