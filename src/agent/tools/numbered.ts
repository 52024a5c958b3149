// Text as the file tools show it: every line with its number.

import { cutMiddle } from '../cut-middle.ts'

/** A line that is longer than this is no line that a person wrote. */
const MAX_LINE_CHARS = 2000

/** The lines of a text without their ends. The last line of a text that ends in a line end is not empty: there is none. */
export function plainLines(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

/** `first` is the number of the first line. */
export function numbered(lines: readonly string[], first = 1): string {
  const text = lines.map((line, i) => `${String(first + i).padStart(6)}\t${shortened(line)}`).join('\n')
  return cutMiddle(text)
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line
  return `${line.slice(0, MAX_LINE_CHARS).toWellFormed()} [... ${line.length - MAX_LINE_CHARS} more characters in this line]`
}
