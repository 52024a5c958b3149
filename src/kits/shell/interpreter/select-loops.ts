// Which loops over words are those of `select`: the parser knows no such command, and gets such a loop with a sign in its name.

import { SELECTED } from './arithmetic/veil.ts'
import type { Command } from './shape.ts'

export type Loop = Extract<Command, { type: 'For' }>
type Selecting = Loop & { selects?: true }

/** To be called for each node of a script. */
export function noteSelect(node: object): void {
  if (!('type' in node) || node.type !== 'For') return
  const loop = node as Selecting
  if (!loop.variable.startsWith(SELECTED)) return
  loop.variable = loop.variable.slice(SELECTED.length)
  loop.selects = true
}

/** Also of a copy. */
export const isSelect = (node: Command): node is Loop => node.type === 'For' && (node as Selecting).selects === true
