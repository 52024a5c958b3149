// Parses a pattern in one of the syntaxes: alternatives, sequences and repetitions here, atoms in `posix-atoms.ts` and
// `perl-atoms.ts`.

import { perlAtom } from './perl-atoms.ts'
import { endsPosixBranch, posixAtom } from './posix-atoms.ts'
import { type PatternOptions, Reader } from './reader.ts'
import { repetition } from './repetitions.ts'
import { BadPattern, EMPTY, type RegexNode, someNode } from './syntax.ts'

export interface Pattern {
  node: RegexNode
  groups: number
  warnings: string[]
  hasBareSign: boolean
  isForLibrary: boolean
}

/** Nested groups; each uses some of the stack. */
const MAX_DEPTH = 200

class PatternReader extends Reader {
  /** The contents of a group, up to its end, which is not read. */
  override inside(): RegexNode {
    if (++this.depth > MAX_DEPTH) throw new BadPattern('Regular expression too big')
    const { ignoresCase, dotMatchesAll } = this.text.syntax
    const before = this.closed
    const options = [this.#sequence()]
    let closed = this.closed
    while (this.#takesBar()) {
      // Groups of another branch cannot be referenced in this one.
      this.closed = before
      options.push(this.#sequence())
      closed = new Set([...closed, ...this.closed])
    }
    this.closed = closed
    // Flags set inside a group end with it.
    Object.assign(this.text.syntax, { ignoresCase, dotMatchesAll })
    this.depth--
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options }
  }

  #takesBar(): boolean {
    return this.text.take(this.text.syntax.flavour === 'basic' ? '\\|' : '|')
  }

  #sequence(): RegexNode {
    const { syntax } = this.text
    const parts: RegexNode[] = []
    while (!this.text.isAtEnd && !this.#endsBranch()) {
      const atom = syntax.isPerl ? perlAtom(this, parts.length === 0) : posixAtom(this, parts.length === 0)
      parts.push(repetition(this, atom, parts.every(isEmpty)))
    }
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'sequence', parts }
  }

  #endsBranch(): boolean {
    const { text } = this
    if (!text.syntax.isPerl) return endsPosixBranch(text, this.depth > 1)
    return text.rest(1) === '|' || text.rest(1) === ')'
  }
}

/** What takes no letter, wherever it stands: anchors, and their repetitions. */
function isEmpty(node: RegexNode): boolean {
  if (node.kind === 'repeat') return isEmpty(node.node)
  return node.kind === 'assert' || node === EMPTY
}

export function parsePattern(source: string, options: PatternOptions): Pattern {
  const reader = new PatternReader(source, options)
  const node = reader.inside()
  const { text, groups, warnings, hasBareSign, isForLibrary } = reader
  if (!text.isAtEnd) {
    const closings = {
      basic: 'Unmatched ) or \\)',
      extended: 'Unmatched ) or \\)',
      perl: 'unmatched closing parenthesis',
    }
    throw new BadPattern(text.syntax.flavour === 'rust' ? 'unopened group' : closings[text.syntax.flavour])
  }
  const isWrong = (one: RegexNode) => one.kind === 'reference' && typeof one.to === 'number' && one.to > groups
  if (someNode(node, isWrong)) {
    throw new BadPattern(text.syntax.isPerl ? 'reference to non-existent subpattern' : 'Invalid back reference')
  }
  return { node: node ?? EMPTY, groups, warnings, hasBareSign, isForLibrary }
}
