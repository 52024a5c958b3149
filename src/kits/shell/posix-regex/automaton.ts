// Matches in linear time: all ways through the expression are followed in parallel, character by character. The result
// is the longest of the leftmost matches; among equally long ones, the groups are those of the way that repeats earlier
// parts most.

import { placeSource } from './javascript.ts'
import { type Regex, RegexError } from './syntax.ts'

type Step =
  | { kind: 'one'; test: (char: string) => boolean }
  | { kind: 'split'; first: number; second: number }
  | { kind: 'jump'; to: number }
  | { kind: 'save'; slot: number }
  | { kind: 'place'; test: RegExp }
  | { kind: 'match' }

/** The starts and ends of the match and its groups, -1 for a group that did not take part. */
export type Slots = readonly number[]

type Thread = { step: number; slots: Slots }

const MAX_STEPS = 50_000

export interface AutomatonOptions {
  groups: number
  ignoreCase: boolean
  multiline: boolean
}

export class Automaton {
  readonly #steps: Step[] = []
  readonly #options: AutomatonOptions
  /** The last iteration in which a step was reached, so that no step is reached twice in one. */
  readonly #reached: Int32Array
  #round = 0

  constructor(tree: Regex, options: AutomatonOptions) {
    this.#options = options
    this.#add({ kind: 'save', slot: 0 })
    this.#compile(tree)
    this.#add({ kind: 'save', slot: 1 })
    this.#add({ kind: 'match' })
    this.#reached = new Int32Array(this.#steps.length).fill(-1)
    this.#round = 0
  }

  /** The leftmost longest match that starts at `from` or after it. */
  exec(text: string, from: number): Slots | null {
    const none: Slots = new Array<number>((this.#options.groups + 1) * 2).fill(-1)
    let best: Slots | null = null
    let threads: Thread[] = []
    for (let at = from; ; ) {
      this.#round++
      const next: Thread[] = []
      for (const thread of threads) this.#follow(thread, { text, at, into: next })
      if (best === null) this.#follow({ step: 0, slots: none }, { text, at, into: next })
      best = longest(best, next, this.#steps)
      if (at >= text.length || (best !== null && next.length === 0)) return best
      const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
      threads = this.#advance(next, char, best)
      at += char.length
    }
  }

  #advance(threads: readonly Thread[], char: string, best: Slots | null): Thread[] {
    const next: Thread[] = []
    for (const { step, slots } of threads) {
      const at = this.#steps[step]
      if (at?.kind !== 'one' || (best !== null && (slots[0] ?? 0) > (best[0] ?? 0))) continue
      if (at.test(char)) next.push({ step: step + 1, slots })
    }
    return next
  }

  /** Adds every step that waits for a character, in the order of preference. */
  #follow(start: Thread, place: { text: string; at: number; into: Thread[] }): void {
    const waiting = [start]
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      const { step, slots } = thread
      if (this.#reached[step] === this.#round) continue
      this.#reached[step] = this.#round
      const at = this.#steps[step]
      if (at?.kind === 'jump') waiting.push({ step: at.to, slots })
      else if (at?.kind === 'split') waiting.push({ step: at.second, slots }, { step: at.first, slots })
      else if (at?.kind === 'save') waiting.push({ step: step + 1, slots: slots.with(at.slot, place.at) })
      else if (at?.kind === 'place') {
        at.test.lastIndex = place.at
        if (at.test.test(place.text)) waiting.push({ step: step + 1, slots })
      } else place.into.push(thread)
    }
  }

  #compile(tree: Regex): void {
    switch (tree.kind) {
      case 'one':
        this.#add({ kind: 'one', test: tester(tree.source, tree.literal, this.#options.ignoreCase) })
        break
      case 'place':
        this.#add({ kind: 'place', test: new RegExp(placeSource(tree.place, this.#options.multiline), 'uy') })
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
        throw new RegexError('a back reference has no automaton')
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

function longest(best: Slots | null, threads: readonly Thread[], steps: readonly Step[]): Slots | null {
  let found = best
  for (const { step, slots } of threads) {
    if (steps[step]?.kind !== 'match') continue
    const [start = 0, end = 0] = slots
    const [bestStart = 0, bestEnd = 0] = found ?? []
    if (found === null || start < bestStart || (start === bestStart && end > bestEnd)) found = slots
  }
  return found
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
