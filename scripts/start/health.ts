import { FRONT_HEADER } from './front-word.ts'
import { HOST } from './port.ts'

const TIMEOUT_MS = 1_000

/** Whether the runtime on this port answers. */
export async function isAlive(port: number, word: string): Promise<boolean> {
  try {
    const headers = { [FRONT_HEADER]: word }
    const reply = await fetch(`http://${HOST}:${port}/alive`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await reply.arrayBuffer()
    return reply.ok
  } catch {
    // Refused, aborted or too late: a missing response is the result of the check, not an error of ours.
    return false
  }
}
