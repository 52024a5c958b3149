// The Worker's entry for `npm start`. The runtime's own sockets trust headers with which a client could forge the address
// that its request goes to or comes from. So this entry only accepts requests from our proxy, which removes
// such headers, sets the peer's real address, and proves itself with a shared secret.

import { ownerShown } from '../../../src/http/auth.ts'
import worker from '../../../src/index.ts'
import { constantTimeEqual } from '../../../src/lib/crypto.ts'
import { sleep } from '../../../src/lib/wait-at-most.ts'
import { FRONT_HEADER, type FrontEnv, OWNER_HEADER } from '../front-word.ts'

export { AnalysisRunner, Conversation, Limiter, Owner, TaskQueue } from '../../../src/index.ts'

// biome-ignore lint/style/noDefaultExport: what the runtime looks for in an entry
export default {
  async fetch(request, env, ctx) {
    const word = request.headers.get(FRONT_HEADER)
    if (word === null || !constantTimeEqual(word, env.FRONT_WORD)) {
      return Response.json({ detail: 'The service is not served here' }, { status: 421 })
    }
    if (request.headers.has(OWNER_HEADER)) return Response.json({ owner: await ownerShown(request, env) })
    return read(request, await worker.fetch(request, env, ctx))
  },
  scheduled: worker.scheduled,
} satisfies ExportedHandler<Env & FrontEnv>

const MOST_UNREAD_BYTES = 100_000_000
/** If no data arrives for this time, everything received has been read. */
const PAUSE_MS = 500
const MOST_UNREAD_MS = 15_000

/**
 * Returns the response after all received data of the request has been read. The runtime aborts a connection with an unread body,
 * and the response would be lost with it. A client that stops sending gets its response at once.
 */
async function read(request: Request, response: Response): Promise<Response> {
  if (request.body === null || request.bodyUsed || request.body.locked) return response
  const reader = request.body.getReader()
  const until = Date.now() + MOST_UNREAD_MS
  try {
    for (let bytes = 0; bytes < MOST_UNREAD_BYTES && Date.now() < until; ) {
      const piece = await Promise.race([reader.read(), sleep(PAUSE_MS, undefined)])
      if (piece === undefined || piece.done) break
      bytes += piece.value.byteLength
    }
  } catch {
    // A client that disconnects does not need a response.
  }
  return response
}
