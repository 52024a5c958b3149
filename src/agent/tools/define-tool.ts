// A tool's parameters are written once, as a zod schema: it checks what the model sent, and the JSON schema that the model
// is shown is made from it.

import { z } from 'zod'
import type { JsonSchema } from '../../llm/model.ts'
import { BadCall, type PreparedCall, type Tool } from './tool.ts'

export type ToolDefinition<Args> = {
  readonly name: string
  readonly description: string
  /** Of an object; optional members are those that may be left out, defaults stand in `prepare`. */
  readonly schema: z.ZodType<Args>
  readonly repeatable: boolean
  prepare(args: Args): PreparedCall
}

/** A model that writes more than this in one call is told to write less. */
const MAX_ARGUMENT_CHARS = 1_000_000
const MAX_ISSUES = 5
const MAX_ISSUE_CHARS = 300

export function defineTool<Args>({ schema, prepare, ...told }: ToolDefinition<Args>): Tool {
  return {
    ...told,
    parameters: parametersOf(schema),
    prepare: (args) => {
      const checked = schema.safeParse(args)
      if (checked.success) return prepare(checked.data)
      throw new BadCall(`The arguments of ${told.name} do not fit. ${explained(checked.error)} Nothing was run.`)
    },
  }
}

/** The arguments that a model wrote. Throws `BadCall` for a text that is no JSON object. */
export function parseArguments(text: string): unknown {
  if (text.length > MAX_ARGUMENT_CHARS) {
    throw new BadCall(
      `The arguments are ${text.length} characters long; at most ${MAX_ARGUMENT_CHARS} are taken. Nothing was run; write less at a time.`,
    )
  }
  if (text.trim() === '') return {}
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadCall('The arguments have to be one JSON object. Nothing was run.')
  }
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, MAX_ISSUE_CHARS) : 'unreadable'
    throw new BadCall(`The arguments are not valid JSON: ${why}. Nothing was run; send the call again with valid JSON.`)
  }
}

/** Tools are put together anew for every step; their schemas stay the same. */
const known = new WeakMap<z.ZodType, JsonSchema>()

function parametersOf(schema: z.ZodType): JsonSchema {
  const made = known.get(schema)
  if (made !== undefined) return made
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'output' })
  known.set(schema, parameters)
  return parameters
}

function explained({ issues }: z.ZodError): string {
  const lines = issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const place = path.length === 0 ? '' : `${path.map(String).join('.')}: `
    return `${place}${message}.`.slice(0, MAX_ISSUE_CHARS)
  })
  return issues.length > MAX_ISSUES ? `${lines.join(' ')} And more.` : lines.join(' ')
}

/** A whole number, which some models write as a text. */
export const WholeNumber = z.preprocess(numberIn, z.int())
export const PositiveNumber = z.preprocess(numberIn, z.number().positive())

function numberIn(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value
}
