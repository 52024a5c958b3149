// A tool that is one call of the HTTP interface. What the interface checks, limits and hides, it checks, limits and hides
// for the tool as well, because it is asked the same question by the same asker.

import { z } from '@hono/zod-openapi'
import type { ServedTool, ToolAnswer } from '../../mcp/serve.ts'

export type RestCall = {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string | number | boolean | null | undefined>
  body?: unknown
}

export type RestTool = ServedTool & {
  callOf(args: Record<string, unknown>): RestCall
  /** The text of a good answer; throws `ToolFailure` where there is nothing to tell. */
  textOf(answer: unknown, args: Record<string, unknown>): string
}

/** What a tool cannot do, in words for the model. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

type Definition<S extends z.ZodObject> = Omit<ServedTool, 'input' | 'readOnly'> & {
  input: S
  call: (args: z.output<S>) => RestCall
  text?: (answer: unknown, args: z.output<S>) => string
}

/** A tool whose definition knows the type of its arguments. The caller has validated them with `input`. */
export function restTool<S extends z.ZodObject>({ call, text, ...told }: Definition<S>, readOnly: boolean): RestTool {
  return {
    ...told,
    readOnly,
    callOf: (args) => call(args as z.output<S>),
    textOf: (answer, args) => text?.(answer, args as z.output<S>) ?? JSON.stringify(answer),
  }
}

export const conversationId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'Not an id of a conversation')
  .describe('The id of the conversation')

/** Any other id. Dots alone would lead to another path. */
export const recordId = z.string().max(200).regex(/[^.]/, 'Not an id')

/** An id as a part of a path. */
export const part = (id: string): string => encodeURIComponent(id)

// From an answer of the HTTP interface to the answer of a tool.

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
