// Matches expressions with backreferences. A reference to a group that took no part fails. POSIX wants the longest of the
// matches that begin at one position, so all paths are tried. A step at the same position with the same groups is tried once.

import { type Slots, type Step, type StepOptions, stepsOf } from './steps.ts'
import { type Regex, RegexError } from './syntax.ts'

/** The limit of tries for one text: a fixed number, and a number for each character. */
const MAX_TRIES = 3_000_000
const MAX_TRIES_PER_LETTER = 200
/** The limit of remembered states for one start. */
const MAX_KNOWN = 300_000

type Thread = { step: number; at: number; slots: Slots }

export class Backtracker {
  readonly #steps: readonly Step[]
  readonly #none: Slots
  readonly #ignoreCase: boolean
  /** The groups with a reference to them; other groups cannot change the result. */
  readonly #referred: readonly number[]
  #triesLeft = 0

  constructor(tree: Regex, options: StepOptions) {
    this.#steps = stepsOf(tree, options)
    this.#none = new Array<number>((options.groups + 1) * 2).fill(-1)
    this.#ignoreCase = options.ignoreCase
    this.#referred = [...new Set(this.#steps.flatMap((step) => (step.kind === 'reference' ? [step.index] : [])))]
  }

  /** The leftmost longest match that begins at `from` or later. */
  exec(text: string, from: number): Slots | null {
    this.#triesLeft = MAX_TRIES + MAX_TRIES_PER_LETTER * (text.length - from)
    for (let at = from; at <= text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
      const found = this.#longest(text, at)
      if (found) return found
    }
    return null
  }

  /** The longest match that begins at `at`; of equally long matches the one that is found first. */
  at(text: string, at: number): Slots | null {
    this.#triesLeft = MAX_TRIES
    return this.#longest(text, at)
  }

  #longest(text: string, start: number): Slots | null {
    const known = new Set<string>()
    const waiting: Thread[] = [{ step: 0, at: start, slots: this.#none }]
    let best: Slots | null = null
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      const kind = this.#steps[thread.step]?.kind
      if (kind === 'match' && (best === null || (thread.slots[1] ?? 0) > (best[1] ?? 0))) best = thread.slots
      if (best !== null && best[1] === text.length) return best
      if (kind === 'split' && this.#isKnown(thread, known)) continue
      this.#advance(thread, text, waiting)
    }
    return best
  }

  #isKnown({ step, at, slots }: Thread, known: Set<string>): boolean {
    if (--this.#triesLeft < 0 || known.size > MAX_KNOWN) throw new RegexError('Regular expression too big')
    const key = `${step},${at},${this.#referred.map((index) => `${slots[index * 2]},${slots[index * 2 + 1]}`).join()}`
    if (known.has(key)) return true
    known.add(key)
    return false
  }

  /** The thread to try first is pushed last. */
  #advance({ step, at, slots }: Thread, text: string, waiting: Thread[]): void {
    const here = this.#steps[step]
    const next = step + 1
    switch (here?.kind) {
      case 'one': {
        const char = at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : ''
        if (char !== '' && here.test(char)) waiting.push({ step: next, at: at + char.length, slots })
        break
      }
      case 'jump':
        waiting.push({ step: here.to, at, slots })
        break
      case 'split':
        waiting.push({ step: here.second, at, slots }, { step: here.first, at, slots })
        break
      case 'save':
        waiting.push({ step: next, at, slots: slots.with(here.slot, at) })
        break
      case 'place':
        here.test.lastIndex = at
        if (here.test.test(text)) waiting.push({ step: next, at, slots })
        break
      case 'reference': {
        const length = this.#repeated(here.index, { at, slots }, text)
        if (length >= 0) waiting.push({ step: next, at: at + length, slots })
      }
    }
  }

  /** The length of the group's text if the same text is at `at`; else -1. */
  #repeated(index: number, { at, slots }: { at: number; slots: Slots }, text: string): number {
    const [from = -1, to = -1] = slots.slice(index * 2, index * 2 + 2)
    if (from < 0 || to < from) return -1
    const [before, here] = [text.slice(from, to), text.slice(at, at + to - from)]
    const isAlike = before === here || (this.#ignoreCase && before.toLowerCase() === here.toLowerCase())
    return isAlike ? to - from : -1
  }
}

/** Whether each referenced group always has a match before its reference, also in every round of a repetition. */
export function refersSurely(tree: Regex): boolean {
  return sureGroups(tree, new Set()) !== null
}

/** The groups that surely have a match after `tree`; null if a reference is to any other group. */
function sureGroups(tree: Regex, before: ReadonlySet<number>): ReadonlySet<number> | null {
  switch (tree.kind) {
    case 'back-reference':
      return before.has(tree.index) ? before : null
    case 'group': {
      const inside = sureGroups(tree.part, before)
      return inside && new Set([...inside, tree.index])
    }
    case 'repeat': {
      const inside = sureGroups(tree.part, before)
      return inside && tree.min === 0 ? before : inside
    }
    case 'sequence':
      return tree.parts.reduce<ReadonlySet<number> | null>((sure, part) => sure && sureGroups(part, sure), before)
    case 'choice': {
      const found = tree.options.map((option) => sureGroups(option, before))
      return found.reduce((all, one) => all && one && inBoth(all, one))
    }
    default:
      return before
  }
}

function inBoth(a: ReadonlySet<number>, b: ReadonlySet<number>): ReadonlySet<number> {
  return new Set([...a].filter((index) => b.has(index)))
}
