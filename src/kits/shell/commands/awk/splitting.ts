// How FS and the last argument of `split` split a text, and RS the input.

import type { PosixRegex, RegexCache } from '../../posix-regex/posix-regex.ts'
import type { Splitter } from './record.ts'

/** `newlineToo` if RS is empty: then a line end also separates fields, whatever FS is. */
export function splitterOf(separator: string, regexes: RegexCache, newlineToo = false): Splitter {
  if (separator === ' ') return words
  if (separator === '') return (text) => [...text]
  if (isPlain(separator))
    return newlineToo ? (text) => text.split(PLAIN_OR_NEWLINE(separator)) : (text) => text.split(separator)
  return splitterBy(regexes.get(newlineToo ? `(${separator})|\n` : separator))
}

/** A single character is literal, even if it is special in an expression; except a backslash, which escapes. */
function isPlain(separator: string): boolean {
  return separator.length === 1 && separator !== '\\'
}

const PLAIN_OR_NEWLINE = (char: string): RegExp => new RegExp(`[\\n${char.replace(/[\]\\^-]/g, '\\$&')}]`)

export function splitterBy(regex: PosixRegex): Splitter {
  return (text) => {
    const parts: string[] = []
    let from = 0
    for (let at = 0; at <= text.length && regex.find(text, at); ) {
      const [start = 0, end = 0] = regex.slots
      // An empty match does not split.
      if (end === start) {
        at = end + 1
        continue
      }
      parts.push(text.slice(from, start))
      from = end
      at = end
    }
    parts.push(text.slice(from))
    return parts
  }
}

/** At blanks and line ends; those at both ends are ignored. */
function words(text: string): string[] {
  const found: string[] = []
  const { length } = text
  for (let at = 0; at < length; ) {
    while (at < length && isBlank(text.charCodeAt(at))) at++
    const start = at
    while (at < length && !isBlank(text.charCodeAt(at))) at++
    if (at > start) found.push(text.slice(start, at))
  }
  return found
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10
}
