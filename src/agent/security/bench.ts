// What all parts of a judgement share: what was found so far, what the script says of its own names, and how much work is
// left to do.

import type { Input, Output } from './call.ts'
import { FACTS, type Fact } from './facts.ts'
import { RISK } from './risk.ts'
import { Variables } from './variables.ts'

/** A script or a piece of code is given up, as it is too large, too deep or too costly to be judged. */
export class TooMuch extends Error {}

/** Commands, words and nested texts of one judgement. What agents write has some dozens. */
const MAX_STEPS = 25_000
/** Characters of all nested texts together. */
const MAX_NESTED_CHARS = 600_000
/** Texts within texts: `sh -c "sh -c …"`. */
const MAX_DEPTH = 16

export class Findings {
  #level: number = RISK.low
  #steps = 0
  #chars = 0
  #depth = 0
  #onFound = 0
  readonly variables = new Variables()
  readonly functions = new Set<string>()
  readonly aliases = new Map<string, string>()
  /** The shell's folder is one of git's. */
  isInGit = false
  /** Names that are being looked up, so that an alias for itself ends. */
  readonly resolving = new Set<string>()
  readonly secretNames: readonly string[]

  constructor(secretNames: readonly string[]) {
    this.secretNames = secretNames
  }

  get level(): number {
    return this.#level
  }

  meet(fact: Fact): void {
    const isOnFound = this.#onFound > 0 && (fact === 'deletes-files' || fact === 'empties-file')
    this.meetRisk(FACTS[isOnFound ? 'deletes-found' : fact].risk)
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

  meetRisk(risk: 'low' | 'medium' | 'high'): void {
    this.#level = Math.max(this.#level, RISK[risk])
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

/** What the knowledge of single commands works with. */
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
}
