// Validation that is compatible with the reference: its 422 lists every problem of a request at once, each with its location,
// its type and the value. The types and texts are those of pydantic 2, which existing clients know.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../config.ts'
import { must } from '../lib/assert.ts'
import type { AppEnv } from './app-env.ts'
import { readBytes } from './body.ts'
import { AppError, type ValidationItem } from './errors.ts'
import { findJsonBreak, toItems } from './validation-items.ts'

const MAX_DEPTH = 200
// A wrong value costs its issue, its item and its line of the answer, about 800 bytes: this many take 16 MB, while the
// four million that fit into the largest body would exhaust the isolate.
const MAX_VALUES = 20_000

type InputSource = 'path' | 'query' | 'body' | 'header'
type Shapes = {
  params?: z.ZodType | undefined
  query?: z.ZodType | undefined
  headers?: z.ZodObject | undefined
  body?: BodyShape | undefined
}

export type BodyShape = { schema: z.ZodType; required: boolean }

export type Valid = { params: unknown; query: unknown; body: unknown }

/**
 * Parses path, query and body together, and checks the headers. Throws a 422 with all problems of all of them. A
 * promise is returned only when a body must be read.
 */
export function validate(c: Context<AppEnv>, shapes: Shapes): Valid | Promise<Valid> {
  const { raw } = c.req
  if (shapes.body === undefined || raw.body === null) return checked(c, shapes, NO_BODY)
  return readJson(raw, config(c.env).maxBodyBytes).then((body) => checked(c, shapes, body))
}

function checked(c: Context<AppEnv>, shapes: Shapes, raw: RawBody): Valid {
  const items: ValidationItem[] = []
  const check = (place: InputSource, schema: z.ZodType | undefined, input: unknown): unknown => {
    if (schema === undefined) return undefined
    const result = schema.safeParse(input)
    if (result.success) return result.data
    items.push(...toItems(result.error, place, input))
    return undefined
  }
  const params = check('path', shapes.params, shapes.params && c.req.param())
  const query = check('query', shapes.query, shapes.query && queryOf(c.req.url))
  check('header', shapes.headers, shapes.headers && headersOf(c, Object.keys(shapes.headers.shape)))
  let body: unknown
  if (shapes.body) {
    if (raw.problem) items.push(raw.problem)
    else if (raw.value === null && !shapes.body.required) body = null
    else if (raw.value === null) items.push({ type: 'missing', loc: ['body'], msg: 'Field required', input: null })
    else body = check('body', shapes.body.schema, raw.value)
  }
  if (items.length > 0) throw invalid(items)
  return { params, query, body }
}

/** The 422 of the given problems. */
export function invalid(items: ValidationItem[]): AppError {
  // A member that is undefined would not be sent, but clients expect it.
  const whole = items.map((item) => ({ ...item, input: item.input ?? null }))
  const first = items[0]
  const text = first ? `${first.loc.join('.')}: ${first.msg}` : 'Validation failed'
  return new AppError('unprocessable', text, { items: whole })
}

/** The 422 of one value that the domain code found invalid. */
export function valueError(loc: (string | number)[], reason: string, input: unknown): AppError {
  return invalid([{ type: 'value_error', loc, msg: `Value error, ${reason}`, input, ctx: { error: {} } }])
}

const headersOf = (c: Context<AppEnv>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, c.req.header(name)]))

/** A repeated key keeps its last value, as in the reference; `include_types` and similar are read as lists by their schema. */
function queryOf(url: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  const at = url.indexOf('?')
  if (at < 0) return query
  for (const [key, value] of new URLSearchParams(url.slice(at))) {
    if (key.endsWith('_types')) query[key] = [...(Array.isArray(query[key]) ? query[key] : []), value]
    else query[key] = value
  }
  return query
}

/** The value is null without a body: the reference does not distinguish `null` from nothing. */
type RawBody = { value: unknown; problem?: ValidationItem }

const NO_BODY: RawBody = { value: null }

async function readJson(request: Request, maxBytes: number): Promise<RawBody> {
  const bytes = await readBytes(request, maxBytes)
  if (bytes.byteLength === 0) return NO_BODY
  const type = request.headers.get('content-type')
  if (type !== null && !/^application\/([\w.+-]+\+)?json\b/i.test(type.trim())) {
    return { value: null, problem: notAnObject(decode(bytes) ?? '') }
  }
  const text = decode(bytes)
  if (text === null) return { value: null, problem: jsonInvalid(0, 'Invalid UTF-8') }
  const excess = excessOf(text)
  if (excess !== null) return { value: null, problem: jsonInvalid(0, excess) }
  try {
    return { value: JSON.parse(text) }
  } catch {
    // The parser's message quotes the body and often has no position; `findJsonBreak` finds it.
    const { offset, reason } = must(findJsonBreak(text), 'the fault in a text that the parser refused')
    return { value: null, problem: jsonInvalid(offset, reason) }
  }
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    // The decoder throws for any sequence that is not UTF-8; the caller reports it as malformed JSON.
    return null
  }
}

const notAnObject = (input: unknown): ValidationItem => ({
  type: 'model_attributes_type',
  loc: ['body'],
  msg: 'Input should be a valid dictionary or object to extract fields from',
  input,
})

const jsonInvalid = (offset: number, error: string): ValidationItem => ({
  type: 'json_invalid',
  loc: ['body', offset],
  msg: 'JSON decode error',
  input: {},
  ctx: { error },
})

/** Why a text is too expensive to parse, or null. Brackets and commas inside strings do not count. */
function excessOf(text: string): string | null {
  let depth = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) i = endOfString(text, i)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH) return `Nested deeper than ${MAX_DEPTH} levels`
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2c && ++values > MAX_VALUES) return `More than ${MAX_VALUES} values`
  }
  return null
}

/**
 * The closing quote of the string. Most of a large body is one string, and the runtime's own search is far faster than
 * a loop.
 */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}

// Texts of a request with a limited length. Lengths are counted in characters, as clients and the document count them,
// not in the UTF-16 units of a string's `length`: an emoji is one.

type Length = { min?: number; max: number }

export function characters({ min = 0, max }: Length) {
  return z
    .string()
    .superRefine((text, ctx) => {
      // A text of the wrong length is not checked any further.
      const common = { origin: 'string' as const, inclusive: true, input: text, continue: false }
      if (isShorter(text, min)) ctx.addIssue({ ...common, code: 'too_small', minimum: min })
      if (isLonger(text, max)) ctx.addIssue({ ...common, code: 'too_big', maximum: max })
    })
    .openapi({ ...(min > 0 ? { minLength: min } : {}), maxLength: max })
}

/** One line: a name, an address, a key. Control characters would get into headers, commits and files. */
export function line(length: Length) {
  return characters(length).refine((text) => !/\p{Cc}/u.test(text), { error: 'control characters are not allowed' })
}

/** A key as people paste it: surrounding white space is removed. */
export function pastedKey(length: Length) {
  return z.preprocess((value) => (typeof value === 'string' ? value.trim() : value), line(length))
}

const isShorter = (text: string, min: number): boolean => text.length < min || (min > 1 && count(text) < min)

// A character is one or two units, so most lengths need no counting.
const isLonger = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || count(text) > max)

function count(text: string): number {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}
