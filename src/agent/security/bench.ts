// The shared state of all parts of a judgement: its findings, the shell's folder, the definitions of the script
// (functions, aliases, variables), and the remaining work budget.

import type { Call, Input, Output } from './call.ts'
import { FACTS, type Fact } from './facts.ts'
import { HOME } from './paths.ts'
import { TooMuch } from './too-much.ts'
import { COMMAND_ALIAS, STORED_AS_THEY_ARE, Variables } from './variables.ts'

// The input and the result of a judgement.

/** The links of a workspace. */
export interface Links {
  /** The real path, as far as it exists; null when it cannot be determined. */
  resolve(path: string): string | null
  /** Whether anything exists at the path. */
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

/** `reasons`: the sentences of the rules that decided, for the user to read. */
export type Verdict = { readonly risk: number; readonly reasons: readonly string[] }

export const RISK = { unknown: -1, low: 0, medium: 1, high: 2 } as const

/** Actions below this level need no confirmation, unless the owner chose another level. */
export const DEFAULT_RISK_SEVERITY = RISK.medium

/** The most commands, words and nested texts of one judgement. Scripts of agents have some dozens. */
const MAX_STEPS = 12_000
/** Characters of all nested texts together. */
const MAX_NESTED_CHARS = 600_000
/** Nesting depth of texts: `sh -c "sh -c …"`. */
const MAX_DEPTH = 16
/** The limit of `costOf` for all parsing in one judgement: some tenths of a second. */
const MAX_PARSING = 8_000_000
/** The most reasons that are shown. */
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
  /** Variables whose values the shell evaluates as arithmetic expressions. */
  readonly integers = new Set<string>()
  readonly folders: Folders
  /** Names that are being resolved, so that a recursive alias ends. */
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

  /** The same context without findings. */
  get context(): JudgeContext {
    return this.#context
  }

  /** The reasons for the level. */
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

  /** Adds the fact only while judging commands that run on search results. */
  meetOnFound(fact: Fact): void {
    if (this.#onFound > 0) this.meet(fact)
  }

  /** While `work` runs, its commands count as run on search results. */
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

  /** Judges a text inside another text. */
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
  /** A shell runs the text. */
  script(text: string, input: Input): Output
  /** The words are run as a command. */
  words(words: readonly string[], input: Input): Output
  /** Whether a shell would run this text, and all of it is known and of low risk. */
  isLowScript(text: string): boolean
  /** The file is written. */
  write(path: string): void
  /** The variable gets this value. */
  assign(name: string, value: string): void
  /** The shell expands the text a second time. */
  expand(text: string): void
  /** The variable gets a value that is not in the script. */
  assignUnknown(name: string): void
  /** The shell evaluates the variable's value as an expression. */
  arithmetic(name: string): void
}

/** Judges what a command runs, writes or sets, beyond its rules. */
export type Opener = (call: Call, bench: Bench) => void

// The possible folders of the shell while a script runs, as far as the script and earlier commands tell, and the places
// to which the script's paths lead. A `cd` may fail, and a branch may not be taken: then the shell may be in one folder
// or another.

/** The most places that are distinguished. */
const MAX_PLACES = 16
const MAX_LINKS = 20
const MAX_PATH = 1024
/** These paths exist whatever the current folder is. */
const SURELY_THERE = /^(\.\.?\/?)+$|^\/(workspace|tmp)?\/?$/
const MARKS = /[\uE000-\uE004]/

export class Folders {
  /** Absolute paths, or paths relative to an unknown folder. */
  #now: readonly string[]
  readonly #links: Links | null
  /** Links and files that the script itself made: their places, and what they lead to. */
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

  /** The shell may be in these places as well, because the commands that left them may not have run. */
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

  /** The path as it is written, and the places to which it may lead from here. */
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
