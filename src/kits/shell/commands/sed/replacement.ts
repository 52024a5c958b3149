// The right side of `s`, and texts with escapes.

import { SED_ESCAPES } from '../../posix-regex/escapes.ts'
import type { ReplacementPart } from './script.ts'

export function replacementOf(source: string): ReplacementPart[] {
  const parts: ReplacementPart[] = []
  const add = (text: string) => {
    const last = parts.at(-1)
    if (last?.kind === 'text') last.text += text
    else parts.push({ kind: 'text', text })
  }
  for (let at = 0; at < source.length; ) {
    const char = source[at] ?? ''
    const next = source[at + 1] ?? ''
    if (char === '&') parts.push({ kind: 'group', index: 0 })
    else if (char !== '\\') add(char)
    else if (next >= '0' && next <= '9') parts.push({ kind: 'group', index: Number(next) })
    else if (next === 'U' || next === 'L' || next === 'u' || next === 'l' || next === 'E')
      parts.push({ kind: 'case', letter: next })
    else {
      const found = SED_ESCAPES.read(source, at)
      add(found?.char ?? next)
      at = found?.end ?? at + 2
      continue
    }
    at += char === '\\' ? 2 : 1
  }
  return parts
}

/** The text of `a`, `i` and `c`: a backslash before anything but a known escape is removed. */
export function textOf(source: string): string {
  let text = ''
  let isFirst = true
  for (let at = 0; at < source.length; isFirst = false) {
    if (source[at] !== '\\') {
      text += source[at++]
      continue
    }
    const found = isFirst ? null : SED_ESCAPES.read(source, at)
    text += found?.char ?? source[at + 1] ?? ''
    at = found?.end ?? at + 2
  }
  return text
}

/** Of `y`. */
export function charactersOf(source: string): string[] {
  const found: string[] = []
  for (let at = 0; at < source.length; ) {
    const read = source[at] === '\\' ? SED_ESCAPES.read(source, at) : null
    if (read) {
      found.push(read.char)
      at = read.end
      continue
    }
    const start = source[at] === '\\' && source[at + 1] === '\\' ? at + 1 : at
    const char = String.fromCodePoint(source.codePointAt(start) ?? 0)
    found.push(char)
    at = start + char.length
  }
  return found
}

/** The replacement text for a match. */
export function replacementText(parts: readonly ReplacementPart[], text: string, slots: readonly number[]): string {
  let result = ''
  let [all, one]: ['U' | 'L' | null, 'u' | 'l' | null] = [null, null]
  for (const part of parts) {
    if (part.kind === 'case') {
      if (part.letter === 'u' || part.letter === 'l') one = part.letter
      else {
        all = part.letter === 'E' ? null : part.letter
        if (part.letter === 'E') one = null
      }
      continue
    }
    const [start = -1, end = -1] = part.kind === 'group' ? slots.slice(part.index * 2, part.index * 2 + 2) : []
    const plain = part.kind === 'text' ? part.text : start < 0 ? '' : text.slice(start, end)
    if (plain === '') continue
    const cased = all === null ? plain : all === 'U' ? plain.toUpperCase() : plain.toLowerCase()
    result += one === null ? cased : firstCased(cased, one)
    one = null
  }
  return result
}

function firstCased(text: string, letter: 'u' | 'l'): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0)
  return (letter === 'u' ? first.toUpperCase() : first.toLowerCase()) + text.slice(first.length)
}
