// `declare -f`, and `type` of a function: the interpreter shows no body. The text is the library's, which means the same
// and is laid out otherwise than bash would.

import type { Position, Watched } from './position.ts'
import type { StepResult } from './shape.ts'
import { scriptOf, statementOf } from './trap-runs.ts'

/** Null for any other use of `declare`. */
export function declaredFunctions(shell: Watched, position: Position, args: readonly string[]): StepResult | null {
  if (args[0] !== '-f') return null
  const { functions } = shell.ctx.state
  const names = args.length > 1 ? args.slice(1) : [...functions.keys()].sort()
  const texts = names.filter((name) => functions.has(name)).map((name) => `${textOf(shell, position, name)}\n`)
  return { stdout: texts.join(''), stderr: '', exitCode: texts.length === names.length ? 0 : 1 }
}

const BODY_LEFT_OUT = /^(\S+) is a function\n\1 \(\) ?\n\{ ?\n {4}\.\.\.[^\n]*\n\}\n/gm

/** What `type` answers, with the bodies that the interpreter leaves out. */
export function withBodies(shell: Watched, position: Position, result: StepResult): StepResult {
  const stdout = result.stdout.replace(
    BODY_LEFT_OUT,
    (_, name: string) => `${name} is a function\n${textOf(shell, position, name)}\n`,
  )
  return { ...result, stdout }
}

function textOf({ ctx }: Watched, position: Position, name: string): string {
  const definition = ctx.state.functions.get(name)
  return definition ? position.textOf(scriptOf([statementOf(definition)])).trimEnd() : name
}
