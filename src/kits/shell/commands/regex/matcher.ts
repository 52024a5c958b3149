// Finds the matches of patterns in a text with many records: the matching records, and the positions in them. Patterns
// are run by an automaton if possible; a text that every match must contain is searched first.

import { Automaton } from './automaton.ts'
import { BackreferenceEngine } from './backreference-engine.ts'
import { wordRanges } from './char-sets.ts'
import { type Pattern, parsePattern } from './parse.ts'
import { compile, isRegular } from './program.ts'
import type { PatternOptions } from './reader.ts'
import { literalIn } from './required-text.ts'
import { BadPattern, type Ranges, type RegexNode, someNode } from './syntax.ts'
import { fixedLength, groupsOf, type JavascriptPattern, toJavascript } from './to-javascript.ts'

export interface MatcherOptions extends PatternOptions {
  wholeWords?: boolean
  wholeLines?: boolean
  /** The contents of the groups are needed. */
  captures?: boolean
  /** As in GNU grep: an automaton finds the lines where it can, and the library what is in them. */
  findsByAutomaton?: boolean
}

export interface Span {
  from: number
  to: number
}

export interface Match extends Span {
  /** By their numbers; undefined for one that did not take part in the match. */
  groups: readonly (string | undefined)[]
}

const ANCHORED = { isSearch: false, isBackwards: false }

export class Matcher {
  readonly warnings: string[]
  readonly #options: MatcherOptions
  readonly #nodes: RegexNode[]
  /** By which records are found. */
  readonly #finders: RegexNode[]
  readonly #word: Ranges
  readonly #search: Automaton | null
  readonly #required: string | null
  /** Whether a match is exactly that text, without further conditions. */
  readonly #isLiteral: boolean
  #javascript: JavascriptPattern[] | null = null
  #backward: Automaton | null = null
  #anchored: Automaton | null = null
  /** For whole words with patterns that can be empty: the same pattern without word boundaries. */
  #bare: Automaton | null = null

  constructor(patterns: readonly string[], options: MatcherOptions) {
    this.#options = options
    const parsed = patterns.map((pattern) => parsePattern(pattern, options))
    const finders = findersOf(patterns, parsed, options)
    this.warnings = finders.flatMap(({ warnings }) => warnings)
    this.#word = wordRanges(options.flavour !== 'perl')
    this.#nodes = parsed.map((pattern) => this.#framed(pattern))
    const { separator } = options
    const isByLibrary = options.wholeWords || parsed.some(({ isForLibrary }) => isForLibrary)
    this.#finders = isByLibrary || finders === parsed ? this.#nodes : finders.map((one) => this.#framed(one))
    const whole = choiceOf(this.#finders)
    this.#search =
      separator !== null && isRegular(whole) ? this.#automaton(whole, { isSearch: true, isBackwards: false }) : null
    const literal = finders.length === 1 && this.#finders[0] ? literalIn(this.#finders[0]) : null
    this.#required = literal?.text ?? null
    const isAlike = this.#finders === this.#nodes && separator !== null
    this.#isLiteral = literal?.isAll === true && isAlike && !options.wholeWords && !options.wholeLines
    if (this.#search === null) this.#engines()
    else if (options.wholeWords && !options.wholeLines && this.#isPosix) this.#bare = this.#emptyWords(parsed)
  }

  /** The numbers of named groups. */
  get groupNames(): ReadonlyMap<string, number> {
    const named = this.#nodes
      .flatMap(groupsOf)
      .flatMap(({ name, index }) => (name === null ? [] : [[name, index] as const]))
    return new Map(named)
  }

  get #isPosix(): boolean {
    return this.#options.flavour === 'basic' || this.#options.flavour === 'extended'
  }

  /**
   * A position in the first record with a match, from `from` on (the start of a record); -1 if no record before `to`
   * has one.
   */
  find(text: string, from: number, to: number): number {
    if (this.#bare) return this.#findWord(text, { from, to }, this.#bare)
    if (this.#required === null)
      return this.#search ? this.#search.search(text, from, to) : this.#engineFind(text, from, to)
    const separator = String.fromCharCode(this.#options.separator ?? 10)
    for (let at = from; at <= to; ) {
      const found = text.indexOf(this.#required, at)
      if (found < 0 || found + this.#required.length > to) return -1
      if (this.#isLiteral) return found
      if (this.#options.separator === null) return this.#engineFind(text, from, to)
      const start = found === from ? from : Math.max(from, text.lastIndexOf(separator, found - 1) + 1)
      const separatorAt = text.indexOf(separator, found)
      const end = separatorAt < 0 ? to : Math.min(separatorAt, to)
      const hit = this.#search ? this.#search.search(text, start, end) : this.#engineFind(text, start, end)
      if (hit >= 0) return hit
      at = end + 1
    }
    return -1
  }

  #emptyWords(parsed: readonly Pattern[]): Automaton | null {
    const bare = this.#automaton({ kind: 'choice', options: parsed.map(({ node }) => node) }, ANCHORED)
    return bare.longest('', 0, { from: 0, to: 0 }) === 0 ? bare : null
  }

  /** Like in GNU grep, an empty match is a word only if the pattern matches nothing longer there. */
  #findWord(text: string, { from, to }: Span, bare: Automaton): number {
    const separator = String.fromCharCode(this.#options.separator ?? 10)
    for (let at = from; at <= to; ) {
      const hit = this.#search?.search(text, at, to) ?? -1
      if (hit < 0) return -1
      const start = Math.max(at, hit === 0 ? 0 : text.lastIndexOf(separator, hit - 1) + 1)
      const next = text.indexOf(separator, hit)
      const record = { from: start, to: next < 0 ? to : Math.min(next, to) }
      for (const place of this.#places(text, record)) {
        if (this.#longest(text, place, record) > place || bare.longest(text, place, record) === place) return hit
      }
      at = record.to + 1
    }
    return -1
  }

  /** The non-empty matches of a record between the two positions. */
  spans(text: string, { from, to }: Span): Span[] {
    if (this.#isLiteral) return this.#literalSpans(text, { from, to })
    if (this.#search && this.#isPosix) return this.#longestSpans(text, { from, to })
    return this.matches(text.slice(from, to)).map((span) => ({ from: span.from + from, to: span.to + from }))
  }

  /** For a text of one record: the matches of a backtracking engine. */
  matches(record: string): Match[] {
    const found: Match[] = []
    for (let at = 0; at <= record.length; ) {
      const next = this.#first(record, at)
      if (!next) break
      const [from, to] = [keptFrom(next.match, next.engine), next.match.index + next.match[0].length]
      if (to > from) found.push({ from, to, groups: groupsFound(next.match) })
      at = to > at ? to : at + ((record.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
    }
    return found
  }

  #first(record: string, at: number): { match: RegExpExecArray; engine: JavascriptPattern } | null {
    let first: { match: RegExpExecArray; engine: JavascriptPattern } | null = null
    for (const engine of this.#engines()) {
      engine.expression.lastIndex = at
      const match = engine.expression.exec(record)
      if (!match) continue
      const isBetter =
        !first ||
        match.index < first.match.index ||
        (match.index === first.match.index && this.#prefers(match, first.match))
      if (isBetter) first = { match, engine }
    }
    return first
  }

  /** Of two matches at the same position the longer one, for programs with longest matches. */
  #prefers(match: RegExpExecArray, other: RegExpExecArray): boolean {
    return this.#isPosix && match[0].length > other[0].length
  }

  #engineFind(text: string, from: number, to: number): number {
    const within = to === text.length ? text : text.slice(0, to)
    let first = -1
    for (const { expression } of this.#engines()) {
      expression.lastIndex = from
      const at = expression.exec(within)?.index ?? -1
      if (at >= 0 && (first < 0 || at < first)) first = at
    }
    return first
  }

  #literalSpans(text: string, { from, to }: Span): Span[] {
    const literal = this.#required ?? ''
    const found: Span[] = []
    for (
      let at = text.indexOf(literal, from);
      at >= 0 && at + literal.length <= to;
      at = text.indexOf(literal, at + literal.length)
    ) {
      found.push({ from: at, to: at + literal.length })
    }
    return found
  }

  #longestSpans(text: string, record: Span): Span[] {
    const found: Span[] = []
    let after = record.from
    for (const from of this.#places(text, record)) {
      if (from < after) continue
      const to = this.#longest(text, from, record)
      if (to <= from) continue
      found.push({ from, to })
      after = to
    }
    return found
  }

  /** The start positions of matches, from left to right. */
  #places(text: string, record: Span): number[] {
    this.#backward ??= this.#automaton(choiceOf(this.#nodes), { isSearch: true, isBackwards: true })
    return [...this.#backward.starts(text, record)].reverse()
  }

  #longest(text: string, at: number, record: Span): number {
    this.#anchored ??= this.#automaton(choiceOf(this.#nodes), ANCHORED)
    return this.#anchored.longest(text, at, record)
  }

  #automaton(node: RegexNode, { isSearch, isBackwards }: { isSearch: boolean; isBackwards: boolean }): Automaton {
    const separator = this.#options.separator ?? 10
    return new Automaton(compile(node, isBackwards), { word: this.#word, separator, isSearch, isBackwards })
  }

  #engines(): JavascriptPattern[] {
    const { separator, ignoresCase, captures = false } = this.#options
    this.#javascript ??= this.#nodes.map((node) => {
      const settings = { word: this.#word, separator, ignoresCase, captures }
      if (this.#isPosix && !isRegular(node)) return { expression: new BackreferenceEngine(node, settings), keeps: [] }
      assertFixedBehind(node)
      return toJavascript(node, settings)
    })
    return this.#javascript
  }

  #framed({ node }: Pattern): RegexNode {
    const { wholeLines, wholeWords } = this.#options
    const frame = (before: 'lineStart' | 'notAfterWord', after: 'lineEnd' | 'notBeforeWord'): RegexNode => ({
      kind: 'sequence',
      parts: [{ kind: 'assert', what: before }, node, { kind: 'assert', what: after }],
    })
    if (wholeLines) return frame('lineStart', 'lineEnd')
    return wholeWords ? frame('notAfterWord', 'notBeforeWord') : node
  }
}

function choiceOf(options: RegexNode[]): RegexNode {
  // Of no patterns, none matches.
  return options.length === 0 ? { kind: 'set', ranges: [] } : { kind: 'choice', options }
}

/** The patterns as the automaton reads them. */
function findersOf(patterns: readonly string[], parsed: Pattern[], options: MatcherOptions): Pattern[] {
  const isAlike = !options.findsByAutomaton || !parsed.some(({ hasBareSign }) => hasBareSign)
  return isAlike ? parsed : patterns.map((pattern) => parsePattern(pattern, { ...options, signs: 'automaton' }))
}

function keptFrom(match: RegExpExecArray, { keeps }: JavascriptPattern): number {
  const kept = keeps.flatMap((name) => match.indices?.groups?.[name]?.[0] ?? [])
  return kept.length > 0 ? Math.max(...kept) : match.index
}

function groupsFound({ groups = {} }: RegExpExecArray): (string | undefined)[] {
  const found: (string | undefined)[] = []
  for (const [name, value] of Object.entries(groups)) if (/^g\d+$/.test(name)) found[Number(name.slice(1))] = value
  return found
}

/** Like in PCRE: each alternative of a lookbehind has a fixed length. */
function assertFixedBehind(node: RegexNode): void {
  const isLoose = (one: RegexNode) => {
    if (one.kind !== 'look' || one.isAhead) return false
    const options = one.node.kind === 'choice' ? one.node.options : [one.node]
    return options.some((option) => fixedLength(option) === null)
  }
  if (someNode(node, isLoose)) throw new BadPattern('lookbehind assertion is not fixed length')
}
