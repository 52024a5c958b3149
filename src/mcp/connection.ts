// A session with one tool server, from the handshake to the end. It is short-lived: each listing and each call has its
// own session, so an object that is evicted between two steps loses nothing.

import type { z } from 'zod'
import { log } from '../lib/log.ts'
import { unlessAborted } from '../lib/wait-at-most.ts'
import { ProcessTransport, type ToolProcesses } from './process-session.ts'
import {
  headersFor,
  type ProcessServer,
  type RemoteServer,
  type ServerAccess,
  type ToolServer,
} from './remote-server.ts'
import { GOODBYE_MS, McpFailure, NOTHING_COMPILED, Wire } from './wire.ts'

export type ConnectionDeps = {
  /** All requests go through it, including those to addresses that a server names. */
  readonly door: ServerAccess
  /** Where servers that are programs run; null when that is not possible. */
  readonly processes: ToolProcesses | null
  readonly conversationId: string
  /** The key of the effect, for a tool call; null for a listing. */
  readonly effect?: string | null | undefined
  readonly signal?: AbortSignal | undefined
  /** For all of it: handshake, request and answer. */
  readonly deadlineMs: number
}

type Connecting = ConnectionDeps & { readonly signal: AbortSignal }

/** Sends a request; the answer is validated with the schema. */
export type Ask = <T>(method: string, params: Record<string, unknown>, schema: z.ZodType<T>) => Promise<T>

type Library = typeof import('./lazy/sdk-client.ts')
type Transport = InstanceType<Library['StreamableHTTPClientTransport']> | InstanceType<Library['SSEClientTransport']>

const CLIENT = { name: 'bellwether', version: '1.0.0' }

/** Throws the signal's reason if it fired, an `McpFailure` at the deadline, and any other error unchanged. */
export async function withServer<T>(
  server: ToolServer,
  deps: ConnectionDeps,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  deps.signal?.throwIfAborted()
  const { deadlineMs } = deps
  const seconds = Math.round(deadlineMs / 100) / 10
  const late = new AbortController()
  const expire = () => late.abort(new McpFailure(`The server did not answer within ${seconds} seconds`))
  const timer = setTimeout(expire, deadlineMs)
  const signal = deps.signal ? AbortSignal.any([late.signal, deps.signal]) : late.signal
  try {
    return await unlessAborted(signal, connected(server, { ...deps, signal }, work))
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

const connected = <T>(server: ToolServer, deps: Connecting, work: (ask: Ask) => Promise<T>): Promise<T> =>
  server.transport === 'stdio' ? withProcess(server, deps, work) : withRemote(server, deps, work)

async function withProcess<T>(server: ProcessServer, deps: Connecting, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { processes, signal, deadlineMs, effect = null } = deps
  if (processes === null) throw new McpFailure('It is a program, and there is no runner that it could run on')
  const [library, session] = await Promise.all([import('./lazy/sdk-client.ts'), processes.open(server, effect)])
  // It may end before anybody awaits it.
  session.ended.catch(() => undefined)
  const client = new library.Client(CLIENT, { capabilities: {}, jsonSchemaValidator: NOTHING_COMPILED })
  const options = { signal, timeout: deadlineMs + 1_000 }
  const ask: Ask = (method, params, schema) =>
    Promise.race([client.request({ method, params }, schema, options), session.ended])
  try {
    signal.throwIfAborted()
    await Promise.race([client.connect(new ProcessTransport(session), options), session.ended])
    return await work(ask)
  } finally {
    await client.close()
    session.close()
  }
}

async function withRemote<T>(server: RemoteServer, deps: Connecting, work: (ask: Ask) => Promise<T>): Promise<T> {
  const library = await import('./lazy/sdk-client.ts')
  const wire = new Wire(deps.door(server.url), { transport: server.transport, signal: deps.signal })
  const transport = transportTo(server, { library, wire, conversationId: deps.conversationId })
  const client = new library.Client(CLIENT, { capabilities: {}, jsonSchemaValidator: NOTHING_COMPILED })
  transport.onmessage = (message) => wire.received(message)
  client.onerror = (error) => wire.mention(error)
  const options = { signal: deps.signal, timeout: deps.deadlineMs + 1_000 }
  const ask: Ask = (method, params, schema) =>
    wire.question((onresumptiontoken) => client.request({ method, params }, schema, { ...options, onresumptiontoken }))
  try {
    // The declared type of the session's id requires an explicit `undefined`.
    await wire.question(() => client.connect(transport as Parameters<typeof client.connect>[0], options))
    return await work(ask)
  } finally {
    const leaving = leave(client, transport)
    if (!deps.signal.aborted) await leaving
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

/** A server with sessions is told that this one is over; an error in that is ignored. */
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
