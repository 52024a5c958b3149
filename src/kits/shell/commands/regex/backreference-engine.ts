// A GNU pattern with backreferences, with the same methods as the runtime's own RegExp; it finds the leftmost longest match.

import { Backtracker, refersSurely } from '../../posix-regex/backtracking.ts'
import type { Slots } from '../../posix-regex/steps.ts'
import { type Regex, RegexError } from '../../posix-regex/syntax.ts'
import { couldBeEndless } from './endless.ts'
import { BadPattern, type RegexNode } from './syntax.ts'
import {
  assertionSource,
  classSource,
  groupsOf,
  type JavascriptOptions,
  type PatternEngine,
  toJavascript,
} from './to-javascript.ts'

export class BackreferenceEngine implements PatternEngine {
  lastIndex = 0
  readonly #backtracker: Backtracker
  /** Finds the start of a match, if the runtime's engine surely finds the same start, and in bounded time. */
  readonly #finder: PatternEngine | null

  constructor(node: RegexNode, options: JavascriptOptions) {
    const groups = Math.max(0, ...groupsOf(node).map(({ index }) => index))
    const tree = regexOf(node, options)
    this.#backtracker = new Backtracker(tree, { groups, ignoreCase: options.ignoresCase, multiline: false })
    this.#finder = refersSurely(tree) && !couldBeEndless(node) ? toJavascript(node, options).expression : null
  }

  exec(text: string): RegExpExecArray | null {
    const slots = this.#found(text)
    if (!slots) return null
    const [index = 0, end = 0] = slots
    return Object.assign([text.slice(index, end)] as [string], { index, input: text })
  }

  #found(text: string): Slots | null {
    try {
      if (this.#finder) {
        this.#finder.lastIndex = this.lastIndex
        const found = this.#finder.exec(text)
        return found && this.#backtracker.at(text, found.index)
      }
      return this.#backtracker.exec(text, this.lastIndex)
    } catch (error) {
      throw error instanceof RegexError ? new BadPattern(error.message) : error
    }
  }
}

function regexOf(node: RegexNode, options: JavascriptOptions): Regex {
  const of = (one: RegexNode) => regexOf(one, options)
  switch (node.kind) {
    case 'set':
      return { kind: 'one', source: classSource(node.ranges), literal: null }
    case 'sequence':
      return { kind: 'sequence', parts: node.parts.map(of) }
    case 'choice':
      return { kind: 'choice', options: node.options.map(of) }
    case 'repeat':
      return { kind: 'repeat', part: of(node.node), min: node.min, max: node.max }
    case 'group':
      return { kind: 'group', part: of(node.node), index: node.index }
    case 'assert':
      return { kind: 'look', source: assertionSource(node.what, options) }
    case 'reference':
      return { kind: 'back-reference', index: Number(node.to) }
    default:
      throw new Error(`GNU's expressions have no ${node.kind}`)
  }
}
