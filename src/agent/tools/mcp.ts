// Tools of remote servers as tools of the agent. What runs a call is given: a remote server, or this service itself.

import type { PromptPart } from '../../llm/model.ts'
import type { McpTool } from '../../mcp/session-tools.ts'
import { type ContentPart, readResult, type ToolResult } from '../../mcp/tool-result.ts'
import { BadCall, type PreparedCall, type Tool, type ToolContext } from './tool.ts'

export type Args = Readonly<Record<string, unknown>>

/** Throws when the signal fired; everything else that goes wrong is in the result. */
export type CallRemote = (tool: McpTool, args: Args, signal: AbortSignal) => Promise<ToolResult>

/** Works with a listing that was stored: nothing is asked before a call. */
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
      action: 'call_tool_mcp',
      args: { name, arguments: args, thought: '' },
    },
    run: async ({ signal }: ToolContext) => ({
      source: 'agent',
      message: `Tool answered: ${name}`,
      observation: 'mcp',
      content: JSON.stringify(await call(tool, args, signal)),
      extras: { name, arguments: args },
    }),
  }
}

/** The server judges the values; what is refused here is what it could not even be asked. */
function checkedArguments({ name, parameters }: McpTool, args: unknown): Args {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new BadCall(`The arguments of ${name} have to be a JSON object`)
  }
  const required = Array.isArray(parameters.required) ? parameters.required : []
  const missing = required.filter((key) => typeof key === 'string' && !Object.hasOwn(args, key))
  if (missing.length > 0) throw new BadCall(`The arguments of ${name} lack: ${missing.join(', ')}`)
  return args as Args
}

/** What a model gets to see of the content of an `mcp` observation. */
export function mcpResultParts(content: string): PromptPart[] {
  const result = readResult(content)
  if (result === null) return [{ type: 'text', text: content }]
  const parts = result.content.map(promptPart)
  if (parts.length === 0) parts.push({ type: 'text', text: '[no output]' })
  return result.isError ? [{ type: 'text', text: 'The tool failed.' }, ...parts] : parts
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
