// The shared state of a pattern's parsers: the text, counters, and the creation of character and set nodes.

import { anyCase, without } from './char-sets.ts'
import { type Flavour, PatternText, Syntax } from './pattern-text.ts'
import type { Ranges, RegexNode } from './syntax.ts'

export interface PatternOptions {
  flavour: Flavour
  ignoresCase: boolean
  /** The separator of records, which nothing matches; null if a match may extend over several. */
  separator: number | null
  dotMatchesAll?: boolean
  /** How repetitions are read that stand where nothing can be repeated, as at anchors. */
  signs?: SignRules
}

/** GNU's library passes over them, its automaton (which finds grep's lines) takes them. */
export type SignRules = 'library' | 'automaton'

export abstract class Reader {
  readonly text: PatternText
  readonly separator: number | null
  readonly warnings: string[] = []
  groups = 0
  /** Those that a reference may use. */
  closed: ReadonlySet<number> = new Set()
  depth = 0
  readonly signs: SignRules
  /** Whether there is a repetition that the two read in two ways. */
  hasBareSign = false
  /** Whether something is in the pattern with which GNU's automaton leaves all to the library. */
  isForLibrary = false

  constructor(source: string, { flavour, ignoresCase, separator, dotMatchesAll, signs }: PatternOptions) {
    this.text = new PatternText(source, new Syntax(flavour, ignoresCase))
    this.text.syntax.dotMatchesAll = dotMatchesAll ?? (flavour !== 'perl' && flavour !== 'rust' && separator !== 10)
    this.separator = separator
    this.signs = signs ?? 'library'
  }

  set(ranges: Ranges): RegexNode {
    return { kind: 'set', ranges: this.separator === null ? ranges : without(ranges, this.separator) }
  }

  literal(code: number): RegexNode {
    return this.set(this.text.syntax.ignoresCase ? anyCase([code, code]) : [code, code])
  }

  /** The contents of a group, up to its end, which is not read. */
  abstract inside(): RegexNode
}
