// Read-only variables. On a change, the interpreter ends the shell; bash only abandons the line of an assignment, and a
// command that would assign it fails.

import { errorsOf } from './output-routes.ts'
import type { Watched } from './position.ts'
import type { Command, StepResult } from './shape.ts'
import { isExit } from './trap-runs.ts'
import { discardReported, isSaid } from './unset-errors.ts'

const SAID = /^bash: .+: readonly variable\n$/
const USAGE = 2

/** Errors that were already examined where they occurred. */
const KNOWN = new WeakSet<Error>()

/** Null for any other error. May throw the error that abandons the line. */
export async function refusedChange(shell: Watched, node: Command, error: unknown): Promise<StepResult | null> {
  if (!isExit(error) || KNOWN.has(error) || isSaid(error)) return null
  KNOWN.add(error)
  const { stdout, stderr } = error
  if (!SAID.test(errorsOf(error))) return null
  if (node.type !== 'SimpleCommand' || node.name !== null) return { stdout, stderr, exitCode: 1 }
  return discardReported(shell, { stdout, stderr })
}

/** A loop whose variable cannot be set does not start. */
export function refusedLoop({ ctx }: Watched, node: Command): StepResult | null {
  if (node.type !== 'For' || !ctx.state.readonlyVars?.has(node.variable)) return null
  return { stdout: '', stderr: `bash: ${node.variable}: readonly variable\n`, exitCode: 1 }
}

/** `getopts` reports it like an unknown option. */
export const statusOfGetopts = (result: StepResult): StepResult =>
  SAID.test(result.stderr) ? { ...result, exitCode: USAGE } : result
