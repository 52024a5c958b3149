// Marks the loops of `select`: the parser does not support this command, and gets a loop over words with a marked name.

import { SELECTED } from './arithmetic/veil.ts'
import type { Command } from './shape.ts'

export type Loop = Extract<Command, { type: 'For' }>
type Selecting = Loop & { selects?: true }

/** Called for each node of a script. */
export function noteSelect(node: object): void {
  if (!('type' in node) || node.type !== 'For') return
  const loop = node as Selecting
  if (!loop.variable.startsWith(SELECTED)) return
  loop.variable = loop.variable.slice(SELECTED.length)
  loop.selects = true
}

/** True for a copy as well. */
export const isSelect = (node: Command): node is Loop => node.type === 'For' && (node as Selecting).selects === true
