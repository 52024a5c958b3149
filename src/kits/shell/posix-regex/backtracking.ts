// Expressions that refer back to their groups. A group that took no part matches nothing at all, and of the matches that begin
// at one place the longest is wanted, whatever it takes: all ways are tried, each place of one with the same groups but once.

import { type Slots, type Step, type StepOptions, stepsOf } from './steps.ts'
import { type Regex, RegexError } from './syntax.ts'

/** Ways through one text, and as many more for each of its letters. */
const MAX_TRIES = 3_000_000
const MAX_TRIES_PER_LETTER = 200
/** Places that are remembered for one start. */
const MAX_KNOWN = 300_000

type Thread = { step: number; at: number; slots: Slots }

export class Backtracker {
  readonly #steps: readonly Step[]
  readonly #none: Slots
  readonly #ignoreCase: boolean
  /** The groups that are referred to; others make no difference. */
  readonly #referred: readonly number[]
  #triesLeft = 0

  constructor(tree: Regex, options: StepOptions) {
    this.#steps = stepsOf(tree, options)
    this.#none = new Array<number>((options.groups + 1) * 2).fill(-1)
    this.#ignoreCase = options.ignoreCase
    this.#referred = [...new Set(this.#steps.flatMap((step) => (step.kind === 'reference' ? [step.index] : [])))]
  }

  /** The leftmost longest match that begins at `from` or behind it. */
  exec(text: string, from: number): Slots | null {
    this.#triesLeft = MAX_TRIES + MAX_TRIES_PER_LETTER * (text.length - from)
    for (let at = from; at <= text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
      const found = this.#longest(text, at)
      if (found) return found
    }
    return null
  }

  /** Of those that begin at the place; of equally long ones the first that is come to. */
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

  /** The way that is to be tried first comes last. */
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

  /** How long what the group found is, where it stands at the place again; else -1. */
  #repeated(index: number, { at, slots }: { at: number; slots: Slots }, text: string): number {
    const [from = -1, to = -1] = slots.slice(index * 2, index * 2 + 2)
    if (from < 0 || to < from) return -1
    const [before, here] = [text.slice(from, to), text.slice(at, at + to - from)]
    const isAlike = before === here || (this.#ignoreCase && before.toLowerCase() === here.toLowerCase())
    return isAlike ? to - from : -1
  }
}

/** Whether each group that is referred to has always found something by then, in this round of a repetition too. */
export function refersSurely(tree: Regex): boolean {
  return sureGroups(tree, new Set()) !== null
}

/** The groups that have surely found something behind it; null when a reference is to another. */
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
