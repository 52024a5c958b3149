// Our tool server, with the tools that the conformance suite calls.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { type ServedTool, serveMcp, type ToolAnswer } from '../../src/mcp/serve.ts'

const ANSWERS: Readonly<Record<string, ToolAnswer>> = {
  test_simple_text: { ok: true, text: 'This is a simple text response for testing.' },
  test_error_handling: { ok: false, message: 'This tool intentionally returns an error for testing' },
}

const TOOLS = Object.keys(ANSWERS).map(
  (name): ServedTool => ({
    name,
    title: name,
    description: `What the suite wants of ${name}`,
    input: z.object({}),
    readOnly: true,
  }),
)

/** Listens on loopback. */
export async function startConformanceServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    const call = async ({ name }: ServedTool) => ANSWERS[name] ?? { ok: false as const, message: 'no such tool' }
    const reply = await serveMcp(await requestOf(incoming), { tools: TOOLS, maxBodyBytes: 1_000_000, call })
    outgoing.writeHead(reply.status, Object.fromEntries(reply.headers))
    outgoing.end(await reply.text())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const body = (await incoming.toArray()).join('')
  const headers = new Headers(incoming.headers as Record<string, string>)
  const method = incoming.method ?? 'GET'
  return new Request(`http://127.0.0.1${incoming.url}`, { method, headers, ...(body === '' ? {} : { body }) })
}
