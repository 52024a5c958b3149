// One call of a tool of a session. It connects anew: between two calls the object may have been evicted.

import { withServer } from './connection.ts'
import { explainFailure } from './failure.ts'
import { type McpServers, remoteServers, type ServerDoor } from './remote-server.ts'
import type { McpTool } from './session-tools.ts'
import { CallResult, errorResult, resultOf, type ToolResult } from './tool-result.ts'
import { CALL_DEADLINE_MS } from './wire.ts'

export type CallDeps = {
  /** The servers as they are configured now; the key of the tool's server is taken from here. */
  readonly servers: McpServers
  readonly door: ServerDoor
  readonly conversationId: string
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
}

/** Throws the signal's reason only: whatever else goes wrong is a result that says so. */
export async function callMcpTool(
  tool: McpTool,
  args: Readonly<Record<string, unknown>>,
  { servers, door, conversationId, signal, deadlineMs = CALL_DEADLINE_MS }: CallDeps,
): Promise<ToolResult> {
  const server = (await remoteServers(servers)).find(({ id }) => id === tool.serverId)
  if (server === undefined) return errorResult(`The tool server ${tool.serverLabel} is not configured any more`)
  try {
    const params = { name: tool.remoteName, arguments: args }
    const answer = await withServer(server, { door, conversationId, signal, deadlineMs }, (ask) =>
      ask('tools/call', params, CallResult),
    )
    return resultOf(answer)
  } catch (error) {
    signal?.throwIfAborted()
    return errorResult(explainFailure(error))
  }
}
