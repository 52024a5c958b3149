// A sed script as a list of commands.

import type { PosixRegex } from '../../posix-regex/posix-regex.ts'

export type Address =
  | { kind: 'line'; line: number }
  | { kind: 'every'; first: number; step: number }
  | { kind: 'last' }
  /** Null stands for the expression that was used last. */
  | { kind: 'regex'; regex: PosixRegex | null }

export type EndAddress = Address | { kind: 'more'; lines: number } | { kind: 'multiple'; of: number }

export interface Selection {
  from: Address | null
  to: EndAddress | null
  isNegated: boolean
  /** Where a range stands; `0,/re/` begins inside. */
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
  /** Which match is the first to be replaced. */
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
