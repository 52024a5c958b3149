// An unset variable under `set -u` ends the shell, and an error in arithmetic ends all but the shell. The interpreter goes on
// after the function, the group or the `eval` in which they were met. So they are made what `exit` is, at the command in
// which they are met.

import { isInAssignment } from './arithmetic/expression.ts'
import type { Position, Watched } from './position.ts'
import type { Command, StepResult } from './shape.ts'
import { exitWith, isExit } from './trap-runs.ts'

/** Of a shell that was given its script as words, and of any other. */
const OF_WORDS = 127
const OF_OTHERS = 1
const OF_SYNTAX = 2

const IN_TEST = /^bash: (?:conditional|arithmetic) expression: (.+: unbound variable)\n$/

/** What the error says, where it is one of these. */
export function unsetMessage(error: unknown): string | null {
  return error instanceof Error && error.name === 'NounsetError' ? error.message : null
}

/** The same, where the interpreter has made it the result of a test. */
export function unsetInTest({ ctx }: Watched, node: Command, { stderr }: StepResult): string | null {
  if (!ctx.state.options.nounset || (node.type !== 'ConditionalCommand' && node.type !== 'ArithmeticCommand'))
    return null
  return IN_TEST.exec(stderr)?.[1] ?? null
}

/** Never answers: it throws what `exit` throws. */
export async function exitAsUnset(shell: Watched, position: Position, message: string): Promise<StepResult> {
  return exitSaying(shell, codeOf(shell, position), `bash: ${message.replace(/^(?=\d+: )/, '$')}\n`)
}

/** For `${x?message}`. */
export function exitByMessage(shell: Watched, position: Position, message: string): Promise<never> {
  return exitSaying(shell, codeOf(shell, position), `bash: ${message}\n`)
}

export const NO_GROUPS = "syntax error near unexpected token `('"

/** For what bash would not have read at all. */
export function exitBySyntax(shell: Watched, message: string): Promise<never> {
  return exitSaying(shell, OF_SYNTAX, `bash: ${message}\n`)
}

function codeOf({ ctx }: Watched, { isOfWords, subshells }: Position): number {
  return isOfWords && subshells === 0 && !ctx.state.options.errexit ? OF_WORDS : OF_OTHERS
}

/** What ends a shell and was made here, with all that is to be said. */
const SAID = new WeakSet<Error>()
export const isSaid = (error: Error): boolean => SAID.has(error)

async function exitSaying(shell: Watched, code: number, stderr: string, stdout = ''): Promise<never> {
  return exitWith(shell, code, (exit) => {
    exit.prependOutput(stdout, stderr)
    SAID.add(exit)
  })
}

/** Errors after which a shell goes on with the line that follows the whole of what it was doing. */
const DISCARDING = new WeakSet<Error>()

/** For an error in arithmetic that is part of a word: null for any other. Throws what ends everything but the shell. */
export async function discardFor(shell: Watched, error: unknown): Promise<StepResult | null> {
  if (!(error instanceof Error) || error.name !== 'ArithmeticError') return null
  const { stdout = '', stderr = '' } = error as Partial<StepResult>
  const isEnd = isInAssignment(error) && shell.position?.isOfWords === true
  return isEnd ? exitSaying(shell, OF_OTHERS, stderr, stdout) : discard(shell, { stdout, stderr })
}

/** Never answers: the shell goes on with the line that follows. */
export async function discard(
  shell: Watched,
  { stdout, stderr }: Pick<StepResult, 'stdout' | 'stderr'>,
): Promise<never> {
  try {
    return await exitSaying(shell, OF_OTHERS, stderr, stdout)
  } catch (exit) {
    if (exit instanceof Error) DISCARDING.add(exit)
    throw exit
  }
}

/** The same for what ends the shell under `set -e`. */
export function discardReported(shell: Watched, result: Pick<StepResult, 'stdout' | 'stderr'>): Promise<never> {
  const { stdout, stderr } = result
  return shell.ctx.state.options.errexit ? exitSaying(shell, OF_OTHERS, stderr, stdout) : discard(shell, result)
}

const NO_MATCH = /^bash: no match: .*\n$/s

/** For a pattern that matches nothing under `failglob`; null for any other result. Throws what ends everything but the shell. */
export async function discardUnmatched(shell: Watched, { stderr, exitCode }: StepResult): Promise<null> {
  if (!shell.ctx.state.shoptOptions.failglob || exitCode !== 1 || !NO_MATCH.test(stderr)) return null
  return discardReported(shell, { stdout: '', stderr })
}

/** At the shell's own statement, what of it is left; null for what ends the shell. */
export function discarded(error: unknown): StepResult | null {
  if (!isExit(error) || !DISCARDING.has(error)) return null
  return { stdout: error.stdout, stderr: error.stderr, exitCode: OF_OTHERS }
}
