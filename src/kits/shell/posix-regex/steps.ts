// Compiles an expression to a list of steps, for our own matching engines.

import { placeSource } from './javascript.ts'
import { type Regex, RegexError } from './syntax.ts'

export type Step =
  | { kind: 'one'; test: (char: string) => boolean }
  | { kind: 'split'; first: number; second: number }
  | { kind: 'jump'; to: number }
  | { kind: 'save'; slot: number }
  | { kind: 'place'; test: RegExp }
  | { kind: 'reference'; index: number }
  | { kind: 'match' }

/** The starts and ends of the match and its groups, -1 for a group that did not take part. */
export type Slots = readonly number[]

const MAX_STEPS = 50_000

export interface StepOptions {
  groups: number
  ignoreCase: boolean
  multiline: boolean
}

export function stepsOf(tree: Regex, options: StepOptions): Step[] {
  return new Construction(options).steps(tree)
}

class Construction {
  readonly #steps: Step[] = []
  readonly #options: StepOptions

  constructor(options: StepOptions) {
    this.#options = options
  }

  steps(tree: Regex): Step[] {
    this.#add({ kind: 'save', slot: 0 })
    this.#compile(tree)
    this.#add({ kind: 'save', slot: 1 })
    this.#add({ kind: 'match' })
    return this.#steps
  }

  #compile(tree: Regex): void {
    switch (tree.kind) {
      case 'one':
        this.#add({ kind: 'one', test: tester(tree.source, tree.literal, this.#options.ignoreCase) })
        break
      case 'place':
        this.#add({ kind: 'place', test: new RegExp(placeSource(tree.place, this.#options.multiline), 'uy') })
        break
      case 'look':
        this.#add({ kind: 'place', test: new RegExp(tree.source, 'uy') })
        break
      case 'group':
        this.#add({ kind: 'save', slot: tree.index * 2 })
        this.#compile(tree.part)
        this.#add({ kind: 'save', slot: tree.index * 2 + 1 })
        break
      case 'sequence':
        for (const part of tree.parts) this.#compile(part)
        break
      case 'choice':
        this.#compileChoice(tree.options)
        break
      case 'repeat':
        this.#compileRepeat(tree)
        break
      case 'back-reference':
        this.#add({ kind: 'reference', index: tree.index })
    }
  }

  #compileChoice(options: readonly Regex[]): void {
    const ends: { kind: 'jump'; to: number }[] = []
    options.forEach((option, i) => {
      if (i === options.length - 1) {
        this.#compile(option)
        return
      }
      const split = { kind: 'split' as const, first: this.#steps.length + 1, second: 0 }
      this.#add(split)
      this.#compile(option)
      const end = { kind: 'jump' as const, to: 0 }
      ends.push(end)
      this.#add(end)
      split.second = this.#steps.length
    })
    for (const end of ends) end.to = this.#steps.length
  }

  #compileRepeat({ part, min, max }: Extract<Regex, { kind: 'repeat' }>): void {
    for (let i = 0; i < min; i++) this.#compile(part)
    if (max === Number.POSITIVE_INFINITY) {
      const split = { kind: 'split' as const, first: this.#steps.length + 1, second: 0 }
      const start = this.#steps.length
      this.#add(split)
      this.#compile(part)
      this.#add({ kind: 'jump', to: start })
      split.second = this.#steps.length
      return
    }
    const splits: { kind: 'split'; first: number; second: number }[] = []
    for (let i = min; i < max; i++) {
      const split = { kind: 'split' as const, first: this.#steps.length + 1, second: 0 }
      splits.push(split)
      this.#add(split)
      this.#compile(part)
    }
    for (const split of splits) split.second = this.#steps.length
  }

  #add(step: Step): void {
    if (this.#steps.length >= MAX_STEPS) throw new RegexError('Regular expression too big')
    this.#steps.push(step)
  }
}

/** Caches its results, because texts repeat few characters. */
function tester(source: string, literal: string | null, ignoreCase: boolean): (char: string) => boolean {
  if (literal !== null && !ignoreCase) return (char) => char === literal
  const regex = new RegExp(`^${source}$`, ignoreCase ? 'ui' : 'u')
  const known = new Map<string, boolean>()
  return (char) => {
    const before = known.get(char)
    if (before !== undefined) return before
    const answer = regex.test(char)
    if (known.size < 4096) known.set(char, answer)
    return answer
  }
}
