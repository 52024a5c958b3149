// Which loops over words are those of `select`: the parser knows no such command, and gets such a loop with a sign in its name.

import { SELECTED } from './arithmetic/veil.ts'
import type { Command } from './shape.ts'

export type Loop = Extract<Command, { type: 'For' }>
const LOOPS = new WeakSet<Command>()

/** To be called for each node of a script. */
export function noteSelect(node: object): void {
  if (!('type' in node) || node.type !== 'For') return
  const loop = node as Loop
  if (!loop.variable.startsWith(SELECTED)) return
  loop.variable = loop.variable.slice(SELECTED.length)
  LOOPS.add(loop)
}

export const isSelect = (node: Command): node is Loop => LOOPS.has(node)
