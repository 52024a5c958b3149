// Bellwether as `npm start` serves it. The runtime's own sockets believe headers with which a client could choose the address
// that its request seems to go to or to come from. So nothing is answered here but what came through the front, which takes
// such headers away, writes down the peer's address as its socket tells it, and knows the word.

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
/** Nothing that has come is unread when nothing comes for so long. */
const PAUSE_MS = 500
const MOST_UNREAD_MS = 15_000

/**
 * The answer, when nothing of the request that has come is left to read. The runtime breaks off a connection with an unread body,
 * and what it had answered would be lost with it. Whoever stops sending has his answer at once.
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
    // Who breaks off does not wait for an answer either.
  }
  return response
}
