// The additions to each step of the interpreter, which never pauses while it runs a script, returns two texts at the
// end, and has no traps. The additions are:
//   - a pause before each statement, everywhere: in loops, functions, substitutions, sourced files,
//   - live output for a terminal,
//   - a report of folder and variables after each of the script's own statements, and
//   - traps, and background commands as separate shells. Nothing is added to the script, so the script cannot detect any of this.

import { markStages, stage } from './command-step.ts'
import { cutOff, withCutPipes } from './cut-pipes.ts'
import { firstLineOf, lastLineOf } from './lines.ts'
import { runNamed } from './named-command.ts'
import { withProcesses } from './output-processes.ts'
import { emitted, shownAtOnce } from './output-routes.ts'
import { plainCommand } from './plain-commands.ts'
import { asSubshell, type Position, showResult, type Watched, withForeignLoops } from './position.ts'
import { runPrepared } from './prepared.ts'
import { routedCall, routedCommand } from './routed-steps.ts'
import { runFile } from './script-files.ts'
import { endsShell } from './script-input.ts'
import { runScript } from './script-step.ts'
import type { Command, Interpreter, Pipeline, Statement, StepResult } from './shape.ts'
import { adoptInput, saidInput, withInputOfOuter, withOwnInput, withPipedInput } from './shared-input.ts'
import { timeFormat, withTime } from './timed.ts'
import {
  afterPipeline,
  BODIES,
  beforeRound,
  FAILING,
  scriptOf,
  setsTraps,
  toItsExit,
  wholeBody,
  withOwnTraps,
} from './trap-runs.ts'
import { discarded } from './unset-errors.ts'
import { ScriptWatch } from './watch.ts'

type Steps = Omit<Interpreter, 'ctx' | 'buildExportedEnv'>
type Subshell = Parameters<Steps['executeSubshell']>[0]

/** Pipelines followed by others in a list of `&&` and `||`. */
const FOLLOWED = new WeakSet<Pipeline>()

/** Watches each step of every interpreter, except those without a watch that only parse. */
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
      return position ? inputCommand(this, position, { node, stdin, call }) : call(node)
    },
    executeSubshell(node, stdin = '', ownsStdin = false) {
      const { position } = this
      const call = (as: typeof node) => own.executeSubshell.call(this, as, stdin, ownsStdin)
      return position ? subshell(this, position, { node, stdin, owns: ownsStdin, call }) : call(node)
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

type CommandCall = { node: Command; stdin: string; call: (as: Command) => Promise<StepResult> }

function inputCommand(shell: Watched, position: Position, { node, stdin, call }: CommandCall): Promise<StepResult> {
  const run = async (as: Command) => {
    position.saysInput = saidInput(as)
    const result = await withPipedInput(shell, { node: as, stdin }, () => call(as))
    position.saysInput = null
    adoptInput(shell, as)
    return result
  }
  const prepared = (as: Command) => runPrepared(shell, position, { node: as, run })
  const routed = (as: Command) => routedCommand(shell, position, { node: as, run: prepared, own: run })
  return stage(shell, position, { node, run: routed })
}

type SubshellCall = { node: Subshell; stdin: string; owns: boolean; call: (as: Subshell) => Promise<StepResult> }

function subshell(shell: Watched, position: Position, { node, stdin, owns, call }: SubshellCall): Promise<StepResult> {
  const within = (as: Subshell) =>
    asSubshell(position, () =>
      withForeignLoops(position, { count: 0, areOuter: true }, () => withProcesses(shell, position, () => call(as))),
    )
  const run = (as: Subshell) => withInputOfOuter(shell, position, { node, stdin, owns }, () => within(as))
  if (!(position.traps.areSet || setsTraps(shell, node))) return run(node)
  return withOwnTraps(position, () => run({ ...node, body: [wholeBody(node.body)] }))
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
        ? showResult(shell, position, result)
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

/** The rest of the line of an abandoned statement is abandoned too. */
function isDiscarded(position: Position, node: Statement): boolean {
  if (position.discardedLine === null || !position.topStatements.has(node) || position.subshells > 0) return false
  if (firstLineOf(node) === position.discardedLine) return true
  position.discardedLine = null
  return false
}

/** It has its own shell and no input; only `wait` reports its failure. */
async function job(shell: Watched, { jobs }: Position, node: Statement): Promise<StepResult> {
  const { state } = shell.ctx
  const body = [{ ...node, background: false }]
  // If the input is the script's, there is none; that of a loop or a group is shared.
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
  // A failure within, even in a function, neither ends the shell under `set -e` nor runs a trap.
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
  // A function or a subshell has failed, even if its last failure was in a list that continued.
  if (node.commands.length > 1 || FAILING.has(node.commands[0]?.type ?? '')) state.errexitSafe = false
  if (!position.traps.areSet || FOLLOWED.has(node)) return result
  return afterPipeline(shell, position, { node, result })
}
