// The official SDK's client against the whole app.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { request } from './app.ts'

export type ToolReply = { text: string; isError: boolean }

export type McpClient = {
  client: Client
  call(name: string, args?: Record<string, unknown>): Promise<ToolReply>
}

/** A connected client with this key; `vars` change variables of the service for its requests. */
export async function mcpClient(
  key: string,
  {
    path = '/mcp',
    headers = {},
    vars = {},
  }: { path?: string; headers?: Record<string, string>; vars?: Record<string, string> } = {},
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`http://bellwether.test${path}`), {
    fetch: (url, init) => request(String(url), init ?? {}, vars),
    requestInit: { headers: { 'x-session-api-key': key, ...headers } },
  })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    client,
    call: async (name, args = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: args })
      const [part] = content as { type: string; text: string }[]
      return { text: part?.text ?? '', isError: isError === true }
    },
  }
}
