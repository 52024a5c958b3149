// Our expressions in place of the library's. The library evaluates a tree; the tree it gets here is a single operator
// `,`: on the left a command substitution, for which it asks the shell to run something, which is this expression; on
// the right a number, which has been set to the value by then.

import type { Watched } from '../position.ts'
import type { StepResult } from '../shape.ts'
import { evaluate } from './evaluator.ts'
import type { Int } from './int64.ts'
import { ArithmeticError } from './scanner.ts'
import { ExpansionError, expanded, expandedNames, type Piece } from './template.ts'
import { ReadonlyError, ShellVariables } from './variables.ts'

/** The shared state of the parts of one `for ((…))`. */
export type Loop = { hasFailed: boolean }

export interface Use {
  /** The prefix of error messages. */
  prefix: string
  /** An error in a command is its failure; an error in a word ends everything that the shell is doing. */
  isCommand: boolean
  loop?: Loop
  /** The first evaluated part, and the one that ends the loop. */
  part?: 'condition'
}

const WORD: Use = { prefix: '', isCommand: false }

/** Like the library's own number, but it may contain one of 64 bits as text. */
type Outcome = { type: 'ArithNumber'; value: number | string }

export const ENDED: StepResult = { stdout: '', stderr: '', exitCode: 0 }

/** By the shell in which they failed: the message, until the command is over. */
const FAILURES = new WeakMap<object, string>()
const VARIABLES = new WeakMap<object, ShellVariables>()

/** The error that marks a failed word for the library and for us, with its message. */
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

/** Such an error ends a shell that got its script as an argument. */
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

  /** Called by the library, which reads the result at once. */
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

  /** The value, or null if it needs more than names and numbers: then nothing has been evaluated. */
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

/** Throws `ArithmeticError`, `NounsetError`, or an error that ends more than the command. */
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

/** For an error that is the failure of a command, which still runs to its end. */
export function noteFailure(shell: Watched, error: unknown, prefix: string): void {
  if (!(error instanceof ArithmeticError)) throw error
  FAILURES.set(shell, (FAILURES.get(shell) ?? '') + saidOf(shell, error, prefix))
}

/** For an error in a word: the error that ends everything the shell is doing. */
function mistake(shell: Watched, error: unknown, prefix = ''): unknown {
  return error instanceof ArithmeticError ? new MistakeInWord(saidOf(shell, error, prefix), false) : error
}

/** For an error in an index or in the value of an integer. */
export function mistakeInAssignment(shell: Watched, error: unknown, prefix = ''): unknown {
  return error instanceof ArithmeticError ? new MistakeInWord(saidOf(shell, error, prefix), true) : error
}

/** The command's result with the messages from within it. */
export function withFailure(shell: Watched, type: string, result: StepResult): StepResult {
  const said = FAILURES.get(shell)
  if (said === undefined) return result
  FAILURES.delete(shell)
  const exitCode = type === 'ConditionalCommand' ? result.exitCode : 1
  return { ...result, stderr: result.stderr + said, exitCode }
}
