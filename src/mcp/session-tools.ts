// The tools of a session: those of all its servers under names that a model's vendor takes, each name once.

import { withServer } from './connection.ts'
import type { ServerDoor } from './door.ts'
import { explainFailure } from './failure.ts'
import { type McpServers, type RemoteServer, remoteServers } from './remote-server.ts'
import { type ListedTool, type Listing, listTools } from './tool-listing.ts'

/** Plain JSON without secrets: it is stored with the conversation, and a call finds its server by it. */
export type McpTool = ListedTool & {
  /** What the model calls it. */
  readonly name: string
  readonly serverId: string
  readonly serverLabel: string
}

export type OpenedServers = {
  tools: McpTool[]
  /** What went wrong, in words for the user. Some of it leaves the other tools of the server usable. */
  failures: { server: string; message: string }[]
  /** A server could not be listed at all; it may be there later. */
  isIncomplete: boolean
  /** Names of servers that would have to run as processes. */
  notRunnable: string[]
}

export type OpenParts = {
  readonly door: ServerDoor
  readonly conversationId: string
  readonly signal?: AbortSignal
  /** For each server by itself. */
  readonly deadlineMs?: number
  /** Names that are taken: the agent's own tools. */
  readonly reserved?: readonly string[]
  /** Of all servers together. */
  readonly maxTools?: number
}

export const LISTING_DEADLINE_MS = 30_000
// Vendors take 128 functions at most; some are the agent's own.
export const MAX_OFFERED_TOOLS = 100
const MAX_OFFERED_CHARS = 200_000
// An object has six connections at a time, and others than these may be open.
const AT_A_TIME = 4
const MAX_NAME_CHARS = 64

/** Lists the tools of all servers. One that fails is told of, and the others are used; throws the signal's reason only. */
export async function openMcpServers(servers: McpServers, parts: OpenParts): Promise<OpenedServers> {
  const remote = await remoteServers(servers)
  const listings = await inTurns(remote, (server) => listingOf(server, parts))
  parts.signal?.throwIfAborted()
  const offer = new Offer(parts)
  for (const [at, server] of remote.entries()) offer.add(server, listings[at] ?? { tools: [], complaints: [] })
  const isIncomplete = listings.some(({ tools, complaints }) => tools.length === 0 && complaints.length > 0)
  const notRunnable = servers.stdio.map(({ name }) => name)
  return { tools: offer.tools, failures: offer.failures, isIncomplete, notRunnable }
}

async function listingOf(server: RemoteServer, parts: OpenParts): Promise<Listing> {
  const { door, conversationId, signal, deadlineMs = LISTING_DEADLINE_MS } = parts
  try {
    return await withServer(server, { door, conversationId, signal, deadlineMs }, listTools)
  } catch (error) {
    return { tools: [], complaints: [explainFailure(error)] }
  }
}

/** The results in the order of the items, of which only a few are worked on at a time. */
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

  constructor({ reserved = [], maxTools = MAX_OFFERED_TOOLS }: OpenParts) {
    this.#reserved = new Set(reserved)
    this.#maxTools = maxTools
  }

  add(server: RemoteServer, { tools, complaints }: Listing): void {
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

  #take(server: RemoteServer, tool: ListedTool): 'taken' | 'full' | 'offered' {
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

  /** Different names may become the same one when odd characters go. */
  #freeName(plain: string): string {
    for (let count = 1; ; count++) {
      const suffix = count === 1 ? '' : `_${count}`
      const name = plain.slice(0, MAX_NAME_CHARS - suffix.length) + suffix
      if (!this.#taken.has(name) && !this.#reserved.has(name)) return name
    }
  }
}

/** Vendors take letters, digits, `_` and `-`; the first a letter or `_`. */
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
