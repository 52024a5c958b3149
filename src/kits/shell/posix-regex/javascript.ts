// Converts a POSIX regular expression to JavaScript.

import { WORD } from './brackets.ts'
import type { Anchor, Regex } from './syntax.ts'

const PLACE_SOURCES: Readonly<Record<Anchor, string>> = {
  'line-start': '^',
  'line-end': '$',
  'text-start': '(?<![^])',
  'text-end': '(?![^])',
  'word-edge': `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`,
  'inside-word': `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
  'word-start': `(?<!${WORD})(?=${WORD})`,
  'word-end': `(?<=${WORD})(?!${WORD})`,
}

/** JavaScript's own multiline anchors support more line ends than `\n`. */
const MULTILINE_SOURCES: Partial<Record<Anchor, string>> = {
  'line-start': '(?<![^\\n])',
  'line-end': '(?![^\\n])',
}

export function placeSource(place: Anchor, multiline: boolean): string {
  return (multiline && MULTILINE_SOURCES[place]) || PLACE_SOURCES[place]
}

/** For the flag `u`. */
export function sourceOf(tree: Regex, multiline: boolean): string {
  switch (tree.kind) {
    case 'one':
      return tree.source
    case 'look':
      return tree.source
    case 'place':
      return placeSource(tree.place, multiline)
    case 'back-reference':
      return `(?:\\${tree.index})`
    case 'group':
      return `(${sourceOf(tree.part, multiline)})`
    case 'sequence':
      return tree.parts.map((part) => sourceOf(part, multiline)).join('')
    case 'choice':
      return `(?:${tree.options.map((option) => sourceOf(option, multiline)).join('|')})`
    case 'repeat':
      return repeatSource(tree, multiline)
  }
}

function repeatSource({ part, min, max }: Extract<Regex, { kind: 'repeat' }>, multiline: boolean): string {
  const isOneAtom = part.kind === 'one' || part.kind === 'group'
  const source = isOneAtom ? sourceOf(part, multiline) : `(?:${sourceOf(part, multiline)})`
  if (max === Number.POSITIVE_INFINITY) return source + (min === 0 ? '*' : min === 1 ? '+' : `{${min},}`)
  if (min === 0 && max === 1) return `${source}?`
  return min === max ? `${source}{${min}}` : `${source}{${min},${max}}`
}
