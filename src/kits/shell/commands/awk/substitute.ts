// `sub` and `gsub`.

import type { PosixRegex } from '../../posix-regex/posix-regex.ts'

interface Substitution {
  regex: PosixRegex
  /** `&` is the matched text, `\&` a literal ampersand. */
  replacement: string
  isGlobal: boolean
}

export function substitute(
  text: string,
  { regex, replacement, isGlobal }: Substitution,
): { text: string; count: number } {
  if (!regex.find(text)) return { text, count: 0 }
  const pieces = piecesOf(replacement)
  let [result, count, copied] = ['', 0, 0]
  /** An empty match directly after a match is ignored. */
  let lastEnd = -1
  for (let at = 0; at <= text.length && regex.find(text, at); ) {
    const [start = 0, end = 0] = regex.slots
    const isEmpty = end === start
    if (!isEmpty || start !== lastEnd) {
      const matched = text.slice(start, end)
      result += text.slice(copied, start) + (pieces.length === 1 ? pieces[0] : pieces.join(matched))
      copied = end
      lastEnd = end
      count++
      if (!isGlobal) break
    }
    at = isEmpty ? end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1) : end
  }
  return { text: result + text.slice(copied), count }
}

/** The pieces between the positions for the matched text. */
function piecesOf(replacement: string): string[] {
  if (!replacement.includes('\\')) return replacement.split('&')
  const pieces = ['']
  const add = (text: string) => {
    pieces[pieces.length - 1] += text
  }
  for (const [part] of replacement.matchAll(/\\[\\&]|[\s\S]/g)) {
    if (part === '&') pieces.push('')
    else add(part === '\\&' ? '&' : part === '\\\\' ? '\\' : part)
  }
  return pieces
}
