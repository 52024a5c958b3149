// Reads a pattern of one of the syntaxes: alternatives, sequences and repetitions here, what can be repeated in
// `posix-atoms.ts` and `perl-atoms.ts`.

import { anyCase, without } from './char-sets.ts'
import { type Flavour, PatternText, Syntax } from './pattern-text.ts'
import { perlAtom } from './perl-atoms.ts'
import { endsPosixBranch, posixAtom } from './posix-atoms.ts'
import { repetition } from './repetitions.ts'
import { BadPattern, EMPTY, type Ranges, type RegexNode, someNode } from './syntax.ts'

export interface PatternOptions {
  flavour: Flavour
  ignoresCase: boolean
  /** The character between records, which nothing matches; null when a match may go over several. */
  separator: number | null
  dotMatchesAll?: boolean
}

export interface Pattern {
  node: RegexNode
  groups: number
  warnings: string[]
}

/** Groups inside of groups; each takes some of the stack. */
const MAX_DEPTH = 200

export class Reader {
  readonly text: PatternText
  readonly separator: number | null
  readonly warnings: string[] = []
  groups = 0
  depth = 0

  constructor(source: string, { flavour, ignoresCase, separator, dotMatchesAll }: PatternOptions) {
    this.text = new PatternText(source, new Syntax(flavour, ignoresCase))
    this.text.syntax.dotMatchesAll = dotMatchesAll ?? (flavour !== 'perl' && flavour !== 'rust' && separator !== 10)
    this.separator = separator
  }

  set(ranges: Ranges): RegexNode {
    return { kind: 'set', ranges: this.separator === null ? ranges : without(ranges, this.separator) }
  }

  literal(code: number): RegexNode {
    return this.set(this.text.syntax.ignoresCase ? anyCase([code, code]) : [code, code])
  }

  /** What is inside of a group, up to its end, which stays. */
  inside(): RegexNode {
    if (++this.depth > MAX_DEPTH) throw new BadPattern('Regular expression too big')
    const { ignoresCase, dotMatchesAll } = this.text.syntax
    const options = [this.#sequence()]
    while (this.#takesBar()) options.push(this.#sequence())
    // Flags that were set inside of a group end with it.
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
      parts.push(repetition(this, atom))
    }
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'sequence', parts }
  }

  #endsBranch(): boolean {
    const { text } = this
    if (!text.syntax.isPerl) return endsPosixBranch(text, this.depth > 1)
    return text.rest(1) === '|' || text.rest(1) === ')'
  }
}

export function parsePattern(source: string, options: PatternOptions): Pattern {
  const reader = new Reader(source, options)
  const node = reader.inside()
  const { text, groups, warnings } = reader
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
  return { node: node ?? EMPTY, groups, warnings }
}
