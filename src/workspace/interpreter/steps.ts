// What is done at each step of a script besides what the interpreter does. It runs scripts without ever giving way,
// answers with two texts at their end, and has no traps. Here it is made to
//   - give way before each statement, wherever that stands: in a loop, a function, a substitution, a sourced file,
//   - show what a terminal would show as it comes,
//   - report folder and variables after each of the script's own statements, and
//   - run traps, and what is put into the background as a shell of its own.
// Nothing is added to the script, so nothing of this can be seen by it.

import { isFileError } from '../file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import { withFailure } from './arithmetic/expression.ts'
import { withIntegers, withoutAttribute } from './arithmetic/integers.ts'
import { runDeclaration } from './array-declarations.ts'
import { withClosed, withOutput } from './closed-output.ts'
import { noteWrittenBytes, withCutPipes } from './cut-pipes.ts'
import { endShell } from './exec.ts'
import { withFolders } from './folder-patterns.ts'
import { runFile, runNamed } from './named-command.ts'
import {
  asSubshell,
  errorsShown,
  onlyReads,
  type Position,
  positionIn,
  shown,
  type Watched,
  withTerminal,
} from './position.ts'
import { runPrepared } from './prepared.ts'
import { refusedPattern, repairSubstitutions, repairWords } from './repairs.ts'
import type { Command, Interpreter, Pipeline, Script, Statement, StepResult } from './shape.ts'
import { withPatterns } from './shell-patterns.ts'
import {
  afterPipeline,
  BODIES,
  beforeCommand,
  beforeRound,
  markRounds,
  putOnLine,
  scriptOf,
  setsTraps,
  statementOf,
  toItsExit,
  wholeBody,
  withOwnTraps,
} from './trap-runs.ts'
import {
  discarded,
  discardFor,
  discardUnmatched,
  endedByMessage,
  exitAsUnset,
  unsetInTest,
  unsetMessage,
} from './unset-errors.ts'
import { ScriptWatch } from './watch.ts'
import { noteWritten, refusedSubstitution, refuseMade, withRefusal } from './written-substitutions.ts'

type Steps = Omit<Interpreter, 'ctx' | 'buildExportedEnv'>

/** Where a command stands in a pipeline of several. */
const STAGES = new WeakMap<Command, 'inner' | 'inner, errors go on' | 'last'>()
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
      return watch instanceof ScriptWatch ? script(this, watch, { node, own }) : own.executeScript.call(this, node)
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
      const run = (as: Command) => own.executeCommand.call(this, withPatterns(this.ctx.state, as), stdin, ownsStdin)
      if (!position) return run(node)
      return command(this, position, { node, run: (as) => runPrepared(this, position, { node: as, run }) })
    },
    executeSubshell(node, stdin, ownsStdin) {
      const { position } = this
      const call = (as: typeof node) => own.executeSubshell.call(this, as, stdin, ownsStdin)
      if (!position) return call(node)
      const run = (as: typeof node) => asSubshell(position, () => call(as))
      if (!(position.traps.areSet || setsTraps(this, node))) return run(node)
      return withOwnTraps(position, () => run({ ...node, body: [wholeBody(node.body)] }))
    },
    runCommand(...call) {
      const { position } = this
      const runAs = (as: typeof call) => own.runCommand.apply(this, as)
      return position ? runNamed(this, position, { call, runAs }) : runAs(call)
    },
    executeUserScript(path, args, stdin) {
      return this.position ? runFile(this, path, { args, stdin }) : own.executeUserScript.call(this, path, args, stdin)
    },
  }
}

type Step<Node> = { node: Node; own: Steps }

async function script(shell: Watched, watch: ScriptWatch, { node, own }: Step<Script>): Promise<StepResult> {
  const run = () => own.executeScript.call(shell, node)
  const { position } = shell
  repairWords(node, watch.parts.parse)
  if (!position) return begin(shell, watch, { node, run })
  const { next, actionLine } = position
  position.next = null
  if (actionLine !== null) putOnLine(node, actionLine)
  if (next) noteWritten(node, watch)
  else refuseMade(node, shell, watch)
  if (next) return withTerminal(position, next.isLive, run)
  const within = () => withOutput(position, () => asSubshell(position, run))
  const substitute = () => withTerminal(position, false, () => toItsExit(shell, position, within))
  return position.traps.areSet || setsTraps(shell, node)
    ? withOwnTraps(position, substitute)
    : withTerminal(position, false, within)
}

async function begin(
  shell: Watched,
  watch: ScriptWatch,
  { node, run }: { node: Script; run: () => Promise<StepResult> },
) {
  const { isScript, options, ...beginning } = watch.begin()
  noteWritten(node, watch)
  const topStatements = new Set(node.statements)
  const position = positionIn(watch, {
    ...beginning,
    topStatements,
    ownStatements: isScript ? topStatements : new Set(),
  })
  shell.position = position
  repairSubstitutions(shell, position)
  for (const [name = '', ...words] of options) {
    const result = await shell.runCommand(name, words, [], '')
    if (result.exitCode !== 0) return { ...result, exitCode: 2 }
  }
  const result = await toItsExit(shell, position, run)
  return position.isLive ? shown(shell, position, result) : result
}

async function statement(shell: Watched, position: Position, { node, own }: Step<Statement>): Promise<StepResult> {
  const pause = position.pacer.pauseIfDue()
  if (pause) await pause
  if (isDiscarded(position, node)) return { stdout: '', stderr: '', exitCode: 1 }
  const isWatched = position.traps.areSet || shell.ctx.state.options.xtrace
  const trace = isWatched ? await beforeRound(shell, position, node) : ''
  const body = BODIES.get(node)
  if (body) return toItsExit(shell, position, () => own.executeScript.call(shell, scriptOf(body)))
  for (let i = 0; i < node.pipelines.length - 1; i++) {
    const followed = node.pipelines[i]
    if (followed) FOLLOWED.add(followed)
  }
  if (trace !== '' && position.isLive) position.show(trace)
  const ended = node.background ? await job(shell, position, node) : await orDiscarded(shell, position, { node, own })
  const result = trace === '' || position.isLive ? ended : { ...ended, stderr: trace + ended.stderr }
  const left = position.isLive ? shown(shell, position, result) : result
  if (position.ownStatements.has(node)) position.onStatement(shell)
  return left
}

async function orDiscarded(shell: Watched, position: Position, { node, own }: Step<Statement>): Promise<StepResult> {
  try {
    return await own.executeStatement.call(shell, node)
  } catch (error) {
    const left = position.topStatements.has(node) && position.subshells === 0 ? discarded(error) : null
    if (left === null) throw error
    position.discardedLine = lineOf(node)
    shell.ctx.state.lastExitCode = left.exitCode
    shell.ctx.state.env.set('?', String(left.exitCode))
    return left
  }
}

/** What stands on the same line as what was given up is given up as well. */
function isDiscarded(position: Position, node: Statement): boolean {
  if (position.discardedLine === null || !position.topStatements.has(node) || position.subshells > 0) return false
  if (lineOf(node) === position.discardedLine) return true
  position.discardedLine = null
  return false
}

function lineOf({ pipelines }: Statement): number | null {
  const [first] = pipelines[0]?.commands ?? []
  return first && 'line' in first ? (first.line ?? null) : null
}

/** It has a shell of its own and no input; that it failed is told by `wait` alone. */
async function job(shell: Watched, { jobs }: Position, node: Statement): Promise<StepResult> {
  const { state } = shell.ctx
  const body = [{ ...node, background: false }]
  const result = await shell.executeCommand({ type: 'Subshell', body, redirections: [] }, '', true)
  state.lastBackgroundPid = state.nextVirtualPid++
  jobs.ended(state.lastBackgroundPid, result.exitCode)
  state.lastExitCode = 0
  state.env.set('?', '0')
  return { ...result, exitCode: 0 }
}

async function pipeline(shell: Watched, position: Position, { node, own }: Step<Pipeline>): Promise<StepResult> {
  const { state } = shell.ctx
  const { inCondition } = state
  if (node.commands.length > 1) markStages(node)
  // Whatever fails within, be it in a function, is neither an end under `set -e` nor an occasion for a trap.
  if (node.negated || FOLLOWED.has(node)) state.inCondition = true
  let result: StepResult
  try {
    result = await own.executePipeline.call(shell, node)
    if (node.commands.length > 1) result = withCutPipes(shell, node, result)
  } finally {
    state.inCondition = inCondition
  }
  if (!position.traps.areSet || FOLLOWED.has(node)) return result
  return afterPipeline(shell, position, { node, result })
}

type CommandStep = { node: Command; run: (as: Command) => Promise<StepResult> }

async function command(shell: Watched, position: Position, { node, run }: CommandStep): Promise<StepResult> {
  const { isLive } = position
  const refused = refusedPattern(node)
  if (refused !== null) return { stdout: '', stderr: refused, exitCode: 1 }
  const stage = STAGES.get(node)
  // What stands in a pipeline is a shell of its own, to which its traps belong.
  const hasTraps = stage !== undefined && node.type !== 'Subshell' && setsTraps(shell, node)
  const as: Command = hasTraps ? { type: 'Subshell', body: [statementOf({ ...node })], redirections: [] } : node
  if (position.traps.areSet || shell.ctx.state.options.xtrace) markRounds(node)
  const trapped = position.traps.areSet ? await beforeCommand(shell, position, node) : null
  const isInner = isLive && stage !== undefined && stage !== 'last'
  let result: StepResult
  position.isLive = isLive && !isInner && onlyReads(node)
  try {
    const step = async (one: Command): Promise<StepResult> => {
      const mended = await withFolders(shell, one, run)
      if (!('type' in mended)) return mended
      const integers = withIntegers(shell, mended)
      return integers ? withoutAttribute(shell, integers.names, () => run(integers.as)) : run(mended)
    }
    // Read again from the script's own text.
    const part = (one: Command) => {
      noteWritten(one, position.watch)
      return step(one)
    }
    const whole = async () => (await runDeclaration(as, part)) ?? step(as)
    const staged = () => (stage === undefined ? whole() : asSubshell(position, whole))
    const isPiped = stage === 'inner' || stage === 'inner, errors go on'
    const ended = withRefusal(shell, await withClosed(shell, position, { node, isPiped, run: staged }))
    result = withFailure(shell, node.type, ended)
    if (stage !== undefined) noteWrittenBytes(node, result)
    const unset = unsetInTest(shell, node, result)
    if (unset !== null) result = await exitAsUnset(shell, position, unset)
    await discardUnmatched(shell, result)
  } catch (error) {
    endedByMessage(shell, position, { node, error })
    result = await resultOf(shell, position, error)
  } finally {
    position.isLive = isLive
  }
  if (trapped) result = { ...result, stdout: trapped.stdout + result.stdout, stderr: trapped.stderr + result.stderr }
  const left = isLive ? shownOf(shell, position, { stage, result }) : result
  const { ending } = position
  position.ending = null
  return ending ? endShell(shell, ending, left) : left
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
  })
}
