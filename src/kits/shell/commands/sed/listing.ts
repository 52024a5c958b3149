// `l`: prints a line with all characters visible, folded to a width.

import { losslessBytes } from '../../lossless-text.ts'

const NAMES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** A width of 0 disables folding. */
export function escapedLine(text: string, width: number): string {
  const room = width - 1
  let [result, column] = ['', 0]
  for (const char of text) {
    for (const shown of shownAs(char)) {
      if (width > 0 && column + shown.length > room) {
        result += '\\\n'
        column = 0
      }
      result += shown
      column += shown.length
    }
  }
  return `${result}$\n`
}

function shownAs(char: string): string[] {
  const name = NAMES[char]
  if (name !== undefined) return [name]
  if (char >= ' ' && char <= '~') return [char]
  return Array.from(losslessBytes(char), (byte) => `\\${byte.toString(8).padStart(3, '0')}`)
}
