// A command at its position in a pipeline: the actions before it, between it and the interpreter, and on its result.

import { isFileError } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import { withFailure } from './arithmetic/expression.ts'
import { withIntegers, withoutAttribute } from './arithmetic/integers.ts'
import { runDeclaration } from './array-declarations.ts'
import { withClosed } from './closed-output.ts'
import { noteWrittenBytes } from './cut-pipes.ts'
import { noteAssigned } from './declarations-shown.ts'
import { endShell } from './exec.ts'
import { isExported, passOn } from './exported-functions.ts'
import { receivePending } from './kill-self.ts'
import { applyCases } from './letter-case.ts'
import { looksAtFiles } from './looking.ts'
import { emitted } from './output-routes.ts'
import {
  asSubshell,
  errorsShown,
  joinedResults,
  onlyReads,
  type Position,
  showResult,
  type Watched,
  withForeignLoops,
} from './position.ts'
import { readerWants } from './reader-wants.ts'
import { refusedChange, refusedLoop } from './readonly.ts'
import { refusedPattern } from './repairs.ts'
import { routedStage, routedText } from './routed-steps.ts'
import { runSelect } from './select.ts'
import type { Command, Pipeline, StepResult } from './shape.ts'
import { withSpecial } from './special-variables.ts'
import { withTrace } from './trace.ts'
import { beforeCommand, markRounds, setsTraps, statementOf, withReturn } from './trap-runs.ts'
import { discardFor, discardUnmatched, exitAsUnset, unsetInTest, unsetMessage } from './unset-errors.ts'
import { noteWritten, refusedSubstitution, withRefusal } from './written-substitutions.ts'

type Stage = 'inner' | 'inner, errors go on' | 'last'

/** The position of a command in a pipeline of several. */
const STAGES = new WeakMap<Command, Stage>()
/** The following stages, by the stage that writes for them. */
const READERS = new WeakMap<Command, readonly Command[]>()
type CommandStep = { node: Command; run: (as: Command) => Promise<StepResult> }

/** With its own output table, in a pipeline of a shell that has such tables. */
export async function stage(shell: Watched, position: Position, step: CommandStep): Promise<StepResult> {
  const { outputs } = position
  const place = STAGES.get(step.node)
  if (place === undefined) return command(shell, position, step)
  if (outputs === null) {
    // The output of several commands for the next stage stays bytes or text, as each of them wrote it.
    const isOne = step.node.type === 'SimpleCommand' && shell.ctx.state.functions.size === 0
    const run = () => command(shell, position, step)
    return place === 'last' || isOne
      ? run()
      : routedText(shell, position, { isLive: false, wants: readerWants(shell, READERS.get(step.node) ?? []), run })
  }
  const { written } = outputs
  const takes = place === 'last' ? null : place === 'inner' ? 'output' : 'both'
  const wants = takes === null ? null : readerWants(shell, READERS.get(step.node) ?? [])
  const result = await routedStage(shell, outputs, { takes, wants, run: () => command(shell, position, step) })
  noteWrittenBytes(step.node, takes === null ? outputs.written - written : result.stdout.length)
  return result
}

async function command(shell: Watched, position: Position, step: CommandStep): Promise<StepResult> {
  const { unwritten } = position.watch
  if (unwritten.isEmpty || !looksAtFiles(step.node)) return wholeCommand(shell, position, step)
  try {
    await unwritten.write()
  } catch (error) {
    return resultOf(shell, position, error)
  }
  return wholeCommand(shell, position, step)
}

async function wholeCommand(shell: Watched, position: Position, { node, run }: CommandStep): Promise<StepResult> {
  const wasLive = position.isLive
  const isLive = wasLive && position.outputs === null
  const refused = refusedPattern(node) ?? refusedLoop(shell, node) ?? (await runSelect(shell, position, { node, run }))
  if (refused !== null) return refused
  const stage = STAGES.get(node)
  // A stage of a pipeline is a separate shell, which has its own traps.
  const hasTraps = stage !== undefined && node.type !== 'Subshell' && setsTraps(shell, node)
  const as: Command = hasTraps ? { type: 'Subshell', body: [statementOf({ ...node })], redirections: [] } : node
  const isBody = noteBegun(shell, position, node)
  const trapped = position.traps.areSet ? await beforeCommand(shell, position, node) : null
  const isInner = isLive && stage !== undefined && stage !== 'last'
  const before = { status: shell.ctx.state.lastExitCode, substitutions: position.substitutions }
  let result: StepResult
  position.isLive = isLive && !isInner && onlyReads(node)
  try {
    const ended = await closedRun(shell, position, { node, as, stage, isBody, run })
    result = await checked(shell, position, { node, before, result: ended })
  } catch (error) {
    result = (await refusedChange(shell, node, error)) ?? (await resultOf(shell, position, error))
  } finally {
    position.isLive = wasLive
    applyCases(shell, position)
    if (node.type === 'FunctionDef' && isExported(shell.ctx.state, node.name)) passOn(shell, position, node)
  }
  const received = await receivePending(shell, position)
  if (received !== null) result = joinedResults(result, received, result.exitCode)
  if (trapped) result = { ...result, stdout: trapped.stdout + result.stdout, stderr: trapped.stderr + result.stderr }
  return left(shell, position, { stage, isLive, result })
}

/** Returns whether it is the body of a called function. */
function noteBegun(shell: Watched, position: Position, node: Command): boolean {
  const isBody = position.entered === node
  if (isBody) position.entered = null
  else if (position.actionCommand === null && node.type !== 'Group') position.lastCommand = node
  applyCases(shell, position)
  if (node.type === 'SimpleCommand') noteAssigned(position, node)
  if (position.traps.areSet || shell.ctx.state.options.xtrace) markRounds(node)
  return isBody
}

type ClosedRun = CommandStep & { as: Command; stage: Stage | undefined; isBody: boolean }

/** With all processing between a command and the interpreter; `as` is the command in the form in which it is run. */
async function closedRun(
  shell: Watched,
  position: Position,
  { node, as, stage, isBody, run }: ClosedRun,
): Promise<StepResult> {
  const step = async (one: Command): Promise<StepResult> => {
    const integers = withIntegers(shell, one)
    return integers ? withoutAttribute(shell, integers.names, () => run(integers.as)) : run(one)
  }
  // Parsed again from the script's own text.
  const part = (one: Command) => {
    noteWritten(one, position.watch)
    return step(one)
  }
  const made = async (one: Command) => (await runDeclaration(one, part)) ?? step(one)
  const traced = (one: Command) => withTrace(shell, position, { node: one, run: made })
  const special = () => withSpecial(shell, position, { node: as, run: traced })
  const whole = isBody ? () => withReturn(shell, position, special) : special
  const staged = () => (stage === undefined || as.type === 'Subshell' ? whole() : inStage(shell, position, whole))
  const isPiped = stage === 'inner' || stage === 'inner, errors go on'
  return withRefusal(shell, await withClosed(shell, position, { node, isPiped, run: staged }))
}

async function checked(shell: Watched, position: Position, { node, before, result }: Assigned): Promise<StepResult> {
  let left = withFailure(shell, node.type, ofAssignments(shell, position, { node, before, result }))
  if (STAGES.has(node)) noteWrittenBytes(node, left.stdout.length)
  const unset = unsetInTest(shell, node, left)
  if (unset !== null) left = await exitAsUnset(shell, position, unset)
  await discardUnmatched(shell, left)
  return left
}

/** The final processing of a command when it has ended, unless it ends the shell. */
async function left(
  shell: Watched,
  position: Position,
  { stage, isLive, result }: Staged & { isLive: boolean },
): Promise<StepResult> {
  const { outputs } = position
  const rest =
    outputs !== null
      ? await emitted(shell, outputs, withoutShownTrace(position, result))
      : isLive
        ? shownOf(shell, position, { stage, result })
        : result
  const { ending } = position
  position.ending = null
  return ending ? endShell(shell, ending, rest) : rest
}

function inStage(shell: Watched, position: Position, run: () => Promise<StepResult>): Promise<StepResult> {
  const loops = { count: shell.ctx.state.loopDepth, areOuter: true }
  return asSubshell(position, () => withForeignLoops(position, loops, run))
}

/** Removes a line of `set -x` that was shown before the call. */
function withoutShownTrace(position: Position, result: StepResult): StepResult {
  const { shownTrace } = position
  if (shownTrace === null || result.stderr === '') return result
  position.shownTrace = null
  return { ...result, stderr: result.stderr.replace(shownTrace, () => '') }
}

type Assigned = { node: Command; before: { status: number; substitutions: number }; result: StepResult }

/** Assignments without a substitution have the status 0; the interpreter keeps the status of the previous command. */
function ofAssignments({ ctx }: Watched, position: Position, { node, before, result }: Assigned): StepResult {
  if (node.type !== 'SimpleCommand' || node.name !== null || before.status === 0) return result
  const isLeft = result.exitCode === before.status && position.substitutions === before.substitutions
  if (!isLeft || /^bash: /m.test(result.stderr)) return result
  ctx.state.lastExitCode = 0
  return { ...result, exitCode: 0 }
}

type Staged = { stage: Stage | undefined; result: StepResult }

function shownOf(shell: Watched, position: Position, { stage, result }: Staged): StepResult {
  if (stage === 'inner, errors go on') return result
  return stage === 'inner' ? errorsShown(shell, position, result) : showResult(shell, position, result)
}

/** The result of a command that threw; an error that ends more than the command is rethrown. */
async function resultOf(shell: Watched, position: Position, error: unknown): Promise<StepResult> {
  const refusal = refusedSubstitution(shell, error)
  if (refusal !== null) return { stdout: '', stderr: refusal, exitCode: 1 }
  const unset = unsetMessage(error)
  if (unset !== null) return exitAsUnset(shell, position, unset)
  await discardFor(shell, error)
  if (!isFileError(error)) throw error
  return { stdout: '', stderr: `bash: ${position.wordsFor(error.path)}: ${shellMessage(error)}\n`, exitCode: 1 }
}

export function markStages({ commands, pipeStderr }: Pipeline): void {
  commands.forEach((node, i) => {
    if (i === commands.length - 1) STAGES.set(node, 'last')
    else STAGES.set(node, pipeStderr?.[i] ? 'inner, errors go on' : 'inner')
    READERS.set(node, commands.slice(i + 1))
  })
}
