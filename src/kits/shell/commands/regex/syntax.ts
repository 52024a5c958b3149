// A regular expression as a tree, whichever program's syntax it was written in.

/** Code points in rising order: first and last of each run, one after the other. */
export type Ranges = readonly number[]

export type Assertion =
  | 'lineStart'
  | 'lineEnd'
  | 'boundary'
  | 'notBoundary'
  | 'wordStart'
  | 'wordEnd'
  /** For whole words only: no letter may stand before, or after. */
  | 'notAfterWord'
  | 'notBeforeWord'

export type RegexNode =
  | { kind: 'set'; ranges: Ranges }
  | { kind: 'sequence'; parts: RegexNode[] }
  | { kind: 'choice'; options: RegexNode[] }
  | { kind: 'repeat'; node: RegexNode; min: number; max: number; mode: 'greedy' | 'lazy' | 'possessive' }
  | { kind: 'group'; node: RegexNode; index: number; name: string | null }
  | { kind: 'reference'; to: number | string }
  | { kind: 'assert'; what: Assertion }
  | { kind: 'look'; node: RegexNode; isAhead: boolean; isNegative: boolean }
  | { kind: 'atomic'; node: RegexNode }
  /** `\K`: what is found begins here. */
  | { kind: 'keep' }

export const EMPTY: RegexNode = { kind: 'sequence', parts: [] }

/** A pattern that cannot be used, in the words of the program that it was given to. */
export class BadPattern extends Error {}

/** What the node is made of. */
export function childrenOf(node: RegexNode): readonly RegexNode[] {
  switch (node.kind) {
    case 'sequence':
      return node.parts
    case 'choice':
      return node.options
    case 'repeat':
    case 'group':
    case 'look':
    case 'atomic':
      return [node.node]
    default:
      return []
  }
}

export function someNode(node: RegexNode, test: (node: RegexNode) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => someNode(child, test))
}
