// The program that the conformance suite runs as the client under test: our client, as an agent's session uses it. The
// scenario's name is in the environment, the server's address is the last argument.

import { toolServerDoor } from '../../src/mcp/remote-server.ts'
import { callMcpTool, openMcpServers } from '../../src/mcp/session-tools.ts'
import { LOCAL } from '../helpers/policies.ts'

/** What a session would call in a scenario that has a tool to call. */
const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = { add_numbers: { a: 5, b: 3 } }

const servers = { sse: [], shttp: [{ url: process.argv.at(-1) ?? '', apiKey: null }], stdio: [] }
const parts = {
  door: toolServerDoor(LOCAL),
  processes: null,
  conversationId: 'conformance',
}

const { tools, failures } = await openMcpServers(servers, parts)
for (const tool of tools) {
  const { isError, content } = await callMcpTool(tool, ARGUMENTS[tool.name] ?? {}, { servers, ...parts })
  if (isError) failures.push({ server: tool.name, message: JSON.stringify(content) })
}
process.stdout.write(`${JSON.stringify({ tools: tools.map(({ name }) => name), failures })}\n`)
process.exitCode = failures.length === 0 ? 0 : 1
