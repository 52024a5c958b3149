// A command in the form for the interpreter: with references replaced by their names, and with texts for words that are
// expanded here (`expansion/`).

import { appended } from './expansion/appends.ts'
import { matchedCase } from './expansion/cases.ts'
import { expandedCommand } from './expansion/commands.ts'
import { Expander } from './expansion/expander.ts'
import { ExpansionFailure } from './expansion/failure.ts'
import { isTakenApart, runTest } from './expansion/tests.ts'
import { partsOf } from './heads.ts'
import { withBinding, withTargets } from './namerefs.ts'
import { joinedResults, type Position, type Watched } from './position.ts'
import type { Command, SimpleCommand, StepResult } from './shape.ts'
import { statementOf } from './trap-runs.ts'
import { discard, discardReported } from './unset-errors.ts'
import type { Run } from './words-alone.ts'

type Step = { node: Command; run: Run }

export async function runPrepared(shell: Watched, position: Position, { node, run }: Step): Promise<StepResult> {
  const named = withTargets(shell.ctx.state, node)
  if (named.type === 'SimpleCommand' && named.name === null && named.assignments.length > 1) {
    return withBinding(shell, named, () => oneByOne(shell, position, { node: named, run }))
  }
  return withBinding(shell, named, () => runExpanded(shell, position, { node: named, run }))
}

async function runExpanded(shell: Watched, position: Position, { node, run }: Step): Promise<StepResult> {
  // Words that are expanded here are on the line of the command too.
  if ('line' in node && node.line !== undefined) shell.ctx.state.currentLine = node.line
  if ((node.type === 'For' || node.type === 'Case') && node.redirections.length > 0) {
    // Redirections are opened before the words are expanded.
    const body = [statementOf({ ...node, redirections: [] })]
    return run({ type: 'Group', body, redirections: node.redirections })
  }
  const expander = new Expander(shell, position, run)
  let filled: Command
  try {
    if (isTakenApart(node)) return await runTest(expander, node)
    if (node.type === 'SimpleCommand' && (await appended(expander, node))) {
      return { stdout: '', stderr: expander.stderr, exitCode: expander.status ?? 0 }
    }
    filled = node.type === 'Case' ? await matchedCase(expander, node) : await expandedCommand(expander, node)
  } catch (error) {
    if (!(error instanceof ExpansionFailure)) throw error
    const result = { ...error.result, stderr: expander.stderr + error.result.stderr }
    if (error.end === 'reports') return discardReported(shell, result)
    return error.end === 'discards' ? discard(shell, result) : result
  }
  const result = await run(filled)
  const stderr = expander.stderr + result.stderr
  const isBare = filled.type === 'SimpleCommand' && filled.name === null
  const keeps = isBare && expander.status !== null && result.exitCode === 0
  // `$empty` is a command without a name, which succeeds.
  const isGone = isBare && node.type === 'SimpleCommand' && node.name !== null && node.redirections.length === 0
  return { ...result, stderr, exitCode: keeps || isGone ? (expander.status ?? 0) : result.exitCode }
}

/** Each sees the previous assignments; the status is that of the last substitution. */
async function oneByOne(
  shell: Watched,
  position: Position,
  { node, run }: { node: SimpleCommand; run: Run },
): Promise<StepResult> {
  let result: StepResult = { stdout: '', stderr: '', exitCode: 0 }
  for (const assignment of node.assignments) {
    const one: SimpleCommand = { ...node, assignments: [assignment] }
    const next = await runExpanded(shell, position, { node: one, run })
    const substitutes = [...partsOf(one)].some(({ type }) => type === 'CommandSubstitution')
    result = joinedResults(result, next, substitutes || next.exitCode !== 0 ? next.exitCode : result.exitCode)
  }
  return result
}
