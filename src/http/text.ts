// Texts of a request whose length is limited. Lengths are counted in characters, as clients and the document count them,
// not in the UTF-16 units that a string's length tells: an emoji is one.

import { z } from '@hono/zod-openapi'

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

/** One line: a name, an address, a key. Control characters in it would end up in headers, commits and files. */
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
