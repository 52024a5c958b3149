// POSIX regular expressions: the match furthest to the left, and of those that begin there the longest. JavaScript's own engine
// does the work wherever it is sure to find the same and to find it in time; the automaton does the rest.

import { type Ambiguity, ambiguityOf } from './ambiguity.ts'
import { Automaton } from './automaton.ts'
import { Backtracker, refersSurely } from './backtracking.ts'
import { AWK_ESCAPES, PLAIN_ESCAPES, SED_ESCAPES } from './escapes.ts'
import { sourceOf } from './javascript.ts'
import { parseRegex } from './parse.ts'
import type { Slots } from './steps.ts'
import type { Dialect, Regex } from './syntax.ts'

export interface RegexOptions {
  ignoreCase?: boolean
  /** `^` and `$` stand at the lines of the text as well. */
  multiline?: boolean
}

/** Steps that JavaScript's engine may take in the worst case: it cannot be stopped. */
const MAX_WORST_STEPS = 1e9

const SED = { escapes: SED_ESCAPES, isStrict: true, takesLooseEnds: false, keepsGroups: true }
export const SED_BASIC: Dialect = { ...SED, extended: false }
export const SED_EXTENDED: Dialect = { ...SED, extended: true }
/** As the library has it: a letter behind a backslash stands for no control character. */
export const PLAIN_EXTENDED: Dialect = { ...SED_EXTENDED, escapes: PLAIN_ESCAPES, takesLooseEnds: true }
/** Of `expr` and its like, which take any repetition. */
export const PLAIN_BASIC: Dialect = { ...SED_BASIC, escapes: PLAIN_ESCAPES, isStrict: false }
export const AWK: Dialect = {
  extended: true,
  escapes: AWK_ESCAPES,
  isStrict: false,
  takesLooseEnds: false,
  keepsGroups: false,
}

export class PosixRegex {
  /** How many groups the expression has. */
  readonly groups: number
  /** Where the last match began and ended, and its groups, -1 for one that took no part. */
  slots: Slots = []
  readonly #tree: Regex
  readonly #options: Required<RegexOptions>
  readonly #ambiguity: Ambiguity
  readonly #source: string
  readonly #finder: RegExp
  /** An automaton cannot follow references; null where there are none. */
  readonly #backtracker: Backtracker | null
  /** Whether JavaScript's engine finds the places where a match begins, and finds them in time. */
  readonly #isFound: boolean
  readonly #keepsGroups: boolean
  #placer: RegExp | null = null
  #automaton: Automaton | null = null

  /** Throws `RegexError` for what is no expression. */
  constructor(source: string, dialect: Dialect, { ignoreCase = false, multiline = false }: RegexOptions = {}) {
    const { tree, groups, hasReferences } = parseRegex(source, dialect)
    this.groups = groups
    this.#tree = tree
    this.#options = { ignoreCase, multiline }
    this.#ambiguity = ambiguityOf(tree)
    this.#source = sourceOf(tree, multiline)
    this.#backtracker = hasReferences ? new Backtracker(tree, { groups, ignoreCase, multiline }) : null
    this.#isFound = this.#ambiguity.degree < Number.POSITIVE_INFINITY && refersSurely(tree)
    this.#keepsGroups = dialect.keepsGroups && groups > 0
    this.#finder = new RegExp(this.#source, ignoreCase ? 'uig' : 'ug')
  }

  /** Whether the text matches anywhere. */
  test(text: string): boolean {
    if (this.#backtracker && !this.#isFound) return this.#backtracker.exec(text, 0) !== null
    if (!this.#isInTime(text)) return this.#exact(text, 0) !== null
    this.#finder.lastIndex = 0
    return this.#finder.test(text)
  }

  /** Looks for a match that begins at `from` or behind it; `slots` tells which it was. */
  find(text: string, from = 0): boolean {
    if (this.#backtracker) return this.#took(this.#referring(this.#backtracker, text, from))
    if (!(this.#ambiguity.isLongest && this.#isInTime(text))) return this.#took(this.#exact(text, from))
    this.#finder.lastIndex = from
    const found = this.#finder.exec(text)
    if (!found) return false
    const start = found.index
    this.slots = this.#keepsGroups ? this.#groupSlots(text, start) : [start, start + found[0].length]
    return true
  }

  #took(slots: Slots | null): boolean {
    if (slots) this.slots = slots
    return slots !== null
  }

  #referring(backtracker: Backtracker, text: string, from: number): Slots | null {
    if (!this.#isFound) return backtracker.exec(text, from)
    this.#finder.lastIndex = from
    const found = this.#finder.exec(text)
    return found && backtracker.at(text, found.index)
  }

  #isInTime(text: string): boolean {
    const { degree } = this.#ambiguity
    return this.#backtracker !== null || degree <= 1 || text.length ** degree <= MAX_WORST_STEPS
  }

  #exact(text: string, from: number): Slots | null {
    this.#automaton ??= new Automaton(this.#tree, { groups: this.groups, ...this.#options })
    return this.#automaton.exec(text, from)
  }

  /** The flag that tells places makes a search slow, so it is used at the place that is known. */
  #groupSlots(text: string, start: number): Slots {
    this.#placer ??= new RegExp(this.#source, this.#options.ignoreCase ? 'uidy' : 'udy')
    this.#placer.lastIndex = start
    const placed = this.#placer.exec(text)?.indices ?? []
    return Array.from({ length: this.groups + 1 }, (_, i) => placed[i] ?? [-1, -1]).flat()
  }
}

const CACHED = 200

/** Keeps the expressions that a program makes while it runs; which is mostly the same few. */
export class RegexCache {
  readonly #dialect: Dialect
  readonly #options: RegexOptions
  readonly #known = new Map<string, PosixRegex>()

  constructor(dialect: Dialect, options: RegexOptions = {}) {
    this.#dialect = dialect
    this.#options = options
  }

  get(source: string): PosixRegex {
    const known = this.#known.get(source)
    if (known) return known
    if (this.#known.size >= CACHED) this.#known.clear()
    const made = new PosixRegex(source, this.#dialect, this.#options)
    this.#known.set(source, made)
    return made
  }
}
