// Numbers and booleans as the reference parses them: also from texts. What is stored or sent is always the number
// itself.

import { z } from 'zod'

const TRUE = new Set(['1', 'true', 't', 'yes', 'y', 'on'])
const FALSE = new Set(['0', 'false', 'f', 'no', 'n', 'off'])
const INTEGER = /^[+-]?\d+(\.0*)?$/
// Number() alone would also accept hexadecimal and the empty text.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** The message by which a schema says that it expected an integer; zod itself only says "number". */
export const INTEGER_EXPECTED = 'integer expected'

type Range = { min?: number; max?: number }

/**
 * Integers as the reference parses them: `5`, `5.0`, `"5"`; not `"five"`, not `5.5`. One that is too large to be exact
 * becomes the largest exact one: as a limit both mean "no limit".
 */
export function laxInt({ min, max }: Range = {}) {
  // zod has one message for a wrong type of integers and floats; the marker tells toItems which one was expected.
  let schema = z.int({ error: (issue) => (issue.code === 'invalid_type' ? INTEGER_EXPECTED : undefined) })
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  return z.preprocess((value) => {
    const isDigits = typeof value === 'string' && INTEGER.test(value.trim())
    if (!isDigits && !Number.isInteger(value)) return value
    return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
  }, schema)
}

export function laxNumber({ min, max }: Range = {}) {
  let schema = z.number()
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  return z.preprocess(
    (value) => (typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value),
    schema,
  )
}

/** Booleans as the reference parses them: `true`, `1`, `"yes"`, `"on"` and their opposites, in any case. */
export function laxBool() {
  return z.preprocess((value) => {
    const word = typeof value === 'number' || typeof value === 'string' ? String(value).trim().toLowerCase() : null
    if (word === null) return value
    if (TRUE.has(word)) return true
    return FALSE.has(word) ? false : value
  }, z.boolean())
}
