// A pattern as a list of steps for an automaton (Thompson's construction): at most a few for each character of the
// pattern, so that what they do to a text takes time in proportion to it, whatever the pattern.

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

/** Counts multiply what is inside of them. */
const MAX_STEPS = 100_000

/** Whether the pattern is one for an automaton: without what looks around or back. */
export function isRegular(node: RegexNode): boolean {
  return !someNode(node, (one) => {
    if (one.kind === 'repeat') return one.mode === 'possessive'
    return one.kind === 'reference' || one.kind === 'look' || one.kind === 'atomic' || one.kind === 'keep'
  })
}

/** With `backwards`, for a text that is read from its end. */
export function compile(node: RegexNode, backwards: boolean): Program {
  const steps: Step[] = [{ kind: 'accept' }]
  const add = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw new BadPattern('Regular expression too big')
    return steps.push(step) - 1
  }
  const many = (one: RegexNode, max: number, next: number): number => {
    if (max === Number.POSITIVE_INFINITY) {
      const loop = add({ kind: 'split', first: 0, second: next })
      steps[loop] = { kind: 'split', first: build(one, loop), second: next }
      return loop
    }
    let end = next
    for (let i = 0; i < max; i++) end = add({ kind: 'split', first: build(one, end), second: next })
    return end
  }
  const repeated = ({ node: inner, min, max }: Extract<RegexNode, { kind: 'repeat' }>, next: number): number => {
    let end = max === min ? next : many(inner, max - min, next)
    for (let i = 0; i < min; i++) end = build(inner, end)
    return end
  }
  const build = (one: RegexNode, next: number): number => {
    switch (one.kind) {
      case 'set':
        return add({ kind: 'set', ranges: one.ranges, next })
      case 'assert':
        return add({ kind: 'assert', what: one.what, next })
      case 'group':
        return build(one.node, next)
      case 'sequence':
        return (backwards ? one.parts : one.parts.toReversed()).reduce((end, part) => build(part, end), next)
      case 'choice':
        return one.options
          .map((option) => build(option, next))
          .reduceRight((second, first) => add({ kind: 'split', first, second }))
      case 'repeat':
        return repeated(one, next)
      default:
        throw new Error(`no automaton has a ${one.kind}`)
    }
  }
  return { steps, start: build(node, 0) }
}
