// Syntax highlighting. Loaded with the first code block that names its language.

import { common, createLowlight } from 'lowlight'

export type Highlighted = string | { classes: string; children: Highlighted[] }

type Node = { type: string; value?: string; properties?: { className?: unknown }; children?: Node[] }

const lowlight = createLowlight(common)

/** Null for an unknown language. */
export function highlight(language: string, text: string): Highlighted[] | null {
  if (!lowlight.registered(language)) return null
  return (lowlight.highlight(language, text).children as Node[]).map(pieceOf)
}

function pieceOf({ type, value = '', properties, children = [] }: Node): Highlighted {
  if (type === 'text') return value
  const names = properties?.className
  return { classes: Array.isArray(names) ? names.join(' ') : '', children: children.map(pieceOf) }
}
