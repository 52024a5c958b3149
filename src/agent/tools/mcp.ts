// Tools of remote servers as tools of the agent. `call` runs a call: on a remote server, or in this service itself.

import type { PromptPart } from '../../llm/model.ts'
import { REQUEST_TOOLS } from '../../mcp/request-tools.ts'
import type { McpTool } from '../../mcp/session-tools.ts'
import { type ContentPart, readResult, type ToolResult } from '../../mcp/tool-result.ts'
import { type ActionKind, always, contentOf, textPart, withoutRemarks } from './action-kind.ts'
import { BadCall, type PreparedCall, type Tool, type ToolContext } from './tool.ts'

export type Args = Readonly<Record<string, unknown>>

/** Throws when the signal fired; all other errors are in the result. */
export type CallRemote = (tool: McpTool, args: Args, around: Pick<ToolContext, 'key' | 'signal'>) => Promise<ToolResult>

const SERVERS = 'remote tools'

export const REMOTE_CALL: ActionKind = {
  action: 'call_tool_mcp',
  observation: 'mcp',
  risk: {
    by: 'rules',
    rules: [
      {
        risk: 'high',
        about: SERVERS,
        says: 'calls a tool of which its server says that it destroys something',
        given: ({ hints }) => hints?.isDestructive === true,
      },
      {
        risk: 'medium',
        about: 'requests',
        says: 'opens a pull or merge request with the stored token',
        // No remote tool can have these names.
        given: ({ args }) => REQUEST_TOOLS.some(({ name }) => name === args.name),
      },
      {
        risk: 'medium',
        about: SERVERS,
        says: 'calls a tool of a remote server, also one of which it says that it only reads',
        given: always,
      },
    ],
  },
  asks: () => 'by-risk',
  view: ({ name }) => `Calling tool: ${String(name)}`,
  ends: null,
  modelText: ({ content }) => bounded(mcpResultParts(content)),
  replay: (args) => ({ name: String(args.name), arguments: (args.arguments ?? {}) as Args }),
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

/** Uses the stored listing, so no request is needed before a call. */
export function mcpTools(listed: readonly McpTool[], call: CallRemote): Tool[] {
  return listed.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    repeatable: tool.repeatable,
    hints: { isDestructive: tool.isDestructive === true },
    prepare: (args) => prepared(tool, checkedArguments(tool, args), call),
  }))
}

function prepared(tool: McpTool, args: Args, call: CallRemote): PreparedCall {
  const { name } = tool
  return {
    action: {
      source: 'agent',
      message: `Calling tool: ${name} of the server ${tool.serverLabel}`,
      action: REMOTE_CALL.action,
      args: { name, arguments: args, thought: '' },
    },
    run: async ({ key, signal }: ToolContext) => ({
      source: 'agent',
      message: `Tool answered: ${name}`,
      observation: REMOTE_CALL.observation,
      content: JSON.stringify(await call(tool, args, { key, signal })),
      extras: { name, arguments: args },
    }),
  }
}

/** The server validates the values; only arguments that could not be sent are refused here. */
function checkedArguments({ name, parameters }: McpTool, args: unknown): Args {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new BadCall(`The arguments of ${name} have to be a JSON object`)
  }
  const required = Array.isArray(parameters.required) ? parameters.required : []
  const missing = required.filter((key) => typeof key === 'string' && !Object.hasOwn(args, key))
  if (missing.length > 0) throw new BadCall(`The arguments of ${name} lack: ${missing.join(', ')}`)
  return args as Args
}

/** The text of an `mcp` observation for a model. */
export function mcpResultParts(content: string): PromptPart[] {
  const result = readResult(content)
  if (result === null) return [{ type: 'text', text: content }]
  const parts = result.content.map(promptPart)
  if (parts.length === 0) parts.push({ type: 'text', text: '[no output]' })
  return result.isError ? [{ type: 'text', text: 'The tool failed.' }, ...parts] : parts
}

const MAX_IMAGES = 8

/** The limit applies to all texts together; pictures come after them. */
function bounded(parts: readonly PromptPart[]): PromptPart[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const images = parts.filter(({ type }) => type === 'image').slice(0, MAX_IMAGES)
  return [textPart(texts.join('\n') || '[no text]'), ...images]
}

function promptPart(part: ContentPart): PromptPart {
  switch (part.type) {
    case 'text':
      return part
    case 'image':
      return { type: 'image', url: `data:${part.mimeType};base64,${part.data}` }
    case 'audio':
      return { type: 'text', text: `[sound: ${part.mimeType}]` }
    case 'resource':
      return { type: 'text', text: 'text' in part.resource ? part.resource.text : `[file: ${part.resource.uri}]` }
    case 'resource_link':
      return { type: 'text', text: `[${part.name}: ${part.uri}]` }
  }
}
