// A pattern as a list of steps for an automaton (Thompson's construction): a few at most for each character of the
// pattern, so that the time is proportional to the text for any pattern.

import { type Assertion, BadPattern, type Ranges, type RegexNode, someNode } from './syntax.ts'

export type Step =
  | { kind: 'set'; ranges: Ranges; next: number }
  | { kind: 'split'; first: number; second: number }
  | { kind: 'assert'; what: Assertion; next: number }
  | { kind: 'accept' }

export interface Program {
  steps: Step[]
  start: number
}

/** Counts multiply their contents. */
const MAX_STEPS = 100_000

/** Whether an automaton can run the pattern: without lookaround and backreferences. */
export function isRegular(node: RegexNode): boolean {
  return !someNode(node, (one) => {
    if (one.kind === 'repeat') return one.mode === 'possessive'
    return one.kind === 'reference' || one.kind === 'look' || one.kind === 'atomic' || one.kind === 'keep'
  })
}

/** With `backwards`, for a text that is read from its end. */
export function compile(node: RegexNode, backwards: boolean): Program {
  return new Construction(backwards).program(node)
}

/** Each node is built before its following step, and is represented by its own first step. */
class Construction {
  readonly #steps: Step[] = [{ kind: 'accept' }]
  readonly #backwards: boolean

  constructor(backwards: boolean) {
    this.#backwards = backwards
  }

  program(node: RegexNode): Program {
    return { start: this.#build(node, 0), steps: this.#steps }
  }

  #add(step: Step): number {
    if (this.#steps.length >= MAX_STEPS) throw new BadPattern('Regular expression too big')
    return this.#steps.push(step) - 1
  }

  #build(one: RegexNode, next: number): number {
    switch (one.kind) {
      case 'set':
        return this.#add({ kind: 'set', ranges: one.ranges, next })
      case 'assert':
        return this.#add({ kind: 'assert', what: one.what, next })
      case 'group':
        return this.#build(one.node, next)
      case 'sequence': {
        const parts = this.#backwards ? one.parts : one.parts.toReversed()
        return parts.reduce((end, part) => this.#build(part, end), next)
      }
      case 'choice':
        return one.options
          .map((option) => this.#build(option, next))
          .reduceRight((second, first) => this.#add({ kind: 'split', first, second }))
      case 'repeat':
        return this.#repeated(one, next)
      default:
        throw new Error(`no automaton has a ${one.kind}`)
    }
  }

  #repeated({ node, min, max }: Extract<RegexNode, { kind: 'repeat' }>, next: number): number {
    let end = max === min ? next : this.#atMost(node, max - min, next)
    for (let i = 0; i < min; i++) end = this.#build(node, end)
    return end
  }

  #atMost(node: RegexNode, max: number, next: number): number {
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#add({ kind: 'split', first: 0, second: next })
      this.#steps[loop] = { kind: 'split', first: this.#build(node, loop), second: next }
      return loop
    }
    let end = next
    for (let i = 0; i < max; i++) end = this.#add({ kind: 'split', first: this.#build(node, end), second: next })
    return end
  }
}
