// Paths in git's output.

const ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
}

export type Quoting = { nonAscii?: boolean; blanks?: boolean }

/** In quotes if it has special characters: by default, like in git, including everything beyond ASCII. */
export function quoted(path: string, { nonAscii = true, blanks = false }: Quoting = {}): string {
  let shown = ''
  for (const char of path) {
    const code = char.codePointAt(0) ?? 0
    if (ESCAPES[char]) shown += ESCAPES[char]
    else if (code < 0x20 || code === 0x7f || (code > 0x7f && nonAscii)) {
      for (const byte of new TextEncoder().encode(char)) shown += `\\${byte.toString(8).padStart(3, '0')}`
    } else shown += char
  }
  return shown !== path || (blanks && path.includes(' ')) ? `"${shown}"` : path
}
