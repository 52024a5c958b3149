// An unset variable under `set -u` ends the shell, and an arithmetic error ends everything but the shell. The
// interpreter continues after the function, the group or the `eval` in which they occurred. So they are converted to
// the error of `exit`, at the command in which they occur.

import { isInAssignment } from './arithmetic/expression.ts'
import type { Position, Watched } from './position.ts'
import type { Command, StepResult } from './shape.ts'
import { exitWith, isExit } from './trap-runs.ts'

/** The status for a shell with a script as its argument, and for any other. */
const OF_WORDS = 127
const OF_OTHERS = 1
const OF_SYNTAX = 2

const IN_TEST = /^bash: (?:conditional|arithmetic) expression: (.+: unbound variable)\n$/

/** The message, if it is one of these errors. */
export function unsetMessage(error: unknown): string | null {
  return error instanceof Error && error.name === 'NounsetError' ? error.message : null
}

/** The same, if the interpreter has converted it to the result of a test. */
export function unsetInTest({ ctx }: Watched, node: Command, { stderr }: StepResult): string | null {
  if (!ctx.state.options.nounset || (node.type !== 'ConditionalCommand' && node.type !== 'ArithmeticCommand'))
    return null
  return IN_TEST.exec(stderr)?.[1] ?? null
}

/** Never returns: it throws the error of `exit`. */
export async function exitAsUnset(shell: Watched, position: Position, message: string): Promise<StepResult> {
  return exitSaying(shell, codeOf(shell, position), `bash: ${message.replace(/^(?=\d+: )/, '$')}\n`)
}

/** For `${x?message}`. */
export function exitByMessage(shell: Watched, position: Position, message: string): Promise<never> {
  return exitSaying(shell, codeOf(shell, position), `bash: ${message}\n`)
}

export const NO_GROUPS = "syntax error near unexpected token `('"

/** For text that bash would not have accepted. */
export function exitBySyntax(shell: Watched, message: string): Promise<never> {
  return exitSaying(shell, OF_SYNTAX, `bash: ${message}\n`)
}

function codeOf({ ctx }: Watched, { isOfWords, subshells }: Position): number {
  return isOfWords && subshells === 0 && !ctx.state.options.errexit ? OF_WORDS : OF_OTHERS
}

/** Errors created here that end a shell, with their complete message. */
const SAID = new WeakSet<Error>()
export const isSaid = (error: Error): boolean => SAID.has(error)

async function exitSaying(shell: Watched, code: number, stderr: string, stdout = ''): Promise<never> {
  return exitWith(shell, code, (exit) => {
    exit.prependOutput(stdout, stderr)
    SAID.add(exit)
  })
}

/** Errors after which a shell continues with the line after the whole current command. */
const DISCARDING = new WeakSet<Error>()

/** For an arithmetic error in a word: null for any other. Throws the error that ends everything but the shell. */
export async function discardFor(shell: Watched, error: unknown): Promise<StepResult | null> {
  if (!(error instanceof Error) || error.name !== 'ArithmeticError') return null
  const { stdout = '', stderr = '' } = error as Partial<StepResult>
  const isEnd = isInAssignment(error) && shell.position?.isOfWords === true
  return isEnd ? exitSaying(shell, OF_OTHERS, stderr, stdout) : discard(shell, { stdout, stderr })
}

/** Never returns: the shell continues with the next line. */
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

/** The same for an error that ends the shell under `set -e`. */
export function discardReported(shell: Watched, result: Pick<StepResult, 'stdout' | 'stderr'>): Promise<never> {
  const { stdout, stderr } = result
  return shell.ctx.state.options.errexit ? exitSaying(shell, OF_OTHERS, stderr, stdout) : discard(shell, result)
}

const NO_MATCH = /^bash: no match: .*\n$/s

/**
 * For a pattern without a match under `failglob`; null for any other result. Throws the error that ends everything but
 * the shell.
 */
export async function discardUnmatched(shell: Watched, { stderr, exitCode }: StepResult): Promise<null> {
  if (!shell.ctx.state.shoptOptions.failglob || exitCode !== 1 || !NO_MATCH.test(stderr)) return null
  return discardReported(shell, { stdout: '', stderr })
}

/** The result of the shell's own statement; null for an error that ends the shell. */
export function discarded(error: unknown): StepResult | null {
  if (!isExit(error) || !DISCARDING.has(error)) return null
  return { stdout: error.stdout, stderr: error.stderr, exitCode: OF_OTHERS }
}
