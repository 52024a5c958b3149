// The tools of a conversation's tool servers, as they were listed, and notices to its user about servers without tools.

import { errorObservation, USER_ONLY } from '../../../src/agent/observations.ts'
import { toolNamesOf } from '../../../src/agent/tools/index.ts'
import { config } from '../../../src/config.ts'
import type { McpServers } from '../../../src/db/settings.ts'
import { sha256Hex } from '../../../src/lib/crypto.ts'
import type { ToolProcesses } from '../../../src/mcp/process-session.ts'
import { toolServerDoor, toolServers } from '../../../src/mcp/remote-server.ts'
import { REQUEST_TOOLS } from '../../../src/mcp/request-tools.ts'
import { type McpTool, openMcpServers } from '../../../src/mcp/session-tools.ts'
import type { TurnHost } from './turn-host.ts'

type ListingHost = Pick<TurnHost, 'env' | 'record' | 'turn' | 'calls' | 'emit' | 'sessions' | 'runner'>

const LISTING = 'mcp_listing'
/** The servers about which the user was told that they need a runner. */
const PROCESSES_TOLD = 'mcp_processes_told'
/**
 * `missedAt`: the position of the message before which a server could not be listed; `told`: the notices about it;
 * `ran`: whether servers that are programs were listed.
 */
type Listing = { servers: string; tools: McpTool[]; missedAt?: number | null; told?: string[]; ran?: boolean }

/** A server that failed is listed again with the next message, with a shorter timeout. */
const SECOND_LOOK_MS = 5_000

/**
 * Lists the tools once; again when the servers change, when a runner connects that can run servers that are programs,
 * and with the next message after a server failed. Each failure is reported once.
 */
export async function listTools(
  host: ListingHost,
  { servers, hasRunner, signal }: { servers: McpServers; hasRunner: boolean; signal: AbortSignal },
): Promise<readonly McpTool[]> {
  const { turn, calls, emit } = host
  const asked = await fingerprint(servers)
  if (!hasRunner) tellOfProcesses(host, servers, asked)
  const ran = hasRunner && servers.stdio.length > 0
  const known = calls.recall(LISTING) as Listing | null
  const { cursor } = turn.value
  const before = known?.servers === asked ? known : null
  const isNewlyRunnable = ran && before?.ran !== true
  if (before !== null && !isNewlyRunnable && (before.missedAt ?? cursor) === cursor) return before.tools
  if (hasRunner) await keepOnly(host, servers)
  const { addressPolicy } = config(host.env)
  const conversationId = host.record.value.id
  const reserved = [...toolNamesOf('CodeActAgent'), ...REQUEST_TOOLS.map(({ name }) => name)]
  const door = toolServerDoor(addressPolicy)
  const patience = before === null || isNewlyRunnable ? {} : { deadlineMs: SECOND_LOOK_MS }
  const processes: ToolProcesses | null = hasRunner ? host.runner.processes : null
  const opened = await openMcpServers(servers, { door, processes, conversationId, signal, reserved, ...patience })
  const told = opened.failures.map(({ server, message }) => `The tool server ${server}: ${message}`)
  if (opened.isIncomplete)
    told.push('Tools of a server that is not there are missing. It is asked again with your next message.')
  const fresh = told.filter((text) => !before?.told?.includes(text))
  if (fresh.length > 0) emit(fresh.map((text) => errorObservation('environment', text, { errorId: USER_ONLY })))
  const tools = [...(before?.tools ?? []).filter(isNotAmong(opened.tools)), ...opened.tools]
  const missedAt = opened.isIncomplete ? cursor : null
  calls.remember(LISTING, { servers: asked, tools, missedAt, told, ran } satisfies Listing)
  return tools
}

/** Stops programs that are no longer configured. */
async function keepOnly({ runner }: ListingHost, servers: McpServers): Promise<void> {
  const all = await toolServers(servers)
  runner.processes.programs.only(all.filter((server) => server.transport === 'stdio'))
}

/** A status and not an error, because nothing failed. Sent once, as soon as a client is connected. */
function tellOfProcesses({ calls, sessions }: ListingHost, { stdio }: McpServers, asked: string): void {
  if (stdio.length === 0 || calls.recall(PROCESSES_TOLD) === asked || !sessions.hasListener) return
  calls.remember(PROCESSES_TOLD, asked)
  const names = stdio.map(({ name }) => name).join(', ')
  const message = `These tool servers are programs and need a machine that runs them, so their tools are missing: ${names}. Start a runner with "npm run runner" (docs/runners.md), or run them elsewhere and set their HTTP addresses as shttp_servers.`
  sessions.announce({ status_update: true, type: 'info', id: 'STATUS$TOOL_SERVERS_NOT_RUN', message })
}

/** Tools of the first listing are kept if the server is too slow in the second one. */
const isNotAmong = (listed: readonly McpTool[]) => (tool: McpTool) =>
  !listed.some(({ name, serverId }) => name === tool.name || serverId === tool.serverId)

/** A hash, because servers contain keys, which the stored value must not contain. */
const fingerprint = (servers: McpServers): Promise<string> => sha256Hex(JSON.stringify(servers))
