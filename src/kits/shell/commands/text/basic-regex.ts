// Basic regular expressions for `expr`, `csplit` and `diff`.

import { PLAIN_BASIC, PosixRegex } from '../../posix-regex/posix-regex.ts'

/** Throws a `RegexError` for an invalid expression. */
export function basicRegex(source: string): PosixRegex {
  return new PosixRegex(source, PLAIN_BASIC)
}
