// POSIX regular expressions: the leftmost match, and of those at the same position the longest. JavaScript's own engine
// is used if it certainly finds the same in limited time; otherwise the automaton is.

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
  /** `^` and `$` also match at the lines of the text. */
  multiline?: boolean
}

/** The maximum of steps of JavaScript's engine in the worst case, because it cannot be stopped. */
const MAX_WORST_STEPS = 1e9

const SED = { escapes: SED_ESCAPES, isStrict: true, takesLooseEnds: false, keepsGroups: true }
export const SED_BASIC: Dialect = { ...SED, extended: false }
export const SED_EXTENDED: Dialect = { ...SED, extended: true }
/** As in the C library: no escapes for control characters. */
export const PLAIN_EXTENDED: Dialect = { ...SED_EXTENDED, escapes: PLAIN_ESCAPES, takesLooseEnds: true }
/** For `expr` and similar, which accept any repetition. */
export const PLAIN_BASIC: Dialect = { ...SED_BASIC, escapes: PLAIN_ESCAPES, isStrict: false }
export const AWK: Dialect = {
  extended: true,
  escapes: AWK_ESCAPES,
  isStrict: false,
  takesLooseEnds: false,
  keepsGroups: false,
}

export class PosixRegex {
  /** The number of groups in the expression. */
  readonly groups: number
  /** The start and end of the last match and its groups, -1 for one that did not take part. */
  slots: Slots = []
  readonly #tree: Regex
  readonly #options: Required<RegexOptions>
  readonly #ambiguity: Ambiguity
  readonly #source: string
  readonly #finder: RegExp
  /** An automaton does not support backreferences; null if there are none. */
  readonly #backtracker: Backtracker | null
  /** Whether JavaScript's engine finds the starts of matches, in bounded time. */
  readonly #isFound: boolean
  readonly #keepsGroups: boolean
  #placer: RegExp | null = null
  #automaton: Automaton | null = null

  /** Throws `RegexError` for an invalid expression. */
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

  /** Whether the text contains a match. */
  test(text: string): boolean {
    if (this.#backtracker && !this.#isFound) return this.#backtracker.exec(text, 0) !== null
    if (!this.#isInTime(text)) return this.#exact(text, 0) !== null
    this.#finder.lastIndex = 0
    return this.#finder.test(text)
  }

  /** Searches a match that starts at `from` or after it; `slots` contains its positions. */
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

  /** The flag that returns positions makes a search slow, so it is used only at the known position. */
  #groupSlots(text: string, start: number): Slots {
    this.#placer ??= new RegExp(this.#source, this.#options.ignoreCase ? 'uidy' : 'udy')
    this.#placer.lastIndex = start
    const placed = this.#placer.exec(text)?.indices ?? []
    return Array.from({ length: this.groups + 1 }, (_, i) => placed[i] ?? [-1, -1]).flat()
  }
}

const CACHED = 200

/** Caches the expressions that a program creates at run time, usually the same few. */
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
