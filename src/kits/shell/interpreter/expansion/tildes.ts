// A tilde starts a word, or a path in a word that looks like an assignment (`x=~/a:~/b`). The parser also expands one
// after any other `=`, and does not support `~+` and `~-`.

import type { Part } from '../words-alone.ts'

const ASSIGNS = /^[A-Za-z_]\w*\+?=(?:[\s\S]*:)?$/
const OF_SHELL = /^~([+-])(?=\/|$)/

export function hasTilde(parts: readonly Part[]): boolean {
  return parts.some((part, i) => {
    if (part.type === 'Literal') return i === 0 && OF_SHELL.test(part.value)
    return part.type === 'TildeExpansion' && i > 0
  })
}

export function withTildes(parts: readonly Part[], env: ReadonlyMap<string, string>): readonly Part[] {
  if (!hasTilde(parts)) return parts
  let before = ''
  return parts.map((part, i): Part => {
    const text = 'value' in part ? part.value : ''
    const folder =
      i === 0 && part.type === 'Literal' ? env.get(OF_SHELL.exec(text)?.[1] === '+' ? 'PWD' : 'OLDPWD') : undefined
    const isFolder = part.type === 'TildeExpansion' && (i === 0 || ASSIGNS.test(before))
    before += part.type === 'TildeExpansion' ? '~' : text
    if (part.type === 'TildeExpansion' && !isFolder) return { type: 'Literal', value: `~${part.user ?? ''}` }
    if (folder === undefined || !OF_SHELL.test(text)) return part
    return { type: 'SingleQuoted', value: folder + text.slice(2) }
  })
}
