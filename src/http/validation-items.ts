// zod's issues in the words of pydantic 2: type, loc, msg, input, ctx.

import type { z } from 'zod'
import type { ValidationItem } from './errors.ts'

/** The message by which a schema says that it wanted an integer, where zod itself says only "number". */
export const INTEGER_EXPECTED = 'integer expected'

type Issue = z.core.$ZodIssue

/** Every issue as items of the 422 list; `root` is the raw value that was parsed at `place`. */
export function toItems(error: z.ZodError, place: string, root: unknown): ValidationItem[] {
  return error.issues.flatMap((issue) => fromIssue(issue, place, root))
}

function fromIssue(issue: Issue, place: string, root: unknown): ValidationItem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const loc = [place, ...path]
  const input = valueAt(root, path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      type: 'extra_forbidden',
      loc: [...loc, key],
      msg: 'Extra inputs are not permitted',
      input: valueAt(input, [key]),
    }))
  }
  if (issue.code === 'invalid_key')
    return [{ ...enumItem(issue.issues[0], String(path.at(-1))), loc: [...loc, '[key]'] }]
  if (input === undefined && path.length > 0) {
    return [{ type: 'missing', loc, msg: 'Field required', input: valueAt(root, path.slice(0, -1)) }]
  }
  return [{ loc, input, ...describe(issue, input, path.length === 0) }]
}

type Description = Pick<ValidationItem, 'type' | 'msg' | 'ctx'>

function describe(issue: Issue, input: unknown, isRoot: boolean): Description {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.message === INTEGER_EXPECTED ? 'int' : issue.expected, input, isRoot)
    case 'too_small':
      return bound(issue.origin, 'min', Number(issue.minimum), input)
    case 'too_big':
      return bound(issue.origin, 'max', Number(issue.maximum), input)
    case 'invalid_value': {
      const { type, msg, ctx } = enumItem(issue, input)
      return { type, msg, ...(ctx ? { ctx } : {}) }
    }
    case 'invalid_format':
      return issue.format === 'regex' && issue.pattern
        ? {
            type: 'string_pattern_mismatch',
            msg: `String should match pattern '${bare(issue.pattern)}'`,
            ctx: { pattern: bare(issue.pattern) },
          }
        : valueErrorOf(issue.message)
    default:
      return valueErrorOf(issue.message)
  }
}

const bare = (pattern: string): string => pattern.replace(/^\/|\/[a-z]*$/g, '')

const valueErrorOf = (reason: string): Description => ({
  type: 'value_error',
  msg: `Value error, ${reason}`,
  ctx: { error: {} },
})

function wrongType(expected: string, input: unknown, isRoot: boolean): Description {
  switch (expected) {
    case 'string':
      return { type: 'string_type', msg: 'Input should be a valid string' }
    case 'int':
      return wrongInteger(input)
    case 'number':
      return typeof input === 'string'
        ? { type: 'float_parsing', msg: 'Input should be a valid number, unable to parse string as a number' }
        : { type: 'float_type', msg: 'Input should be a valid number' }
    case 'boolean':
      return typeof input === 'string' || typeof input === 'number'
        ? { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' }
        : { type: 'bool_type', msg: 'Input should be a valid boolean' }
    case 'array':
      return { type: 'list_type', msg: 'Input should be a valid list' }
    case 'record':
      return { type: 'dict_type', msg: 'Input should be a valid dictionary' }
    case 'object':
      return isRoot || typeof input !== 'object' || Array.isArray(input) || input === null
        ? {
            type: 'model_attributes_type',
            msg: 'Input should be a valid dictionary or object to extract fields from',
          }
        : { type: 'dict_type', msg: 'Input should be a valid dictionary' }
    default:
      return valueErrorOf(`expected ${expected}`)
  }
}

function wrongInteger(input: unknown): Description {
  if (typeof input === 'string') {
    return { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' }
  }
  if (typeof input === 'number') {
    return { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' }
  }
  return { type: 'int_type', msg: 'Input should be a valid integer' }
}

function bound(origin: string, side: 'min' | 'max', limit: number, input: unknown): Description {
  const few = side === 'min'
  if (origin === 'string') {
    const msg = `String should have at ${few ? 'least' : 'most'} ${limit} character${limit === 1 ? '' : 's'}`
    return { type: few ? 'string_too_short' : 'string_too_long', msg, ctx: { [`${side}_length`]: limit } }
  }
  if (origin === 'array' || origin === 'set') {
    const actual = Array.isArray(input) ? input.length : 0
    const msg = `List should have at ${few ? 'least' : 'most'} ${limit} item${limit === 1 ? '' : 's'} after validation, not ${actual}`
    const ctx = { field_type: 'List', [`${side}_length`]: limit, actual_length: actual }
    return { type: few ? 'too_short' : 'too_long', msg, ctx }
  }
  return few
    ? {
        type: 'greater_than_equal',
        msg: `Input should be greater than or equal to ${limit}`,
        ctx: { ge: limit },
      }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${limit}`, ctx: { le: limit } }
}

function enumItem(issue: Issue | undefined, input: unknown): ValidationItem {
  const values = issue?.code === 'invalid_value' ? issue.values.map((value) => `'${String(value)}'`) : []
  const last = values.at(-1) ?? ''
  const expected = values.length > 1 ? `${values.slice(0, -1).join(', ')} or ${last}` : last
  return { type: 'enum', loc: [], msg: `Input should be ${expected}`, input, ctx: { expected } }
}

function valueAt(root: unknown, path: (string | number)[]): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}
