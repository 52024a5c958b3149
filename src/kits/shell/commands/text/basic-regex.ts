// Basic regular expressions, as `expr`, `csplit` and `diff` take them.

import { PLAIN_BASIC, PosixRegex } from '../../posix-regex/posix-regex.ts'

/** Throws a `RegexError` for what is no expression. */
export function basicRegex(source: string): PosixRegex {
  return new PosixRegex(source, PLAIN_BASIC)
}
