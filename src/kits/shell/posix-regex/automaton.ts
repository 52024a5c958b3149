// Matches in linear time: all ways through the expression are followed in parallel, character by character. The result
// is the longest of the leftmost matches; among equally long ones, the groups are those of the way that repeats earlier
// parts most.

import { type Slots, type Step, type StepOptions, stepsOf } from './steps.ts'
import type { Regex } from './syntax.ts'

type Thread = { step: number; slots: Slots }

export class Automaton {
  readonly #steps: readonly Step[]
  readonly #options: StepOptions
  /** The last iteration in which a step was reached, so that no step is reached twice in one. */
  readonly #reached: Int32Array
  #round = 0

  constructor(tree: Regex, options: StepOptions) {
    this.#options = options
    this.#steps = stepsOf(tree, options)
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
