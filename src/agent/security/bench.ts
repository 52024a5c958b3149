// The shared state of all parts of a judgement: its findings, what the script defines (functions, aliases, variables), and
// the remaining work budget.

import type { Call, Input, Output } from './call.ts'
import { FACTS, type Fact } from './facts.ts'
import { Folders } from './folders.ts'
import { HOME } from './paths.ts'
import { COMMAND_ALIAS, STORED_AS_THEY_ARE, Variables } from './variables.ts'
import { type JudgeContext, RISK } from './verdict.ts'

/** A script or a piece of code is given up, as it is too large, too deep or too costly to be judged. */
export class TooMuch extends Error {}

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
