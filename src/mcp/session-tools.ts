// The tools of a session: those of all its servers, under unique names that model vendors accept.

import { z } from 'zod'
import { type Ask, withServer } from './connection.ts'
import type { ToolProcesses } from './process-session.ts'
import { type McpServers, type ServerAccess, type ToolServer, toolServers } from './remote-server.ts'
import { CallResult, errorResult, resultOf, type ToolResult } from './tool-result.ts'
import { CALL_DEADLINE_MS, explainFailure, NotAsked } from './wire.ts'

/** Plain JSON without secrets: it is stored with the conversation, and a call uses it to find its server. */
export type McpTool = ListedTool & {
  /** The name that the model uses. */
  readonly name: string
  readonly serverId: string
  readonly serverLabel: string
}

type OpenedServers = {
  tools: McpTool[]
  /** The error, as a sentence for the user. The server's other tools may still be usable. */
  failures: { server: string; message: string }[]
  /** A server could not be listed at all; it may be available later. */
  isIncomplete: boolean
}

type OpenDeps = {
  readonly door: ServerAccess
  /** Where servers that are programs run; null when that is not possible: they are left out. */
  readonly processes: ToolProcesses | null
  readonly conversationId: string
  readonly signal?: AbortSignal
  /** Limits for each server. */
  readonly deadlineMs?: number
  /** Names that are taken: those of the agent's own tools. */
  readonly reserved?: readonly string[]
  /** Limits for all servers together. */
  readonly maxTools?: number
}

const LISTING_DEADLINE_MS = 30_000
/** A program may have to be installed before its first message. */
const PROCESS_DEADLINE_MS = 90_000
// Vendors accept 128 functions at most; some of them are the agent's own.
const MAX_OFFERED_TOOLS = 100
const MAX_OFFERED_CHARS = 200_000
// An object has six connections at a time, and other code may use some.
const AT_A_TIME = 4
const MAX_NAME_CHARS = 64
const MOST_TRIES = 4

/** Lists the tools of all servers. The failure of one is reported, and the others are used; throws only the signal's reason. */
export async function openMcpServers(servers: McpServers, deps: OpenDeps): Promise<OpenedServers> {
  const reachable = (await toolServers(servers)).filter(({ transport }) => transport !== 'stdio' || deps.processes)
  const listings = await inTurns(reachable, (server) => listingOf(server, deps))
  deps.signal?.throwIfAborted()
  const offer = new Offer(deps)
  for (const [at, server] of reachable.entries()) offer.add(server, listings[at] ?? { tools: [], complaints: [] })
  const isIncomplete = listings.some(({ tools, complaints }) => tools.length === 0 && complaints.length > 0)
  return { tools: offer.tools, failures: offer.failures, isIncomplete }
}

async function listingOf(server: ToolServer, deps: OpenDeps): Promise<Listing> {
  const { door, processes, conversationId, signal } = deps
  const deadlineMs = deps.deadlineMs ?? (server.transport === 'stdio' ? PROCESS_DEADLINE_MS : LISTING_DEADLINE_MS)
  try {
    return await untilAsked(() =>
      withServer(server, { door, processes, conversationId, signal, deadlineMs }, listTools),
    )
  } catch (error) {
    return { tools: [], complaints: [explainFailure(error)] }
  }
}

/** A connection that is lost before the program got a call, or during a request without effects, can be repeated safely. */
async function untilAsked<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof NotAsked) || tries >= MOST_TRIES) throw error
    }
  }
}

/** The results in the order of the items; only a few items are processed at a time. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [at, item] of waiting) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, items.length) }, worker))
  return results
}

class Offer {
  readonly tools: McpTool[] = []
  readonly failures: OpenedServers['failures'] = []
  readonly #reserved: ReadonlySet<string>
  readonly #taken = new Set<string>()
  readonly #remoteNames = new Set<string>()
  readonly #maxTools: number
  #chars = 0

  constructor({ reserved = [], maxTools = MAX_OFFERED_TOOLS }: OpenDeps) {
    this.#reserved = new Set(reserved)
    this.#maxTools = maxTools
  }

  add(server: ToolServer, { tools, complaints }: Listing): void {
    for (const message of complaints) this.failures.push({ server: server.label, message })
    const taken: string[] = []
    let left = 0
    for (const tool of tools) {
      const outcome = this.#take(server, tool)
      if (outcome === 'taken') taken.push(tool.remoteName)
      if (outcome === 'full') left += 1
    }
    const tell = (message: string) => this.failures.push({ server: server.label, message })
    if (taken.length > 0) tell(`Left out, because the name is taken: ${listed(taken)}`)
    if (left > 0) tell(`Left out, because there are too many tools: ${left} of its ${tools.length}`)
  }

  #take(server: ToolServer, tool: ListedTool): 'taken' | 'full' | 'offered' {
    const plain = safeName(tool.remoteName)
    if (this.#remoteNames.has(tool.remoteName) || this.#reserved.has(plain)) return 'taken'
    const chars = tool.description.length + JSON.stringify(tool.parameters).length
    if (this.tools.length >= this.#maxTools || this.#chars + chars > MAX_OFFERED_CHARS) return 'full'
    const name = this.#freeName(plain)
    this.#remoteNames.add(tool.remoteName)
    this.#taken.add(name)
    this.#chars += chars
    this.tools.push({ ...tool, name, serverId: server.id, serverLabel: server.label })
    return 'offered'
  }

  /** Different names may become equal when special characters are replaced. */
  #freeName(plain: string): string {
    for (let count = 1; ; count++) {
      const suffix = count === 1 ? '' : `_${count}`
      const name = plain.slice(0, MAX_NAME_CHARS - suffix.length) + suffix
      if (!this.#taken.has(name) && !this.#reserved.has(name)) return name
    }
  }
}

/** Vendors accept letters, digits, `_` and `-`, beginning with a letter or `_`. */
function safeName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .slice(0, MAX_NAME_CHARS)
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`.slice(0, MAX_NAME_CHARS)
}

const MAX_NAMED = 10

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).join(', ')
  return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown
}

// The tools of one server, as far as they can be offered to a model: a listing is untrusted input.

/** A tool as its server lists it, within limits. */
type ListedTool = {
  /** The server's own name for it. */
  readonly remoteName: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** The server says that repeated calls have no further effect. */
  readonly repeatable: boolean
  /** The server says that the tool is destructive. Absent otherwise, and in listings that were stored without it. */
  readonly isDestructive?: true
}

type Listing = { readonly tools: readonly ListedTool[]; readonly complaints: readonly string[] }

/** The most that are read of one server; fewer may be offered. */
const MAX_LISTED_TOOLS = 2_000
const MAX_PAGES = 200
const MAX_DESCRIPTION_CHARS = 4_000
const MAX_SERVED_NAME_CHARS = 200
const MAX_SCHEMA_CHARS = 20_000
const MAX_SCHEMA_DEPTH = 32

// An invalid tool must not invalidate the listing, so the page is parsed without its tools.
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() })

const Tool = z.looseObject({
  name: z.string().min(1).max(MAX_SERVED_NAME_CHARS),
  description: z.string().nullish(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z
    .looseObject({ readOnlyHint: z.unknown(), idempotentHint: z.unknown(), destructiveHint: z.unknown() })
    .partial()
    .nullish()
    .catch(null),
})

export async function listTools(ask: Ask): Promise<Listing> {
  const listed: unknown[] = []
  const complaints: string[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined, pages = 1; ; pages++) {
    const { tools, nextCursor } = await ask('tools/list', cursor === undefined ? {} : { cursor }, Page)
    listed.push(...tools.slice(0, MAX_LISTED_TOOLS + 1 - listed.length))
    if (nextCursor === null || nextCursor === undefined) break
    // A repeated cursor would loop for ever.
    if (listed.length > MAX_LISTED_TOOLS || pages === MAX_PAGES || cursors.has(nextCursor)) {
      complaints.push('Its listing does not end; what came until then is used')
      break
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
  const kept = listed.slice(0, MAX_LISTED_TOOLS).map(readTool)
  const tools = kept.filter((tool) => tool !== null)
  if (listed.length > MAX_LISTED_TOOLS) complaints.push(`It lists more than ${MAX_LISTED_TOOLS} tools`)
  if (tools.length < kept.length) complaints.push(`${kept.length - tools.length} of its tools are not well described`)
  return { tools, complaints }
}

function readTool(raw: unknown): ListedTool | null {
  if (isDeeperThan(raw, MAX_SCHEMA_DEPTH)) return null
  const { success, data } = Tool.safeParse(raw)
  if (!success || JSON.stringify(data.inputSchema).length > MAX_SCHEMA_CHARS) return null
  return {
    remoteName: data.name,
    description: shortened(data.description ?? ''),
    // Some vendors refuse an object schema without properties.
    parameters: { properties: {}, ...data.inputSchema },
    repeatable: data.annotations?.readOnlyHint === true || data.annotations?.idempotentHint === true,
    ...(data.annotations?.destructiveHint === true ? { isDestructive: true as const } : {}),
  }
}

function shortened(text: string): string {
  return text.length > MAX_DESCRIPTION_CHARS ? `${text.slice(0, MAX_DESCRIPTION_CHARS)} …` : text
}

/** Level by level, so that no depth overflows the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

// One call of a session's tool. It opens a new connection, because the object may have been evicted since the last
// call.

export type CallDeps = {
  /** The servers as they are configured now; the key of the tool's server is taken from here. */
  readonly servers: McpServers
  readonly door: ServerAccess
  readonly processes: ToolProcesses | null
  readonly conversationId: string
  /** The key of the call's effect: a call that was already sent to a program is followed, and not repeated. */
  readonly effect?: string
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
}

/** Whether a program of the conversation provides the tool. */
export const isOfProcess = ({ serverId }: McpTool): boolean => serverId.startsWith('stdio-')

/** Throws only the signal's reason: any other error becomes a result that describes it. */
export async function callMcpTool(
  tool: McpTool,
  args: Readonly<Record<string, unknown>>,
  { servers, signal, deadlineMs = CALL_DEADLINE_MS, ...deps }: CallDeps,
): Promise<ToolResult> {
  const server = (await toolServers(servers)).find(({ id }) => id === tool.serverId)
  if (server === undefined) return errorResult(`The tool server ${tool.serverLabel} is not configured any more`)
  try {
    const params = { name: tool.remoteName, arguments: args }
    const call = () =>
      withServer(server, { ...deps, signal, deadlineMs }, (ask) => ask('tools/call', params, CallResult))
    return resultOf(await untilAsked(call))
  } catch (error) {
    signal?.throwIfAborted()
    return errorResult(explainFailure(error))
  }
}
