// The shared state of all parts of a judgement: its findings, where the shell is, what the script defines (functions, aliases,
// variables), and the remaining work budget.

import type { Call, Input, Output } from './call.ts'
import { FACTS, type Fact } from './facts.ts'
import { HOME } from './paths.ts'
import { TooMuch } from './too-much.ts'
import { COMMAND_ALIAS, STORED_AS_THEY_ARE, Variables } from './variables.ts'

// What a judgement begins with, and what it ends with.

/** The links of a workspace. */
export interface Links {
  /** The real path, as far as it exists; null when it cannot be determined. */
  resolve(path: string): string | null
  /** Whether something is there. */
  exists(path: string): boolean
}

export type JudgeContext = {
  /** The variables of the shell that hold secrets. */
  readonly secretNames?: readonly string[]
  /** The folder and the variables that earlier commands left. */
  readonly shell?: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly variables: Readonly<Record<string, string>>
  }
  readonly files?: Links
}

/** `reasons`: the sentences of the rules that made it what it is, for a person to read. */
export type Verdict = { readonly risk: number; readonly reasons: readonly string[] }

export const RISK = { unknown: -1, low: 0, medium: 1, high: 2 } as const

/** Actions below this level need no confirmation, unless the owner chose another level. */
export const DEFAULT_RISK_SEVERITY = RISK.medium

/** Commands, words and nested texts of one judgement. What agents write has some dozens. */
const MAX_STEPS = 12_000
/** Characters of all nested texts together. */
const MAX_NESTED_CHARS = 600_000
/** Texts within texts: `sh -c "sh -c …"`. */
const MAX_DEPTH = 16
/** The limit of `costOf` for everything that is parsed in one judgement: some tenths of a second. */
const MAX_PARSING = 8_000_000
/** Reasons that a person reads. */
const MAX_REASONS = 4

export class Findings {
  #level: number = RISK.low
  #steps = 0
  #chars = 0
  #depth = 0
  #onFound = 0
  #parsing = 0
  readonly #reasons = new Map<number, Set<string>>()
  readonly #context: JudgeContext
  readonly variables = new Variables()
  readonly functions = new Set<string>()
  readonly aliases = new Map<string, string>()
  /** Variables whose values are read as expressions. */
  readonly integers = new Set<string>()
  readonly folders: Folders
  /** Names that are being looked up, so that an alias for itself ends. */
  readonly resolving = new Set<string>()
  readonly secretNames: readonly string[]

  constructor(context: JudgeContext) {
    const { secretNames = [], shell, files } = context
    this.#context = context
    this.secretNames = secretNames
    this.variables.store('HOME', HOME)
    if (shell !== undefined) this.variables.store('PWD', shell.cwd)
    this.folders = new Folders(shell?.cwd ?? null, files ?? null)
    for (const [name, value] of Object.entries({ ...shell?.env, ...shell?.variables })) {
      if (STORED_AS_THEY_ARE.has(name) || this.secretNames.includes(name)) continue
      this.variables.store(name, value)
      if (name.startsWith(COMMAND_ALIAS)) this.aliases.set(name.slice(COMMAND_ALIAS.length), value)
    }
  }

  /** The same place with nothing found yet. */
  get context(): JudgeContext {
    return this.#context
  }

  /** Why the level is what it is. */
  get reasons(): string[] {
    return this.#level === RISK.low ? [] : [...(this.#reasons.get(this.#level) ?? [])]
  }

  get level(): number {
    return this.#level
  }

  meet(fact: Fact): void {
    const isOnFound = this.#onFound > 0 && (fact === 'deletes-files' || fact === 'empties-file')
    const { risk, says } = FACTS[isOnFound ? 'deletes-found' : fact]
    this.meetRisk(risk, says)
  }

  /** Only where it is run on whatever a search finds. */
  meetOnFound(fact: Fact): void {
    if (this.#onFound > 0) this.meet(fact)
  }

  /** What the work runs is run on whatever a search finds. */
  onFound<T>(work: () => T): T {
    this.#onFound++
    try {
      return work()
    } finally {
      this.#onFound--
    }
  }

  meetRisk(risk: 'low' | 'medium' | 'high', says: string): void {
    const level = RISK[risk]
    this.#level = Math.max(this.#level, level)
    const reasons = this.#reasons.get(level) ?? new Set()
    if (reasons.size < MAX_REASONS) this.#reasons.set(level, reasons.add(says))
  }

  /** To be called before a text is parsed. */
  spendParsing(cost: number): void {
    this.#parsing += cost
    if (this.#parsing > MAX_PARSING) throw new TooMuch('parsing')
  }

  spend(steps = 1): void {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) throw new TooMuch('steps')
  }

  /** Judges a text within a text. */
  nested<T>(text: string, work: () => T): T {
    this.#chars += text.length
    if (this.#depth >= MAX_DEPTH || this.#chars > MAX_NESTED_CHARS) throw new TooMuch('nesting')
    this.#depth++
    try {
      return work()
    } finally {
      this.#depth--
    }
  }
}

/** The interface for the rules of single commands. */
export interface Bench {
  readonly findings: Findings
  meet(fact: Fact): void
  /** The text is run by a shell. */
  script(text: string, input: Input): Output
  /** The words are run as a command. */
  words(words: readonly string[], input: Input): Output
  /** Whether the text, run by a shell, is known and low. */
  isLowScript(text: string): boolean
  /** The file is written. */
  write(path: string): void
  /** The variable gets this value. */
  assign(name: string, value: string): void
  /** The shell expands the text once more. */
  expand(text: string): void
  /** The variable gets a value that is not in the script. */
  assignUnknown(name: string): void
  /** The value of the variable is read as an expression. */
  arithmetic(name: string): void
}

/** Knows what a command runs, writes or sets besides what its rules say. */
export type Opener = (call: Call, bench: Bench) => void

// Where the shell is while a script runs, as far as the script and what was there before tell it, and to which places the
// paths lead that it names. A `cd` may fail, and a branch may not be taken: then the shell may be in one place or another.

/** The most places that are distinguished. */
const MAX_PLACES = 16
const MAX_LINKS = 20
const MAX_PATH = 1024
/** They are there whenever the shell is anywhere. */
const SURELY_THERE = /^(\.\.?\/?)+$|^\/(workspace|tmp)?\/?$/
const MARKS = /[\uE000-\uE004]/

export class Folders {
  /** Absolute, or relative to a folder of which nothing is known. */
  #now: readonly string[]
  readonly #links: Links | null
  /** Made by the script itself: where they stand, and what they lead to. */
  readonly #made = new Map<string, string>()

  constructor(cwd: string | null, links: Links | null) {
    this.#now = [cwd ?? '']
    this.#links = links
  }

  /** To be given to `mayBeAt` or `goBackTo` later. */
  get now(): readonly string[] {
    return this.#now
  }

  goBackTo(places: readonly string[]): void {
    this.#now = places
  }

  /** The shell may be there as well, as what led away from there may not have happened. */
  mayBeAt(places: readonly string[]): void {
    this.#now = [...new Set([...this.#now, ...places])].slice(-MAX_PLACES)
  }

  enter(target: string): void {
    const before = this.#now
    if (MARKS.test(target)) return
    this.#now = [...new Set(before.map((folder) => joined(folder, target)))]
    if (!SURELY_THERE.test(target)) this.mayBeAt(before)
  }

  /** A subshell does not change the folder of this shell. */
  apart<T>(work: () => T): T {
    const before = this.#now
    try {
      return work()
    } finally {
      this.#now = before
    }
  }

  /** The commands inside may or may not run. */
  maybe<T>(work: () => T): T {
    const before = this.#now
    const done = work()
    if (this.#now !== before) this.mayBeAt(before)
    return done
  }

  link(name: string, target: string): void {
    for (const place of this.placesOf(name)) {
      if (this.#made.size < MAX_LINKS) this.#made.set(place, joined(place.replace(/[^/]*$/, ''), target))
    }
  }

  /** The path as it is written, and the places that it may lead to from here. */
  placesOf(path: string): readonly string[] {
    const places = new Set([path])
    if (path === '' || path.length > MAX_PATH) return [path]
    for (const folder of this.#now) {
      const place = joined(folder, path)
      places.add(place)
      for (const led of this.#ledTo(place)) places.add(led)
    }
    return [...places]
  }

  /** Null where the place is unknown. */
  isThere(path: string): boolean | null {
    const links = this.#links
    const places = this.#now.map((folder) => joined(folder, path))
    if (links === null || places.some((place) => !place.startsWith('/') || MARKS.test(place))) return null
    return places.some((place) => links.exists(place))
  }

  *#ledTo(place: string): Generator<string> {
    const led = place.startsWith('/') && !MARKS.test(place) ? (this.#links?.resolve(place) ?? null) : null
    if (led !== null) yield led
    for (const [link, target] of this.#made) {
      if (place === link || place.startsWith(`${link}/`)) yield joined(target, place.slice(link.length + 1))
    }
  }
}

function joined(folder: string, path: string): string {
  const from = path.replace(/^~([\w-]*)(?=\/|$)/, (_, user) => (user === '' ? HOME : `/home/${user}`))
  const whole = from.startsWith('/') || folder === '' ? from : `${folder}/${from}`
  const parts: string[] = []
  for (const part of whole.split('/')) {
    if (part === '..' && (whole.startsWith('/') || !/^(\.\.)?$/.test(parts.at(-1) ?? ''))) parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `${whole.startsWith('/') ? '/' : ''}${parts.join('/')}`
}
