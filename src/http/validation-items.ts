// zod's issues in pydantic 2's form: type, loc, msg, input, ctx.

import type { z } from 'zod'
import { INTEGER_EXPECTED } from '../lib/lax.ts'
import type { ValidationItem } from './errors.ts'

type Issue = z.core.$ZodIssue

/** Every issue as items of the 422 list; `root` is the raw value that was parsed at `place`. */
export function toItems(error: z.ZodError, place: string, root: unknown): ValidationItem[] {
  // zod also checks the length of a value that is not a list, if it has one; the wrong type is enough.
  const mistyped = new Set(error.issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')))
  return error.issues
    .filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(path.join('.')))
    .flatMap((issue) => fromIssue(issue, place, root))
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
  if (issue.code === 'invalid_union') return fromUnion(issue, place, root)
  // A schema's own rule may report an optional field that is absent; only a wrong type means that the field is
  // required.
  const isAbsent = input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
  if (isAbsent && path.length > 0) {
    return [{ type: 'missing', loc, msg: 'Field required', input: valueAt(root, path.slice(0, -1)) }]
  }
  return [{ loc, input, ...describe(issue, input, path.length === 0) }]
}

/** A union's problems are those of the branch that got furthest: the one that at least accepted the value's type. */
function fromUnion(issue: Extract<Issue, { code: 'invalid_union' }>, place: string, root: unknown): ValidationItem[] {
  const isInside = (branch: readonly Issue[]) => branch.every(({ path }) => path.length > 0)
  if (issue.errors.length === 0) return [fromTag(issue, place, root)]
  const branch = issue.errors.find((errors) => errors.length > 0 && isInside(errors)) ?? issue.errors[0] ?? []
  return branch.flatMap((inner) => fromIssue({ ...inner, path: [...issue.path, ...inner.path] }, place, root))
}

/** A discriminated union: its tag is missing, or unknown. */
function fromTag(issue: Extract<Issue, { code: 'invalid_union' }>, place: string, root: unknown): ValidationItem {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const loc = [place, ...path]
  const input = valueAt(root, path)
  if (input === undefined)
    return { type: 'missing', loc, msg: 'Field required', input: valueAt(root, path.slice(0, -1)) }
  const { options = [] } = issue as { options?: unknown[] }
  return { ...enumOf(options.map(String), input), loc }
}

type Description = Pick<ValidationItem, 'type' | 'msg' | 'ctx'>

function describe(issue: Issue, input: unknown, isRoot: boolean): Description {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.message === INTEGER_EXPECTED ? 'int' : issue.expected, input, isRoot)
    case 'too_small':
      return bound(issue, 'min', Number(issue.minimum), input)
    case 'too_big':
      return bound(issue, 'max', Number(issue.maximum), input)
    case 'invalid_value': {
      const { type, msg, ctx } = enumItem(issue, input)
      return { type, msg, ...(ctx ? { ctx } : {}) }
    }
    case 'invalid_format':
      return issue.format === 'regex' && issue.pattern
        ? {
            type: 'string_pattern_mismatch',
            msg: issue.message.startsWith(UNEXPLAINED)
              ? `String should match pattern '${bare(issue.pattern)}'`
              : `Value error, ${issue.message}`,
            ctx: { pattern: bare(issue.pattern) },
          }
        : valueErrorOf(issue.message)
    default:
      return valueErrorOf(issue.message)
  }
}

// 1e999 is valid JSON, but not a finite number.
const NOT_FINITE: Description = { type: 'finite_number', msg: 'Input should be a finite number' }

/** zod's message for a pattern whose schema has no message of its own. */
const UNEXPLAINED = 'Invalid string: must match pattern'

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
      if (typeof input === 'number') return NOT_FINITE
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
    if (!Number.isFinite(input)) return NOT_FINITE
    return { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' }
  }
  return { type: 'int_type', msg: 'Input should be a valid integer' }
}

type Bound = Extract<Issue, { code: 'too_small' | 'too_big' }>

function bound({ origin, inclusive }: Bound, side: 'min' | 'max', limit: number, input: unknown): Description {
  const few = side === 'min'
  const plural = limit === 1 ? '' : 's'
  if (origin === 'string') {
    const msg = `String should have at ${few ? 'least' : 'most'} ${limit} character${plural}`
    return { type: few ? 'string_too_short' : 'string_too_long', msg, ctx: { [`${side}_length`]: limit } }
  }
  if (origin === 'array' || origin === 'set') {
    const actual = Array.isArray(input) ? input.length : 0
    const msg = `List should have at ${few ? 'least' : 'most'} ${limit} item${plural} after validation, not ${actual}`
    const ctx = { field_type: 'List', [`${side}_length`]: limit, actual_length: actual }
    return { type: few ? 'too_short' : 'too_long', msg, ctx }
  }
  const word = few ? 'greater' : 'less'
  return inclusive === false
    ? { type: `${word}_than`, msg: `Input should be ${word} than ${limit}`, ctx: { [few ? 'gt' : 'lt']: limit } }
    : {
        type: `${word}_than_equal`,
        msg: `Input should be ${word} than or equal to ${limit}`,
        ctx: { [few ? 'ge' : 'le']: limit },
      }
}

function enumItem(issue: Issue | undefined, input: unknown): ValidationItem {
  return enumOf(issue?.code === 'invalid_value' ? issue.values.map(String) : [], input)
}

function enumOf(names: string[], input: unknown): ValidationItem {
  const values = names.map((name) => `'${name}'`)
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

// Where a text stops being JSON. The runtime's parser gives no position for half of its errors, and the 422 of
// malformed JSON contains one. This scan only runs after the parser refused a text; it uses its own stack, so deep
// nesting is harmless.

export type JsonBreak = {
  /** In characters, from 0; the length of the text when it ended too early. */
  offset: number
  reason: string
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'end of value'
type Scan = { at: number; expected: Expected; open: ('{' | '[')[] }

const SPACE = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The first position at which the text is not JSON, or null when all of it is. */
export function findJsonBreak(text: string): JsonBreak | null {
  const scan: Scan = { at: 0, expected: 'value', open: [] }
  for (;;) {
    scan.at = endOf(SPACE, text, scan.at) ?? scan.at
    if (scan.at >= text.length && scan.expected === 'end of value' && scan.open.length === 0) return null
    const found = step(text, scan)
    if (found !== null) return { offset: charactersBefore(text, found.offset), reason: found.reason }
  }
}

function step(text: string, scan: Scan): JsonBreak | null {
  if (scan.expected === 'end of value') return afterValue(text, scan)
  return scan.expected.startsWith('key') ? key(text, scan) : value(text, scan)
}

function value(text: string, scan: Scan): JsonBreak | null {
  const char = text[scan.at]
  if (char === '{' || char === '[') {
    scan.open.push(char)
    scan.at++
    scan.expected = char === '{' ? 'key or }' : 'value or ]'
    return null
  }
  if (char === ']' && scan.expected === 'value or ]') return close(scan)
  const end = char === '"' ? endOfString(text, scan.at) : endOf(SCALAR, text, scan.at)
  if (end === null) return { offset: scan.at, reason: 'Expecting value' }
  if (typeof end !== 'number') return end
  scan.at = end
  scan.expected = 'end of value'
  return null
}

function key(text: string, scan: Scan): JsonBreak | null {
  if (text[scan.at] === '}' && scan.expected === 'key or }') return close(scan)
  if (text[scan.at] !== '"') return { offset: scan.at, reason: 'Expecting property name enclosed in double quotes' }
  const end = endOfString(text, scan.at)
  if (typeof end !== 'number') return end
  const colon = endOf(SPACE, text, end) ?? end
  if (text[colon] !== ':') return { offset: colon, reason: "Expecting ':' delimiter" }
  scan.at = colon + 1
  scan.expected = 'value'
  return null
}

function afterValue(text: string, scan: Scan): JsonBreak | null {
  const innermost = scan.open.at(-1)
  if (innermost === undefined) return { offset: scan.at, reason: 'Extra data' }
  const char = text[scan.at]
  if (char === (innermost === '{' ? '}' : ']')) return close(scan)
  if (char !== ',') return { offset: scan.at, reason: "Expecting ',' delimiter" }
  scan.at++
  scan.expected = innermost === '{' ? 'key' : 'value'
  return null
}

function close(scan: Scan): null {
  scan.open.pop()
  scan.at++
  scan.expected = 'end of value'
  return null
}

/** The index after the closing quote. A loop, because a pattern with an alternation overflows the stack on megabytes. */
function endOfString(text: string, start: number): number | JsonBreak {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) return { offset: at, reason: 'Invalid control character at' }
    if (code !== 0x5c) at++
    else {
      const end = endOf(ESCAPE, text, at)
      if (end === null) return { offset: at, reason: 'Invalid \\escape' }
      at = end
    }
  }
  return { offset: start, reason: 'Unterminated string starting at' }
}

/** The end of a sticky pattern's match at `start`, or null. */
function endOf(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : null
}

/** Clients count characters, the scan counts UTF-16 units: a surrogate pair is one character. */
function charactersBefore(text: string, index: number): number {
  let pairs = 0
  for (let i = 1; i < index; i++) {
    const isLow = (text.charCodeAt(i) & 0xfc00) === 0xdc00
    if (isLow && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++
  }
  return index - pairs
}
