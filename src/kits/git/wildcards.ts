// Patterns with `*`, `?` and sets, for names of refs.

import { fatal } from './failure.ts'

const MAX_PATTERN = 200

/** `passesSlashes`: whether a star matches slashes too. */
export function wildcard(pattern: string, { passesSlashes = true, ignoresCase = false } = {}): RegExp {
  if (pattern.length > MAX_PATTERN || (pattern.match(/\*+/g)?.length ?? 0) > 8)
    throw fatal(`the pattern '${pattern}' is too long`)
  const any = passesSlashes ? '.' : '[^/]'
  const source = pattern.replace(/\*\*\/?|\*|\?|\[!?[^\]]*\]|[.+^${}()|[\]\\/]/g, (part) => {
    if (part.startsWith('**')) return passesSlashes ? '.*' : part.endsWith('/') ? '(?:.*/)?' : '.*'
    if (part === '*') return `${any}*`
    if (part === '?') return any
    if (part.startsWith('[') && part.length > 1) return part.replace(/^\[!/, '[^').replaceAll('\\', '\\\\')
    return `\\${part}`
  })
  return new RegExp(`^${source}$`, ignoresCase ? 'is' : 's')
}
