// One request of an MCP client, answered without a session: it contains everything that is needed, so any isolate can
// answer it.

import { z } from 'zod'
import { NOTHING_COMPILED } from './wire.ts'

export type ServedTool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodObject
  /** Whether the tool only reads. */
  readonly readOnly: boolean
}

export type ToolAnswer = { ok: true; text: string } | { ok: false; message: string }

export type ServeDeps<T extends ServedTool> = {
  readonly tools: readonly T[]
  readonly maxBodyBytes: number
  /** Gets arguments that match the tool's schema. */
  call(tool: T, args: Record<string, unknown>): Promise<ToolAnswer>
}

const SERVER = { name: 'bellwether', title: 'Bellwether', version: '1.0.0' }
const MAX_PROBLEMS = 10

export async function serveMcp<T extends ServedTool>(request: Request, deps: ServeDeps<T>): Promise<Response> {
  const library = await import('./lazy/sdk-server.ts')
  const options = { capabilities: { tools: {} }, jsonSchemaValidator: NOTHING_COMPILED }
  const server = new library.Server(SERVER, options)
  // Other requests are unknown here, and a request that cancels itself would never be answered.
  server.removeNotificationHandler('notifications/cancelled')
  server.setRequestHandler(library.ListToolsRequestSchema, () => ({ tools: deps.tools.map(listed) }))
  server.setRequestHandler(library.CallToolRequestSchema, async ({ params }) => {
    const tool = deps.tools.find(({ name }) => name === params.name)
    if (tool === undefined) throw new library.McpError(library.ErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
    const answer = await answerOf(tool, params.arguments ?? {}, deps)
    const text = answer.ok ? answer.text : answer.message
    return { content: [{ type: 'text' as const, text }], isError: !answer.ok }
  })
  const transport = new library.WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: deps.maxBodyBytes,
  })
  // The declared type of the session's id requires an explicit `undefined`.
  await server.connect(transport as Parameters<typeof server.connect>[0])
  try {
    return await transport.handleRequest(request)
  } finally {
    await server.close()
  }
}

const schemas = new WeakMap<ServedTool, Record<string, unknown>>()

function listed(tool: ServedTool) {
  const { name, title, description, input, readOnly } = tool
  const inputSchema = schemas.get(tool) ?? z.toJSONSchema(input, { io: 'input' })
  schemas.set(tool, inputSchema)
  const annotations = { title, readOnlyHint: readOnly, ...(readOnly ? {} : { destructiveHint: false }) }
  return { name, title, description, inputSchema: { ...inputSchema, type: 'object' as const }, annotations }
}

async function answerOf<T extends ServedTool>(tool: T, args: unknown, deps: ServeDeps<T>): Promise<ToolAnswer> {
  const checked = checkedArguments(tool, args)
  return checked.ok ? deps.call(tool, checked.args) : checked
}

export type CheckedArguments = { ok: true; args: Record<string, unknown> } | { ok: false; message: string }

/** The model can correct invalid arguments, so they get a tool result and not a protocol error. */
export function checkedArguments({ input }: ServedTool, args: unknown): CheckedArguments {
  const { success, data, error } = input.safeParse(args)
  if (success) return { ok: true, args: data }
  const problems = error.issues.slice(0, MAX_PROBLEMS).map(({ path, message }) => {
    const where = path.map(String).join('.')
    return where === '' ? message : `${where}: ${message}`
  })
  return { ok: false, message: `The arguments do not fit. ${problems.join('; ')}` }
}
