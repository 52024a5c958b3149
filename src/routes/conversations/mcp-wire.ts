import type { z } from '@hono/zod-openapi'
import type { McpServers } from '../../db/settings.ts'
import type { MCPConfig } from './schemas.ts'

type Config = z.infer<typeof MCPConfig>

export function toMcpServers(config: Config): McpServers {
  const remote = ({ url, api_key = null }: Config['sse_servers'][number]) => ({ url, apiKey: api_key })
  return {
    sse: config.sse_servers.map(remote),
    shttp: config.shttp_servers.map(remote),
    stdio: config.stdio_servers,
  }
}

export function fromMcpServers({ sse, shttp, stdio }: McpServers): Config {
  const remote = ({ url, apiKey }: McpServers['sse'][number]) => ({ url, api_key: apiKey })
  return { sse_servers: sse.map(remote), stdio_servers: stdio, shttp_servers: shttp.map(remote) }
}
