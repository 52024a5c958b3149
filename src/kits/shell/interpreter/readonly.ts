// Variables that cannot be changed. The interpreter ends the shell where a script tries to; bash gives up the line where the value
// is assigned, and a command that was to assign it fails and no more.

import { errorsOf } from './output-routes.ts'
import type { Watched } from './position.ts'
import type { Command, StepResult } from './shape.ts'
import { isExit } from './trap-runs.ts'
import { discardReported, isSaid } from './unset-errors.ts'

const SAID = /^bash: .+: readonly variable\n$/
const USAGE = 2

/** Of what ends a shell, what was looked at where it came up. */
const KNOWN = new WeakSet<Error>()

/** Null for another error than that. May throw what gives up the line. */
export async function refusedChange(shell: Watched, node: Command, error: unknown): Promise<StepResult | null> {
  if (!isExit(error) || KNOWN.has(error) || isSaid(error)) return null
  KNOWN.add(error)
  const { stdout, stderr } = error
  if (!SAID.test(errorsOf(error))) return null
  if (node.type !== 'SimpleCommand' || node.name !== null) return { stdout, stderr, exitCode: 1 }
  return discardReported(shell, { stdout, stderr })
}

/** A loop whose variable cannot be set does not begin. */
export function refusedLoop({ ctx }: Watched, node: Command): StepResult | null {
  if (node.type !== 'For' || !ctx.state.readonlyVars?.has(node.variable)) return null
  return { stdout: '', stderr: `bash: ${node.variable}: readonly variable\n`, exitCode: 1 }
}

/** `getopts` says of it what it says of words that it does not know. */
export const statusOfGetopts = (result: StepResult): StepResult =>
  SAID.test(result.stderr) ? { ...result, exitCode: USAGE } : result
