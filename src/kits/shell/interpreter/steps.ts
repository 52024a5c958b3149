// What is done at each step of a script besides what the interpreter does. It runs scripts without ever giving way,
// answers with two texts at their end, and has no traps. Here it is made to
//   - give way before each statement, wherever that stands: in a loop, a function, a substitution, a sourced file,
//   - show what a terminal would show as it comes,
//   - report folder and variables after each of the script's own statements, and
//   - run traps, and what is put into the background as a shell of its own.
// Nothing is added to the script, so nothing of this can be seen by it.

import { isFileError } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import { withFailure } from './arithmetic/expression.ts'
import { withIntegers, withoutAttribute } from './arithmetic/integers.ts'
import { runDeclaration } from './array-declarations.ts'
import { withClosed } from './closed-output.ts'
import { cutOff, noteWrittenBytes, withCutPipes } from './cut-pipes.ts'
import { noteAssigned } from './declarations-shown.ts'
import { endShell } from './exec.ts'
import { isExported, passOn } from './exported-functions.ts'
import { receivePending } from './kill-self.ts'
import { applyCases } from './letter-case.ts'
import { firstLineOf, lastLineOf } from './lines.ts'
import { looksAtFiles } from './looking.ts'
import { runNamed } from './named-command.ts'
import { withProcesses } from './output-processes.ts'
import { emitted, shownAtOnce } from './output-routes.ts'
import { plainCommand } from './plain-commands.ts'
import {
  asSubshell,
  errorsShown,
  joined,
  onlyReads,
  type Position,
  shown,
  type Watched,
  withForeignLoops,
} from './position.ts'
import { runPrepared } from './prepared.ts'
import { readerWants } from './reader-wants.ts'
import { refusedChange, refusedLoop } from './readonly.ts'
import { refusedPattern } from './repairs.ts'
import { routedCall, routedCommand, routedStage, routedText } from './routed-steps.ts'
import { runFile } from './script-files.ts'
import { endsShell } from './script-input.ts'
import { runScript } from './script-step.ts'
import { runSelect } from './select.ts'
import type { Command, Interpreter, Pipeline, Statement, StepResult } from './shape.ts'
import { adoptInput, saidInput, withInputOfOuter, withOwnInput, withPipedInput } from './shared-input.ts'
import { withSpecial } from './special-variables.ts'
import { timeFormat, withTime } from './timed.ts'
import { withTrace } from './trace.ts'
import {
  afterPipeline,
  BODIES,
  beforeCommand,
  beforeRound,
  FAILING,
  markRounds,
  scriptOf,
  setsTraps,
  statementOf,
  toItsExit,
  wholeBody,
  withOwnTraps,
  withReturn,
} from './trap-runs.ts'
import { discarded, discardFor, discardUnmatched, exitAsUnset, unsetInTest, unsetMessage } from './unset-errors.ts'
import { ScriptWatch } from './watch.ts'
import { noteWritten, refusedSubstitution, withRefusal } from './written-substitutions.ts'

type Steps = Omit<Interpreter, 'ctx' | 'buildExportedEnv'>

/** Where a command stands in a pipeline of several. */
const STAGES = new WeakMap<Command, 'inner' | 'inner, errors go on' | 'last'>()
/** By a stage that writes for others: those that follow it. */
const READERS = new WeakMap<Command, readonly Command[]>()
/** Pipelines behind which others follow in a list of `&&` and `||`. */
const FOLLOWED = new WeakSet<Pipeline>()

/** From then on each step of every interpreter is watched, but of those that have no watch and only parse. */
export function watchSteps(prototype: Interpreter): void {
  const { executeScript, executeStatement, executePipeline, executeCommand } = prototype
  const { executeSubshell, runCommand, executeUserScript } = prototype
  const own = { executeScript, executeStatement, executePipeline, executeCommand }
  Object.assign(prototype, watched({ ...own, executeSubshell, runCommand, executeUserScript }))
}

function watched(own: Steps): Steps & ThisType<Watched> {
  return {
    executeScript(node) {
      const watch = this.ctx.coverage
      const execute = (script: typeof node) => own.executeScript.call(this, script)
      return watch instanceof ScriptWatch ? runScript(this, watch, { node, execute }) : execute(node)
    },
    executeStatement(node) {
      const { position } = this
      return position ? statement(this, position, { node, own }) : own.executeStatement.call(this, node)
    },
    executePipeline(node) {
      const { position } = this
      return position ? pipeline(this, position, { node, own }) : own.executePipeline.call(this, node)
    },
    executeCommand(node, stdin, ownsStdin) {
      const { position } = this
      const call = (as: Command) => own.executeCommand.call(this, as, stdin, ownsStdin)
      if (!position) return call(node)
      const run = async (as: Command) => {
        position.saysInput = saidInput(as)
        const result = await withPipedInput(this, { node: as, stdin }, () => call(as))
        position.saysInput = null
        adoptInput(this, as)
        return result
      }
      const prepared = (as: Command) => runPrepared(this, position, { node: as, run })
      const routed = (as: Command) => routedCommand(this, position, { node: as, run: prepared, own: run })
      return stage(this, position, { node, run: routed })
    },
    executeSubshell(node, stdin = '', ownsStdin = false) {
      const { position } = this
      const call = (as: typeof node) => own.executeSubshell.call(this, as, stdin, ownsStdin)
      if (!position) return call(node)
      const within = (as: typeof node) =>
        asSubshell(position, () =>
          withForeignLoops(position, { count: 0, areOuter: true }, () => withProcesses(this, position, () => call(as))),
        )
      const run = (as: typeof node) =>
        withInputOfOuter(this, position, { node, stdin, owns: ownsStdin }, () => within(as))
      if (!(position.traps.areSet || setsTraps(this, node))) return run(node)
      return withOwnTraps(position, () => run({ ...node, body: [wholeBody(node.body)] }))
    },
    runCommand(...call) {
      const { position } = this
      const runAs = (as: typeof call) => own.runCommand.apply(this, as)
      if (!position) return runAs(call)
      const named = () => withOwnInput(this, position, call, (as) => runNamed(this, position, { call: as, runAs }))
      return routedCall(this, position, { call, run: named })
    },
    executeUserScript(path, args, stdin) {
      return this.position ? runFile(this, path, { args, stdin }) : own.executeUserScript.call(this, path, args, stdin)
    },
  }
}

type Step<Node> = { node: Node; own: Steps }

async function statement(shell: Watched, position: Position, { node, own }: Step<Statement>): Promise<StepResult> {
  const pause = position.pacer.pauseIfDue()
  if (pause) {
    await position.watch.unwritten.write()
    await pause
  }
  if (isDiscarded(position, node)) return { stdout: '', stderr: '', exitCode: 1 }
  const isWatched = position.traps.areSet || shell.ctx.state.options.xtrace
  const trace = isWatched
    ? await beforeRound(shell, position, { node, run: (as) => own.executeCommand.call(shell, as, '') })
    : ''
  const body = BODIES.get(node)
  if (body) return toItsExit(shell, position, () => own.executeScript.call(shell, scriptOf(body)))
  for (let i = 0; i < node.pipelines.length - 1; i++) {
    const followed = node.pipelines[i]
    if (followed) FOLLOWED.add(followed)
  }
  const isShown = trace !== '' && (await shownAtOnce(position, trace))
  const [first, ...others] = node.pipelines
  if (first !== undefined && others.length === 0 && !node.background && trace === '') {
    const plain = plainCommand(shell, position, first)
    if (plain !== null) {
      const result = plain instanceof Promise ? await plain : plain
      position.inputLeft = shell.ctx.state.groupStdin
      if (position.ownStatements.has(node)) position.onStatement(shell)
      return position.outputs?.isUnread ? cutOff(shell, node, result) : result
    }
  }
  const ended = node.background ? await job(shell, position, node) : await orDiscarded(shell, position, { node, own })
  const result = trace === '' || isShown ? ended : { ...ended, stderr: trace + ended.stderr }
  const left =
    position.outputs !== null
      ? await emitted(shell, position.outputs, result)
      : position.isLive
        ? shown(shell, position, result)
        : result
  if (position.ownStatements.has(node)) position.onStatement(shell)
  return position.outputs?.isUnread ? cutOff(shell, node, left) : left
}

async function orDiscarded(shell: Watched, position: Position, { node, own }: Step<Statement>): Promise<StepResult> {
  try {
    return await own.executeStatement.call(shell, node)
  } catch (error) {
    if (position.topStatements.has(node) && position.subshells === 0) position.isOver ||= endsShell(error)
    const left = position.topStatements.has(node) && position.subshells === 0 ? discarded(error) : null
    if (left === null) throw error
    position.discardedLine = lastLineOf(node)
    shell.ctx.state.lastExitCode = left.exitCode
    shell.ctx.state.env.set('?', String(left.exitCode))
    return left
  } finally {
    position.inputLeft = shell.ctx.state.groupStdin
  }
}

/** What stands on the same line as what was given up is given up as well. */
function isDiscarded(position: Position, node: Statement): boolean {
  if (position.discardedLine === null || !position.topStatements.has(node) || position.subshells > 0) return false
  if (firstLineOf(node) === position.discardedLine) return true
  position.discardedLine = null
  return false
}

/** It has a shell of its own and no input; that it failed is told by `wait` alone. */
async function job(shell: Watched, { jobs }: Position, node: Statement): Promise<StepResult> {
  const { state } = shell.ctx
  const body = [{ ...node, background: false }]
  // Where the input is that of the script, there is none; that of a loop or a group is shared.
  const isAlone = state.groupStdin === undefined
  const result = await shell.executeCommand({ type: 'Subshell', body, redirections: [] }, '', isAlone)
  state.lastBackgroundPid = state.nextVirtualPid++
  jobs.ended(state.lastBackgroundPid, result.exitCode)
  state.lastExitCode = 0
  state.env.set('?', '0')
  return { ...result, exitCode: 0 }
}

async function pipeline(shell: Watched, position: Position, { node, own }: Step<Pipeline>): Promise<StepResult> {
  const { state } = shell.ctx
  const { inCondition } = state
  const plain = plainCommand(shell, position, node)
  if (plain !== null) return plain
  if (node.commands.length > 1) markStages(node)
  // Whatever fails within, be it in a function, is neither an end under `set -e` nor an occasion for a trap.
  if (node.negated || FOLLOWED.has(node)) state.inCondition = true
  let result: StepResult
  try {
    const format = timeFormat(shell, node)
    const start = format === null ? 0 : performance.now()
    result = await own.executePipeline.call(shell, format === null ? node : { ...node, timed: false })
    if (format !== null) result = withTime(result, format, performance.now() - start)
    if (node.commands.length > 1) result = withCutPipes(shell, node, result)
  } finally {
    state.inCondition = inCondition
  }
  // A function or a subshell has failed, also by a list that goes on behind what failed in it.
  if (node.commands.length > 1 || FAILING.has(node.commands[0]?.type ?? '')) state.errexitSafe = false
  if (!position.traps.areSet || FOLLOWED.has(node)) return result
  return afterPipeline(shell, position, { node, result })
}

type CommandStep = { node: Command; run: (as: Command) => Promise<StepResult> }

/** With a table of its own for what it writes, in a pipeline of a shell that has such tables. */
async function stage(shell: Watched, position: Position, step: CommandStep): Promise<StepResult> {
  const { outputs } = position
  const place = STAGES.get(step.node)
  if (place === undefined) return command(shell, position, step)
  if (outputs === null) {
    // What several commands write for the next stage stays bytes or text, as each of them wrote it.
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
  // What stands in a pipeline is a shell of its own, to which its traps belong.
  const hasTraps = stage !== undefined && node.type !== 'Subshell' && setsTraps(shell, node)
  const as: Command = hasTraps ? { type: 'Subshell', body: [statementOf({ ...node })], redirections: [] } : node
  const isBody = position.entered === node
  if (isBody) position.entered = null
  else if (position.actionCommand === null && node.type !== 'Group') position.lastCommand = node
  applyCases(shell, position)
  if (node.type === 'SimpleCommand') noteAssigned(position, node)
  if (position.traps.areSet || shell.ctx.state.options.xtrace) markRounds(node)
  const trapped = position.traps.areSet ? await beforeCommand(shell, position, node) : null
  const isInner = isLive && stage !== undefined && stage !== 'last'
  const before = { status: shell.ctx.state.lastExitCode, substitutions: position.substitutions }
  let result: StepResult
  position.isLive = isLive && !isInner && onlyReads(node)
  try {
    const step = async (one: Command): Promise<StepResult> => {
      const integers = withIntegers(shell, one)
      return integers ? withoutAttribute(shell, integers.names, () => run(integers.as)) : run(one)
    }
    // Read again from the script's own text.
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
    const ended = withRefusal(shell, await withClosed(shell, position, { node, isPiped, run: staged }))
    result = withFailure(shell, node.type, ofAssignments(shell, position, { node, before, result: ended }))
    if (stage !== undefined) noteWrittenBytes(node, result.stdout.length)
    const unset = unsetInTest(shell, node, result)
    if (unset !== null) result = await exitAsUnset(shell, position, unset)
    await discardUnmatched(shell, result)
  } catch (error) {
    result = (await refusedChange(shell, node, error)) ?? (await resultOf(shell, position, error))
  } finally {
    position.isLive = wasLive
    applyCases(shell, position)
    if (node.type === 'FunctionDef' && isExported(shell.ctx.state, node.name)) passOn(shell, position, node)
  }
  const received = await receivePending(shell, position)
  if (received !== null) result = joined(result, received, result.exitCode)
  if (trapped) result = { ...result, stdout: trapped.stdout + result.stdout, stderr: trapped.stderr + result.stderr }
  const { outputs } = position
  const left =
    outputs !== null
      ? await emitted(shell, outputs, withoutShownTrace(position, result))
      : isLive
        ? shownOf(shell, position, { stage, result })
        : result
  const { ending } = position
  position.ending = null
  return ending ? endShell(shell, ending, left) : left
}

function inStage(shell: Watched, position: Position, run: () => Promise<StepResult>): Promise<StepResult> {
  const loops = { count: shell.ctx.state.loopDepth, areOuter: true }
  return asSubshell(position, () => withForeignLoops(position, loops, run))
}

/** A line of `set -x` that was shown before the call. */
function withoutShownTrace(position: Position, result: StepResult): StepResult {
  const { shownTrace } = position
  if (shownTrace === null || result.stderr === '') return result
  position.shownTrace = null
  return { ...result, stderr: result.stderr.replace(shownTrace, () => '') }
}

type Assigned = { node: Command; before: { status: number; substitutions: number }; result: StepResult }

/** Assignments alone end with 0 where nothing is substituted; the interpreter leaves the status of the command before. */
function ofAssignments({ ctx }: Watched, position: Position, { node, before, result }: Assigned): StepResult {
  if (node.type !== 'SimpleCommand' || node.name !== null || before.status === 0) return result
  const isLeft = result.exitCode === before.status && position.substitutions === before.substitutions
  if (!isLeft || /^bash: /m.test(result.stderr)) return result
  ctx.state.lastExitCode = 0
  return { ...result, exitCode: 0 }
}

type Staged = { stage: 'inner' | 'inner, errors go on' | 'last' | undefined; result: StepResult }

function shownOf(shell: Watched, position: Position, { stage, result }: Staged): StepResult {
  if (stage === 'inner, errors go on') return result
  return stage === 'inner' ? errorsShown(shell, position, result) : shown(shell, position, result)
}

/** What a command answers that threw; what ends more than the command is thrown on. */
async function resultOf(shell: Watched, position: Position, error: unknown): Promise<StepResult> {
  const refusal = refusedSubstitution(shell, error)
  if (refusal !== null) return { stdout: '', stderr: refusal, exitCode: 1 }
  const unset = unsetMessage(error)
  if (unset !== null) return exitAsUnset(shell, position, unset)
  await discardFor(shell, error)
  if (!isFileError(error)) throw error
  return { stdout: '', stderr: `bash: ${position.wordsFor(error.path)}: ${shellMessage(error)}\n`, exitCode: 1 }
}

function markStages({ commands, pipeStderr }: Pipeline): void {
  commands.forEach((node, i) => {
    if (i === commands.length - 1) STAGES.set(node, 'last')
    else STAGES.set(node, pipeStderr?.[i] ? 'inner, errors go on' : 'inner')
    READERS.set(node, commands.slice(i + 1))
  })
}
