// A tool that is one call of the HTTP interface. What the interface checks, limits and hides, it checks, limits and hides
// for the tool as well, because it is asked the same question by the same asker.

import { z } from '@hono/zod-openapi'
import type { ServedTool } from '../../mcp/serve.ts'

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

/** A tool whose definition knows the type of its arguments. Whoever calls it has met `input`. */
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
