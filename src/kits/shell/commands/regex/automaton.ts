// Runs the steps of a pattern over a text in parallel; the transitions of sets of steps by character class are cached,
// so that a character usually needs one table lookup. The time is proportional to the length of the text.

import { Alphabet, EDGE, WORD } from './alphabet.ts'
import type { Program } from './program.ts'
import type { Assertion, Ranges } from './syntax.ts'

interface State {
  steps: readonly number[]
  /** The kind of the previous character. */
  before: number
}

export interface AutomatonOptions {
  word: Ranges
  separator: number
  /** A match may start at every position, not only at the first. */
  isSearch: boolean
  isBackwards: boolean
}

const UNKNOWN = -1
/** Beyond this number, the cache is cleared: texts that need more are rare, and the table uses memory. */
const MAX_CELLS = 2_000_000

export class Automaton {
  readonly #program: Program
  readonly #options: AutomatonOptions
  readonly #alphabet: Alphabet
  readonly #units: Uint16Array
  #states: State[] = []
  #known = new Map<string, number>()
  /** By state and class: the next state doubled, odd if a match ends before the character. */
  #table = new Int32Array(0)

  constructor(program: Program, options: AutomatonOptions) {
    this.#program = program
    this.#options = options
    const sets = program.steps.flatMap((step) => (step.kind === 'set' ? [step.ranges] : []))
    // Word characters must be distinguished only if the pattern has word assertions.
    const asksForWords = program.steps.some((step) => step.kind === 'assert' && !step.what.startsWith('line'))
    this.#alphabet = new Alphabet(sets, asksForWords ? options.word : [], options.separator)
    this.#units = this.#alphabet.units
    this.#forget()
  }

  /** A position in the first record with a match, from `from` on (the start of a record); -1 if there is none before `to`. */
  search(text: string, from: number, to: number): number {
    const units = this.#units
    const size = this.#alphabet.size
    let table = this.#table
    let state = 0
    for (let i = from; i < to; i++) {
      const unit = text.charCodeAt(i)
      let next = table[state * size + (units[unit] ?? 0)] ?? UNKNOWN
      const isPair = (unit & 0xfc00) === 0xd800 && i + 1 < to && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
      if (isPair || next === UNKNOWN) {
        const [reached, stateNow] = this.#move(
          state,
          isPair ? this.#alphabet.classBeyond(text.codePointAt(i) ?? 0) : (units[unit] ?? 0),
        )
        next = reached
        state = stateNow
        table = this.#table
        if (isPair && (next & 1) === 0) i++
      }
      if ((next & 1) === 1) return i
      state = next >> 1
    }
    return (this.#move(state, this.#alphabet.separatorClass)[0] & 1) === 1 ? to : -1
  }

  /** The end of the longest match that starts at this position, within the record that ends at `to`; -1 if there is none. */
  longest(text: string, at: number, { from, to }: { from: number; to: number }): number {
    let state = this.#stateAfter(at === from ? EDGE : this.#alphabet.kindOf(this.#classBefore(text, at)))
    let end = -1
    for (let i = at; i < to; ) {
      const code = text.codePointAt(i) ?? 0
      const length = code > 0xffff && i + 1 < to ? 2 : 1
      const [next] = this.#move(
        state,
        length === 2 ? this.#alphabet.classBeyond(code) : (this.#units[text.charCodeAt(i)] ?? 0),
      )
      if ((next & 1) === 1) end = i
      state = next >> 1
      if (this.#states[state]?.steps.length === 0) return end
      i += length
    }
    return (this.#move(state, this.#alphabet.separatorClass)[0] & 1) === 1 ? to : end
  }

  /** For a backward search: each position of the record at which a match starts. */
  starts(text: string, { from, to }: { from: number; to: number }): Set<number> {
    const found = new Set<number>()
    let state = 0
    for (let i = to; i > from; ) {
      const characterClass = this.#classBefore(text, i)
      const [next] = this.#move(state, characterClass)
      if ((next & 1) === 1) found.add(i)
      state = next >> 1
      i -= isPairBefore(text, i) ? 2 : 1
    }
    if ((this.#move(state, this.#alphabet.separatorClass)[0] & 1) === 1) found.add(from)
    return found
  }

  #classBefore(text: string, at: number): number {
    return isPairBefore(text, at)
      ? this.#alphabet.classBeyond(text.codePointAt(at - 2) ?? 0)
      : (this.#units[text.charCodeAt(at - 1)] ?? 0)
  }

  #forget(): void {
    this.#states = []
    this.#known = new Map()
    this.#table = new Int32Array(64 * this.#alphabet.size).fill(UNKNOWN)
    this.#stateAfter(EDGE)
  }

  #stateAfter(before: number): number {
    return this.#state([this.#program.start], before)
  }

  #state(steps: readonly number[], before: number): number {
    const key = `${before}:${steps.join(',')}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const state = this.#states.push({ steps, before }) - 1
    this.#known.set(key, state)
    const { size } = this.#alphabet
    if ((state + 1) * size > this.#table.length) {
      const larger = new Int32Array(2 * this.#table.length + size).fill(UNKNOWN)
      larger.set(this.#table)
      this.#table = larger
    }
    return state
  }

  /** The cell of the table, and the number of the state after a possible clearing of the table. */
  #move(from: number, characterClass: number): readonly [number, number] {
    const { size } = this.#alphabet
    const known = this.#table[from * size + characterClass] ?? UNKNOWN
    if (known !== UNKNOWN) return [known, from]
    let state = from
    if (this.#states.length * size > MAX_CELLS) {
      const { steps, before } = this.#states[from] ?? { steps: [], before: EDGE }
      this.#forget()
      state = this.#state(steps, before)
    }
    const { steps, before } = this.#states[state] ?? { steps: [], before: EDGE }
    const kind = this.#alphabet.kindOf(characterClass)
    const reached = this.#closure(steps, before, kind)
    const isMatch = reached.has(0)
    const next =
      characterClass === this.#alphabet.separatorClass
        ? this.#stateAfter(EDGE)
        : this.#state(this.#after(reached, characterClass), kind)
    const cell = 2 * next + (isMatch ? 1 : 0)
    this.#table[state * size + characterClass] = cell
    return [cell, state]
  }

  #after(reached: ReadonlySet<number>, characterClass: number): number[] {
    const next = new Set<number>(this.#options.isSearch ? [this.#program.start] : [])
    for (const at of reached) {
      const step = this.#program.steps[at]
      if (step?.kind === 'set' && this.#alphabet.isIn(characterClass, step.ranges)) next.add(step.next)
    }
    return [...next].sort((a, b) => a - b)
  }

  /** All steps that can be reached without reading, between characters of the two kinds. */
  #closure(steps: readonly number[], before: number, after: number): Set<number> {
    const reached = new Set<number>()
    const open = [...steps]
    const [left, right] = this.#options.isBackwards ? [after, before] : [before, after]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached.has(at)) continue
      reached.add(at)
      const step = this.#program.steps[at]
      if (step?.kind === 'split') open.push(step.first, step.second)
      else if (step?.kind === 'assert' && holds(step.what, left, right)) open.push(step.next)
    }
    return reached
  }
}

function isPairBefore(text: string, at: number): boolean {
  return at > 1 && (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800
}

function holds(what: Assertion, before: number, after: number): boolean {
  switch (what) {
    case 'lineStart':
      return before === EDGE
    case 'lineEnd':
      return after === EDGE
    case 'boundary':
      return (before === WORD) !== (after === WORD)
    case 'notBoundary':
      return (before === WORD) === (after === WORD)
    case 'wordStart':
      return before !== WORD && after === WORD
    case 'wordEnd':
      return before === WORD && after !== WORD
    case 'notAfterWord':
      return before !== WORD
    case 'notBeforeWord':
      return after !== WORD
  }
}
