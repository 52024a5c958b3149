// The service as a tool server: the Model Context Protocol over streamable HTTP, without sessions.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { conversation } from '../bindings.ts'
import { config } from '../config.ts'
import { type AppEnv, noteAskedByModel } from '../http/app-env.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { type Router, router } from '../http/router.ts'
import { CONVERSATION_HEADERS } from '../mcp/remote-server.ts'
import { REQUEST_TOOLS, type RequestTool, requestAnswer } from '../mcp/request-tools.ts'
import { serveMcp, type ToolAnswer } from '../mcp/serve.ts'
import { isUnused } from './conversations/access.ts'
import { CONVERSATION_ID } from './conversations/schemas.ts'
import { askAll, demandAccounts } from './conversations/user-providers.ts'
import { ANALYSIS_TOOLS, CONVERSATION_TOOLS, type RestCall, type RestTool, toolAnswer } from './mcp/tools.ts'

/** The whole app, for tools that call its HTTP interface. */
type Dispatch = (request: Request, env: Env, ctx: Context['executionCtx']) => Response | Promise<Response>

const TOOLS: readonly (RequestTool | RestTool)[] = [...REQUEST_TOOLS, ...CONVERSATION_TOOLS, ...ANALYSIS_TOOLS]

const Message = z.looseObject({ jsonrpc: z.literal('2.0') }).openapi('McpMessage')

/** The headers that identify the caller and the origin of the request. */
const CREDENTIALS = ['x-session-api-key', 'authorization', 'cookie', 'origin', 'host', 'cf-connecting-ip']

export function mcpServer(dispatch: Dispatch): Router {
  const app = router(detailEnvelope)
  for (const path of ['/mcp', '/mcp/mcp']) {
    endpoint(
      app,
      {
        method: 'post',
        path,
        scope: 'conversations',
        limit: 'writes',
        bodyLimit: 'forwarded',
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

// Runs a request tool with the caller's stored token, and stores the request's number in the given conversation.

async function openRequest(c: Context<AppEnv>, tool: RequestTool, args: unknown): Promise<ToolAnswer> {
  const { provider } = tool
  try {
    const accounts = await demandAccounts(c, `No ${provider} token is stored.`, provider)
    const { answers, failures } = await askAll(c, accounts, (asked) => asked.openRequest(tool.newRequest(args)))
    const opened = answers[0]?.value ?? { failure: failures[0]?.sentence ?? 'it did not answer' }
    if ('ok' in opened && opened.ok) await note(c, opened.number)
    return requestAnswer(provider, opened)
  } catch (error) {
    if (error instanceof AppError) return { ok: false, message: error.message }
    throw error
  }
}

/** For a conversation that does not belong to the caller, nothing is stored. */
async function note(c: Context<AppEnv>, number: number): Promise<void> {
  const id = CONVERSATION_HEADERS.map((name) => c.req.header(name)).find(Boolean)
  if (id === undefined || !CONVERSATION_ID.test(id)) return
  const { owner } = c.get('principal')
  if (!(await isUnused(c.env, owner, id))) await conversation(c.env, owner, id).addPullRequest(number)
}
