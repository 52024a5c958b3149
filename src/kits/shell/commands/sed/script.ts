// A sed script as a list of commands.

import type { PosixRegex } from '../../posix-regex/posix-regex.ts'

export type Address =
  | { kind: 'line'; line: number }
  | { kind: 'every'; first: number; step: number }
  | { kind: 'last' }
  /** Null means the most recently used expression. */
  | { kind: 'regex'; regex: PosixRegex | null }

export type EndAddress = Address | { kind: 'more'; lines: number } | { kind: 'multiple'; of: number }

export interface Selection {
  from: Address | null
  to: EndAddress | null
  isNegated: boolean
  /** The state of a range; `0,/re/` starts inside. */
  range: { state: 'before' | 'inside' | 'behind'; lastLine: number }
}

export type ReplacementPart =
  | { kind: 'text'; text: string }
  | { kind: 'group'; index: number }
  | { kind: 'case'; letter: 'U' | 'L' | 'u' | 'l' | 'E' }

export interface Substitution {
  regex: PosixRegex | null
  replacement: readonly ReplacementPart[]
  isGlobal: boolean
  /** The number of the first match to replace. */
  number: number
  prints: boolean
  executes: boolean
  file: string | null
}

export type Action =
  | { kind: '{'; end: number }
  | { kind: '}' }
  | { kind: ':' }
  | { kind: 'b' | 't' | 'T'; label: string; at: number }
  | { kind: 'a' | 'i' | 'c'; text: string }
  | { kind: 's'; substitution: Substitution }
  | { kind: 'y'; map: ReadonlyMap<string, string> }
  | { kind: 'r' | 'R' | 'w' | 'W'; file: string }
  | { kind: 'e'; command: string }
  | { kind: 'q' | 'Q'; exitCode: number }
  | { kind: 'l'; width: number | null }
  | { kind: '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'v' }

export interface Command {
  selection: Selection
  action: Action
}

export class SedError extends Error {
  override readonly name = 'SedError'
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
