// A conversation with one tool server, from the handshake to the good-bye. Nothing of it lasts: each listing and each call
// has its own, so an object that is evicted between two steps has nothing to lose.

import type { z } from 'zod'
import { log } from '../lib/log.ts'
import type { ServerDoor } from './door.ts'
import { McpFailure } from './failure.ts'
import { NOTHING_COMPILED } from './nothing-compiled.ts'
import { headersFor, type RemoteServer } from './remote-server.ts'
import { GOODBYE_MS, Wire } from './wire.ts'

export type ConnectionParts = {
  /** All requests pass it, those to addresses that a server names included. */
  readonly door: ServerDoor
  readonly conversationId: string
  readonly signal?: AbortSignal | undefined
  /** For all of it: handshake, question and answer. */
  readonly deadlineMs: number
}

/** Asks the server; the answer meets the schema. */
export type Ask = <T>(method: string, params: Record<string, unknown>, schema: z.ZodType<T>) => Promise<T>

type Library = typeof import('./lazy/sdk-client.ts')
type Transport = InstanceType<Library['StreamableHTTPClientTransport']> | InstanceType<Library['SSEClientTransport']>

const CLIENT = { name: 'bellwether', version: '1.0.0' }

/** Throws the signal's reason if that fired, an `McpFailure` at the deadline, and whatever else went wrong as it was. */
export async function withServer<T>(
  server: RemoteServer,
  parts: ConnectionParts,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  parts.signal?.throwIfAborted()
  const limit = new Limit(parts)
  try {
    return await limit.race(connect(server, { ...parts, signal: limit.signal }, work))
  } finally {
    limit.end()
  }
}

async function connect<T>(
  server: RemoteServer,
  parts: ConnectionParts & { signal: AbortSignal },
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const library = await import('./lazy/sdk-client.ts')
  const wire = new Wire(parts.door(server.url), { transport: server.transport, signal: parts.signal })
  const transport = transportTo(server, { library, wire, conversationId: parts.conversationId })
  const client = new library.Client(CLIENT, { capabilities: {}, jsonSchemaValidator: NOTHING_COMPILED })
  transport.onmessage = (message) => wire.received(message)
  client.onerror = (error) => wire.mention(error)
  const options = { signal: parts.signal, timeout: parts.deadlineMs + 1_000 }
  const ask: Ask = (method, params, schema) =>
    wire.question((onresumptiontoken) => client.request({ method, params }, schema, { ...options, onresumptiontoken }))
  try {
    // The declared type of the session's id asks for `undefined` to be written out.
    await wire.question(() => client.connect(transport as Parameters<typeof client.connect>[0], options))
    return await work(ask)
  } finally {
    const leaving = leave(client, transport)
    if (!parts.signal.aborted) await leaving
  }
}

function transportTo(
  server: RemoteServer,
  { library, wire, conversationId }: { library: Library; wire: Wire; conversationId: string },
): Transport {
  if (!URL.canParse(server.url)) throw new McpFailure('The address is malformed')
  const options = { fetch: wire.fetch, requestInit: { headers: safeHeaders(server, conversationId) } }
  const url = new URL(server.url)
  return server.transport === 'sse'
    ? new library.SSEClientTransport(url, options)
    : new library.StreamableHTTPClientTransport(url, options)
}

/** The runtime's error about a header quotes its value, which may be a key. */
function safeHeaders(server: RemoteServer, conversationId: string): Record<string, string> {
  const headers = headersFor(server, conversationId)
  if (Object.values(headers).every((value) => /^[\x20-\x7e]*$/.test(value))) return headers
  throw new McpFailure('The key of the server has characters that cannot be sent')
}

/** A server that keeps sessions is told that this one is over; one that does not care to hear it is left all the same. */
async function leave(client: InstanceType<Library['Client']>, transport: Transport): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GOODBYE_MS)
  })
  try {
    if ('terminateSession' in transport) await Promise.race([transport.terminateSession(), late])
  } catch (error) {
    log.debug('mcp.session_not_ended', { error: error instanceof Error ? error.name : 'unknown' })
  } finally {
    clearTimeout(timer)
    await client.close()
  }
}

/** The deadline and the caller's signal as one signal. */
class Limit {
  readonly #controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.#controller.abort(this.#outer?.reason)

  constructor({ deadlineMs, signal }: { deadlineMs: number; signal?: AbortSignal | undefined }) {
    const seconds = Math.round(deadlineMs / 100) / 10
    const expire = () => this.#controller.abort(new McpFailure(`The server did not answer within ${seconds} seconds`))
    this.#timer = setTimeout(expire, deadlineMs)
    this.#outer = signal
    signal?.addEventListener('abort', this.#forward)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The work, or the signal's reason at once: what the work does about the signal is not waited for. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    let leave = () => {}
    const aborted = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason)
      signal.addEventListener('abort', leave)
    })
    try {
      return await Promise.race([work, aborted])
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#forward)
  }
}
