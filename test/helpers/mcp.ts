// The loopback tool servers for tests.

import { inject } from 'vitest'
import type { McpServers } from '../../src/db/settings.ts'
import { toolServerDoor } from '../../src/mcp/remote-server.ts'
import { type McpTool, openMcpServers } from '../../src/mcp/session-tools.ts'
import '../support/mcp-server-types.ts'
import { LOCAL } from './policies.ts'

/** The guarded fetch with the policy of a local service. */
export const loopbackDoor = toolServerDoor(LOCAL)

export const NO_SERVERS: McpServers = { sse: [], shttp: [], stdio: [] }

/** Where the official package's server listens. */
export async function everything(transport: 'http' | 'sse'): Promise<string> {
  const response = await fetch(`${inject('mcpServers')}/everything/${transport}`)
  if (!response.ok) throw new Error(await response.text())
  return response.text()
}

export const strangeUrl = (manner: string, journal = 'none'): string =>
  `${inject('mcpServers')}/strange/${manner}/${journal}`

export const overHttp = (url: string, apiKey: string | null = null): McpServers => ({
  ...NO_SERVERS,
  shttp: [{ url, apiKey }],
})

export const overSse = (url: string): McpServers => ({ ...NO_SERVERS, sse: [{ url, apiKey: null }] })

type Entry = { method: string; headers: Record<string, string> }

/** The requests that the untrusted server received. */
export async function journalOf(journal: string): Promise<Entry[]> {
  return (await fetch(`${inject('mcpServers')}/journal/${journal}`)).json()
}

export const DEPS = { door: loopbackDoor, processes: null, conversationId: 'c1' }

export async function toolsOf(servers: McpServers): Promise<McpTool[]> {
  const { tools, failures } = await openMcpServers(servers, DEPS)
  if (failures.length > 0) throw new Error(JSON.stringify(failures))
  return tools
}
