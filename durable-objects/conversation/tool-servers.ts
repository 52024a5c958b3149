// The tools of remote servers, as they are listed for a conversation, and what its user is told of those that offer none.

import { errorObservation } from '../../src/agent/observations.ts'
import { toolsOf } from '../../src/agent/tools/index.ts'
import { config } from '../../src/config.ts'
import type { McpServers } from '../../src/db/settings.ts'
import { toolServerDoor } from '../../src/mcp/door.ts'
import { REQUEST_TOOLS } from '../../src/mcp/request-tools.ts'
import { type McpTool, openMcpServers } from '../../src/mcp/session-tools.ts'
import { USER_ONLY } from './history.ts'
import type { Announcement } from './socket-protocol.ts'
import type { Desk } from './turn.ts'

type Parts = {
  env: Env
  conversationId: string
  desk: Desk
  announce(frame: Announcement): void
  /** Whether a client is there that hears an announcement. */
  isFollowed(): boolean
}

const LISTING = 'mcp_listing'
/** Of which servers it was said that they do not run. */
const PROCESSES_TOLD = 'mcp_processes_told'
/** `missedAt`: the message before which a server could not be listed; `told`: what was said of it. */
type Listing = { servers: string; tools: McpTool[]; missedAt?: number | null; told?: string[] }

/** A server that was not there may be by the next message, but nobody waits for it a second time. */
const SECOND_LOOK_MS = 5_000

/**
 * Asked for once, again when the servers are others, and with the next message where one was not there. What went wrong
 * is told once too.
 */
export async function listTools(servers: McpServers, signal: AbortSignal, parts: Parts): Promise<readonly McpTool[]> {
  const { desk } = parts
  const asked = await fingerprint(servers)
  tellOfProcesses(servers, asked, parts)
  const known = desk.calls.recall(LISTING) as Listing | null
  const { cursor } = desk.turn.value
  const before = known?.servers === asked ? known : null
  if (before !== null && (before.missedAt ?? cursor) === cursor) return before.tools
  const { env, conversationId } = parts
  const { addressPolicy, shellTimeoutMs } = config(env)
  const browse = { policy: addressPolicy }
  const own = toolsOf('CodeActAgent', { commands: [], shellTimeoutMs, seesImages: false, browse })
  const reserved = [...own, ...REQUEST_TOOLS].map(({ name }) => name)
  const door = toolServerDoor(addressPolicy)
  const patience = before === null ? {} : { deadlineMs: SECOND_LOOK_MS }
  const opened = await openMcpServers(servers, { door, conversationId, signal, reserved, ...patience })
  const told = opened.failures.map(({ server, message }) => `The tool server ${server}: ${message}`)
  if (opened.isIncomplete)
    told.push('Tools of a server that is not there are missing. It is asked again with your next message.')
  const fresh = told.filter((text) => !before?.told?.includes(text))
  if (fresh.length > 0) desk.emit(fresh.map((text) => errorObservation('environment', text, { errorId: USER_ONLY })))
  const tools = [...(before?.tools ?? []).filter(isNotAmong(opened.tools)), ...opened.tools]
  const missedAt = opened.isIncomplete ? cursor : null
  desk.calls.remember(LISTING, { servers: asked, tools, missedAt, told } satisfies Listing)
  return tools
}

/** A status and no error: nothing went wrong. Said once, as soon as somebody is there to hear it. */
function tellOfProcesses({ stdio }: McpServers, asked: string, { desk, announce, isFollowed }: Parts): void {
  if (stdio.length === 0 || desk.calls.recall(PROCESSES_TOLD) === asked || !isFollowed()) return
  desk.calls.remember(PROCESSES_TOLD, asked)
  const names = stdio.map(({ name }) => name).join(', ')
  const message = `These tool servers are programs and need a machine that runs them, which this service does not have, so their tools are missing: ${names}. Run them elsewhere and set their HTTP addresses as shttp_servers.`
  announce({ status_update: true, type: 'info', id: 'STATUS$TOOL_SERVERS_NOT_RUN', message })
}

/** What a server had at the first look it has at the second, even if it is slower this time. */
const isNotAmong = (listed: readonly McpTool[]) => (tool: McpTool) =>
  !listed.some(({ name, serverId }) => name === tool.name || serverId === tool.serverId)

/** Of servers with their keys: what is stored must not tell them. */
async function fingerprint(servers: McpServers): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(servers)))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
