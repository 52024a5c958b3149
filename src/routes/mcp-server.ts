// The service as a tool server: the Model Context Protocol over streamable HTTP, without sessions.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../config.ts'
import type { AppEnv } from '../http/app-env.ts'
import { noteAskedByModel } from '../http/asked-by-model.ts'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { type Router, router } from '../http/router.ts'
import { REQUEST_TOOLS, type RequestTool } from '../mcp/request-tools.ts'
import { serveMcp, type ToolAnswer } from '../mcp/serve.ts'
import { ANALYSIS_TOOLS } from './mcp/analysis-tools.ts'
import { toolAnswer } from './mcp/answers.ts'
import { CONVERSATION_TOOLS } from './mcp/conversation-tools.ts'
import { openRequest } from './mcp/open-request.ts'
import type { RestCall, RestTool } from './mcp/rest-tool.ts'

/** The whole app, for tools that are calls of its interface. */
export type Dispatch = (request: Request, env: Env, ctx: Context['executionCtx']) => Response | Promise<Response>

const TOOLS: readonly (RequestTool | RestTool)[] = [...REQUEST_TOOLS, ...CONVERSATION_TOOLS, ...ANALYSIS_TOOLS]

const Message = z.looseObject({ jsonrpc: z.literal('2.0') }).openapi('McpMessage')

/** What tells who asks, and from where. */
const CREDENTIALS = ['x-session-api-key', 'authorization', 'cookie', 'origin', 'host', 'cf-connecting-ip']

export function mcpServer(dispatch: Dispatch): Router {
  const app = router(detailEnvelope)
  for (const path of ['/mcp', '/mcp/mcp']) {
    endpoint(
      app,
      {
        method: 'post',
        path,
        tag: 'Tool server',
        summary: 'The Model Context Protocol, streamable HTTP without sessions',
        example: {
          body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          reply: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
        },
        rawBody: { contentType: 'application/json', schema: Message },
        replies: {
          200: { description: 'The answer to a request', schema: Message },
          202: { description: 'A notification was taken' },
          400: { description: 'Not a message of the protocol', schema: Message },
          406: { description: 'The client does not take both JSON and event streams', schema: Message },
          413: { description: 'Too large', schema: Message },
          415: { description: 'Not JSON', schema: Message },
        },
      },
      (c) =>
        serveMcp(c.req.raw, {
          tools: TOOLS,
          maxBodyBytes: config(c.env).maxBodyBytes,
          call: (tool, args) =>
            'provider' in tool ? openRequest(c, tool, args) : callRest(c, { tool, args, dispatch }),
        }),
    )
  }
  return app
}

async function callRest(
  c: Context<AppEnv>,
  { tool, args, dispatch }: { tool: RestTool; args: Record<string, unknown>; dispatch: Dispatch },
): Promise<ToolAnswer> {
  const response = await dispatch(noteAskedByModel(requestOf(c.req.raw, tool.callOf(args))), c.env, c.executionCtx)
  return toolAnswer(tool, args, response)
}

function requestOf(from: Request, { method, path, query = {}, body }: RestCall): Request {
  const url = new URL(path, from.url)
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, String(value))
  }
  const headers = new Headers()
  for (const name of CREDENTIALS) {
    const value = from.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (body === undefined) return new Request(url, { method, headers, signal: from.signal })
  headers.set('content-type', 'application/json')
  return new Request(url, { method, headers, signal: from.signal, body: JSON.stringify(body) })
}
