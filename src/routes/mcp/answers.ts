// From an answer of the HTTP interface to the answer of a tool.

import { z } from '@hono/zod-openapi'
import type { ToolAnswer } from '../../mcp/serve.ts'
import { type RestTool, ToolFailure } from './rest-tool.ts'

/** More than a model can read at once; the tools that may reach it take bounds. */
const MAX_TEXT_CHARS = 400_000
const MAX_MESSAGE_CHARS = 2_000

const Item = z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })
const ErrorBody = z.union([
  z.string(),
  z
    .object({
      detail: z.union([z.string(), z.array(Item).transform((items) => items.map(wordsOf).join('; '))]).catch(''),
      message: z.string(),
      error: z.string(),
    })
    .partial()
    .transform(({ detail, message, error }) => [message ?? error, detail].filter(Boolean).join('. ')),
])

function wordsOf({ loc, msg }: z.infer<typeof Item>): string {
  return `${loc.slice(1).join('.')}: ${msg}`
}

export async function toolAnswer(
  tool: RestTool,
  args: Record<string, unknown>,
  response: Response,
): Promise<ToolAnswer> {
  const body: unknown = JSON.parse(await response.text())
  if (!response.ok) return { ok: false, message: messageOf(body, response.status) }
  try {
    const text = tool.textOf(body, args)
    if (text.length <= MAX_TEXT_CHARS) return { ok: true, text }
    return { ok: false, message: `The answer has ${text.length} characters, which is too much. Ask for a part of it` }
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    return { ok: false, message: error.message }
  }
}

function messageOf(body: unknown, status: number): string {
  const { data = '' } = ErrorBody.safeParse(body)
  return (data || `The request failed with status ${status}`).slice(0, MAX_MESSAGE_CHARS)
}
