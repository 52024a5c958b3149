// Translates a pattern for the runtime's engine, which supports what an automaton cannot: lookaround, backreferences,
// and the match that a Perl-like program would choose.

import { couldBeEndless } from './endless.ts'
import { type Assertion, BadPattern, childrenOf, type Ranges, type RegexNode, someNode } from './syntax.ts'

/** What finds the next match from `lastIndex` on. */
export type PatternEngine = Pick<RegExp, 'exec' | 'lastIndex'>

export interface JavascriptPattern {
  expression: PatternEngine
  /** The names of the empty groups for `\K`. */
  keeps: string[]
}

export interface JavascriptOptions {
  word: Ranges
  separator: number | null
  ignoresCase: boolean
  /** Whether the contents of the groups are needed. */
  captures: boolean
}

/** Throws for a pattern that could take forever on a short text. */
export function toJavascript(node: RegexNode, options: JavascriptOptions): JavascriptPattern {
  if (couldBeEndless(node))
    throw new BadPattern('a repetition of what is repeated in several ways is not available here')
  const emitter = new Emitter(node, options)
  const source = emitter.emit(node)
  const flags = `gu${options.ignoresCase ? 'i' : ''}${emitter.keeps.length > 0 ? 'd' : ''}`
  return { expression: new RegExp(source, flags), keeps: emitter.keeps }
}

class Emitter {
  readonly keeps: string[] = []
  readonly #options: JavascriptOptions
  readonly #names = new Map<string, number>()
  readonly #captures: boolean
  #atomics = 0

  constructor(node: RegexNode, options: JavascriptOptions) {
    this.#options = options
    this.#captures = options.captures || someNode(node, ({ kind }) => kind === 'reference')
    for (const { name, index } of groupsOf(node)) if (name !== null) this.#names.set(name, index)
  }

  emit(node: RegexNode): string {
    switch (node.kind) {
      case 'set':
        return classSource(node.ranges)
      case 'sequence':
        return node.parts.map((part) => this.emit(part)).join('')
      case 'choice':
        return `(?:${node.options.map((option) => this.emit(option)).join('|')})`
      case 'group':
        // The groups of atomic parts are between those of the pattern, so all have names.
        return `(${this.#captures ? `?<g${node.index}>` : '?:'}${this.emit(node.node)})`
      case 'repeat':
        return this.#repeat(node)
      case 'reference':
        return `\\k<${typeof node.to === 'number' ? `g${node.to}` : this.#named(node.to)}>`
      case 'assert':
        return assertionSource(node.what, this.#options)
      case 'look':
        return `(?${node.isAhead ? '' : '<'}${node.isNegative ? '!' : '='}${this.emit(node.node)})`
      case 'atomic':
        return this.#atomic(this.emit(node.node))
      case 'keep': {
        const name = `keep${this.keeps.length}`
        this.keeps.push(name)
        return `(?<${name}>)`
      }
    }
  }

  #named(name: string): string {
    const index = this.#names.get(name)
    if (index === undefined) throw new BadPattern('reference to non-existent subpattern')
    return `g${index}`
  }

  #repeat({ node, min, max, mode }: Extract<RegexNode, { kind: 'repeat' }>): string {
    const count = `{${min},${max === Number.POSITIVE_INFINITY ? '' : max}}`
    const source = `(?:${this.emit(node)})${count}${mode === 'lazy' ? '?' : ''}`
    return mode === 'possessive' ? this.#atomic(source) : source
  }

  /** A lookahead never gives back what it has matched. */
  #atomic(source: string): string {
    const name = `atomic${this.#atomics++}`
    return `(?=(?<${name}>${source}))\\k<${name}>`
  }
}

export function assertionSource(what: Assertion, options: JavascriptOptions): string {
  const word = classSource(options.word)
  const { separator } = options
  const edge = classSource(separator === null ? [10, 10] : [separator, separator])
  const sources: Record<Assertion, string> = {
    lineStart: `(?<=^|${edge})`,
    lineEnd: `(?=$|${edge})`,
    boundary: `(?:(?<!${word})(?=${word})|(?<=${word})(?!${word}))`,
    notBoundary: `(?:(?<!${word})(?!${word})|(?<=${word})(?=${word}))`,
    wordStart: `(?<!${word})(?=${word})`,
    wordEnd: `(?<=${word})(?!${word})`,
    notAfterWord: `(?<!${word})`,
    notBeforeWord: `(?!${word})`,
  }
  return sources[what]
}

type GroupNode = Extract<RegexNode, { kind: 'group' }>

export function groupsOf(node: RegexNode): GroupNode[] {
  return [...(node.kind === 'group' ? [node] : []), ...childrenOf(node).flatMap(groupsOf)]
}

export function classSource(ranges: Ranges): string {
  const code = (at: number) => `\\u{${(ranges[at] ?? 0).toString(16)}}`
  let source = ''
  for (let i = 0; i < ranges.length; i += 2) {
    source += ranges[i] === ranges[i + 1] ? code(i) : `${code(i)}-${code(i + 1)}`
  }
  return ranges.length === 2 && ranges[0] === ranges[1] ? source : `[${source}]`
}

/** The fixed number of characters of a node; null if it depends on the text. */
export function fixedLength(node: RegexNode): number | null {
  switch (node.kind) {
    case 'set':
      return 1
    case 'assert':
    case 'look':
    case 'keep':
      return 0
    case 'reference':
      return null
    case 'repeat': {
      const one = fixedLength(node.node)
      return one === null || node.min !== node.max ? null : one * node.min
    }
    case 'choice': {
      const lengths = new Set(node.options.map(fixedLength))
      return lengths.size === 1 ? ([...lengths][0] ?? null) : null
    }
    default: {
      let sum = 0
      for (const child of childrenOf(node)) {
        const length = fixedLength(child)
        if (length === null) return null
        sum += length
      }
      return sum
    }
  }
}
