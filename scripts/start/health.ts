import { HOST } from './port.ts'

const TIMEOUT_MS = 1_000

/** Whether the service on this port answers. */
export async function isHealthy(port: number): Promise<boolean> {
  try {
    const reply = await fetch(`http://${HOST}:${port}/health`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    await reply.arrayBuffer()
    return reply.ok
  } catch {
    // Refused, cut or too late: what keeps the answer from coming is the finding, not a failure of ours.
    return false
  }
}
