// The longest text that every match of a pattern contains: searching for it is faster than running the pattern.

import type { RegexNode } from './syntax.ts'

/** Null if there is none; `isAll` if it is the whole pattern. */
export function literalIn(node: RegexNode): { text: string; isAll: boolean } | null {
  const parts = partsOf(node)
  let run = ''
  let longest = ''
  for (const part of parts) {
    run = part === null ? '' : run + part
    if (run.length > longest.length) longest = run
  }
  return longest === '' ? null : { text: longest, isAll: !parts.includes(null) }
}

/** Consecutive characters, and null for everything else. */
function partsOf(node: RegexNode): (string | null)[] {
  switch (node.kind) {
    case 'set': {
      const [first = 0, last, ...more] = node.ranges
      return [first === last && more.length === 0 ? String.fromCodePoint(first) : null]
    }
    case 'group':
    case 'atomic':
      return partsOf(node.node)
    case 'sequence':
      return node.parts.flatMap(partsOf)
    case 'repeat':
      return node.min > 0 ? [null, ...partsOf(node.node), null] : [null]
    default:
      return [null]
  }
}
