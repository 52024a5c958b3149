// The syntax tree of a regular expression, for all supported syntaxes.

/** Code points in ascending order: the first and last of each range, one after the other. */
export type Ranges = readonly number[]

export type Assertion =
  | 'lineStart'
  | 'lineEnd'
  | 'boundary'
  | 'notBoundary'
  | 'wordStart'
  | 'wordEnd'
  /** For whole words only: no word character may precede, or follow. */
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
  /** `\K`: the match starts here. */
  | { kind: 'keep' }

export const EMPTY: RegexNode = { kind: 'sequence', parts: [] }

/** An invalid pattern, with the message of the program. */
export class BadPattern extends Error {}

/** The direct children of the node. */
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
