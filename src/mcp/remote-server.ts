// The tool servers of a session: those with an HTTP address, and those that are programs and run on a runner.

import { type AddressPolicy, typedByPerson } from '../lib/address-policy.ts'
import { sha256Hex } from '../lib/crypto.ts'
import { fetchThrough } from '../lib/guarded-fetch.ts'
import { CALL_DEADLINE_MS, MAX_ANSWER_BYTES } from './wire.ts'

type Configured = { readonly url: string; readonly apiKey: string | null }

/** In the form in which an owner configures them. */
export type McpServers = {
  readonly sse: readonly Configured[]
  readonly shttp: readonly Configured[]
  /** Servers that need a process. */
  readonly stdio: readonly Program[]
}

export type Program = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type RemoteServer = {
  /** The same for the same address in every session. Addresses may contain keys; this id does not, so it may be stored. */
  readonly id: string
  /** The name in messages: the host, never the whole address. */
  readonly label: string
  readonly transport: 'sse' | 'http'
  readonly url: string
  readonly apiKey: string | null
}

export type ProcessServer = {
  /** The same for the same name in every session; the runner uses this id, too. */
  readonly id: string
  readonly label: string
  readonly transport: 'stdio'
  readonly program: Program
}
export type ToolServer = RemoteServer | ProcessServer

/** In the order that decides between equal tool names. A server that is listed twice is returned once. */
export async function toolServers({ sse, shttp, stdio }: McpServers): Promise<ToolServer[]> {
  const configured = [
    ...sse.map((server) => ({ ...server, transport: 'sse' as const })),
    ...shttp.map((server) => ({ ...server, transport: 'http' as const })),
  ]
  const servers = new Map<string, ToolServer>()
  for (const { url, apiKey, transport } of configured) {
    const id = `${transport}-${(await sha256Hex(url)).slice(0, 16)}`
    if (!servers.has(id)) servers.set(id, { id, label: labelOf(url), transport, url, apiKey: apiKey || null })
  }
  for (const program of stdio) {
    const id = `stdio-${(await sha256Hex(program.name)).slice(0, 16)}`
    if (!servers.has(id)) servers.set(id, { id, label: program.name, transport: 'stdio', program })
  }
  return [...servers.values()]
}

function labelOf(url: string): string {
  return (URL.canParse(url) && new URL(url).host) || 'a server without a host'
}

/** The header with the conversation's id, under the reference's name and under our own. */
export const CONVERSATION_HEADERS = ['X-OpenHands-ServerConversation-ID', 'X-Bellwether-ServerConversation-ID'] as const

export function headersFor({ apiKey }: RemoteServer, conversationId: string): Record<string, string> {
  return {
    ...Object.fromEntries(CONVERSATION_HEADERS.map((name) => [name, conversationId])),
    ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}`, 'X-Session-API-Key': apiKey }),
  }
}

// The guarded fetch for tool servers.

/**
 * The guarded fetch for one server whose address a user configured. Another address that the server names counts as
 * chosen by a stranger.
 */
export type ServerAccess = (address: string) => typeof fetch

/** A server may take as long as a call may take before it sends its first header; the callers set the deadlines. */
export function toolServerDoor(policy: AddressPolicy): ServerAccess {
  const patienceMs = CALL_DEADLINE_MS + 10_000
  const limits = { headersTimeoutMs: patienceMs, totalTimeoutMs: patienceMs, maxBytes: 2 * MAX_ANSWER_BYTES }
  return (address) => fetchThrough({ policy, limits, chosenBy: typedByPerson(address) })
}
