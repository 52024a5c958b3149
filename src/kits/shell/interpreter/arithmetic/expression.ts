// An expression in the place of the library's own. The library evaluates a tree; the tree that it gets here is one operator
// `,`: on the left a command substitution, for which it asks the shell to run something, and what is run is this expression;
// on the right a number, into which the value has been put by then.

import type { Watched } from '../position.ts'
import type { StepResult } from '../shape.ts'
import { evaluate } from './evaluator.ts'
import type { Int } from './int64.ts'
import { ArithmeticError } from './scanner.ts'
import { ExpansionError, expanded, expandedNames, type Piece } from './template.ts'
import { ReadonlyError, ShellVariables } from './variables.ts'

/** What the parts of one `for ((…))` know of each other. */
export type Loop = { hasFailed: boolean }

export interface Use {
  /** In front of what is said of a mistake. */
  prefix: string
  /** A mistake in a command is its failure; in a word it is that of all that the shell is doing. */
  isCommand: boolean
  loop?: Loop
  /** The first of its parts to be evaluated, and the one that ends it. */
  part?: 'condition'
}

const WORD: Use = { prefix: '', isCommand: false }

/** As the library's own number, but that it may hold one of 64 bits as text. */
type Outcome = { type: 'ArithNumber'; value: number | string }

export const ENDED: StepResult = { stdout: '', stderr: '', exitCode: 0 }

/** By the shell in which they failed: what is to be said, until the command is over. */
const FAILURES = new WeakMap<object, string>()
const VARIABLES = new WeakMap<object, ShellVariables>()

/** The error by which the library and we know a mistake in a word, with what is said of it. */
class MistakeInWord extends Error {
  override readonly name = 'ArithmeticError'
  readonly stdout = ''
  readonly stderr: string
  readonly isInAssignment: boolean

  constructor(stderr: string, isInAssignment: boolean) {
    super(stderr)
    this.stderr = stderr
    this.isInAssignment = isInAssignment
  }
}

/** One of those ends a shell that was given its script as words. */
export function isInAssignment(error: Error): boolean {
  return error instanceof MistakeInWord && error.isInAssignment
}

export class Expression {
  readonly pieces: readonly Piece[]
  readonly outcome: Outcome = { type: 'ArithNumber', value: 0 }
  /** As it was written. */
  readonly text: string
  readonly use: Use

  constructor(text: string, pieces: readonly Piece[], use: Use = WORD) {
    this.text = text
    this.pieces = pieces
    this.use = use
  }

  /** Called by way of the library, which reads the outcome at once. */
  run(shell: Watched): StepResult | Promise<StepResult> {
    const { loop, part } = this.use
    if (loop?.hasFailed) {
      if (part === 'condition') loop.hasFailed = false
      return this.#ended(0)
    }
    const variables = variablesOf(shell)
    try {
      const text = expandedNames(this.pieces, variables)
      if (text !== null) return this.#ended(evaluate(text, variables))
    } catch (error) {
      return this.#ended(this.#failed(shell, error))
    }
    return this.#expanded(shell, variables)
  }

  /** The value, or null where it takes more than names and numbers: then nothing has begun. */
  valueAtOnce(shell: Watched): Int | null {
    const variables = variablesOf(shell)
    const text = expandedNames(this.pieces, variables)
    return text === null ? null : evaluate(text, variables)
  }

  async #expanded(shell: Watched, variables: ShellVariables): Promise<StepResult> {
    try {
      return this.#ended(evaluate(await expanded(this.pieces, shell, variables), variables))
    } catch (error) {
      return this.#ended(this.#failed(shell, error))
    }
  }

  #ended(value: Int): StepResult {
    this.outcome.value = typeof value === 'number' || this.use !== WORD ? Number(value) : String(value)
    return ENDED
  }

  #failed(shell: Watched, error: unknown): Int {
    if (!(error instanceof ArithmeticError)) throw error
    if (!this.use.isCommand) throw mistake(shell, error, this.use.prefix)
    noteFailure(shell, error, this.use.prefix)
    const { loop, part } = this.use
    if (loop && part !== 'condition') loop.hasFailed = true
    return 0
  }
}

/** Throws `ArithmeticError`, `NounsetError`, or what ends more than the command. */
export function evaluateText(shell: Watched, text: string): Int {
  return evaluate(text, variablesOf(shell))
}

export function variablesOf(shell: Watched): ShellVariables {
  const known = VARIABLES.get(shell.ctx.state)
  if (known) return known
  const variables = new ShellVariables(shell)
  VARIABLES.set(shell.ctx.state, variables)
  return variables
}

export function saidOf({ ctx }: Watched, error: ArithmeticError, prefix: string): string {
  if (error instanceof ExpansionError) return error.said
  const words = error instanceof ReadonlyError ? error.message : `${prefix}${error.message}`
  return `bash: line ${ctx.state.currentLine}: ${words}\n`
}

/** For a mistake that is the failure of a command, which goes on to its end. */
export function noteFailure(shell: Watched, error: unknown, prefix: string): void {
  if (!(error instanceof ArithmeticError)) throw error
  FAILURES.set(shell, (FAILURES.get(shell) ?? '') + saidOf(shell, error, prefix))
}

/** For a mistake in a word: what ends all that the shell is doing. */
function mistake(shell: Watched, error: unknown, prefix = ''): unknown {
  return error instanceof ArithmeticError ? new MistakeInWord(saidOf(shell, error, prefix), false) : error
}

/** For a mistake in an index or in the value of an integer. */
export function mistakeInAssignment(shell: Watched, error: unknown, prefix = ''): unknown {
  return error instanceof ArithmeticError ? new MistakeInWord(saidOf(shell, error, prefix), true) : error
}

/** The command with what was said within it, once it is over. */
export function withFailure(shell: Watched, type: string, result: StepResult): StepResult {
  const said = FAILURES.get(shell)
  if (said === undefined) return result
  FAILURES.delete(shell)
  const exitCode = type === 'ConditionalCommand' ? result.exitCode : 1
  return { ...result, stderr: result.stderr + said, exitCode }
}
