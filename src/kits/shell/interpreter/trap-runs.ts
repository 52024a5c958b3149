// Runs traps, and starts shells with traps of their own.

import { joinedResults, type Position, showResult, type Watched } from './position.ts'
import type { Command, Pipeline, Script, Statement, StepResult } from './shape.ts'
import { roundTrace } from './trace.ts'
import { Traps } from './traps.ts'

type Run = () => Promise<StepResult>
/** The library's error for `exit`. */
type Exit = Error & {
  name: 'ExitError' | 'ReturnError'
  exitCode: number
  stdout: string
  stderr: string
  prependOutput(stdout: string, stderr: string): void
}

/** Runs a subshell to its end, and then its EXIT trap. */
export async function toItsExit(shell: Watched, position: Position, run: Run): Promise<StepResult> {
  let exit: Exit | null = null
  let result: StepResult
  try {
    result = await run()
  } catch (error) {
    // A subshell that is the body of a function also ends with `return`.
    if (!isExit(error) && !isReturn(error)) throw error
    exit = error
    result = { stdout: error.stdout, stderr: error.stderr, exitCode: error.exitCode }
  }
  const action = exit && REPLACED.has(exit) ? null : position.traps.takeExit()
  if (action !== null) {
    if (position.isLive) result = showResult(shell, position, result)
    try {
      const acted = await runAction(shell, { position, action, exitCode: result.exitCode })
      result = joinedResults(result, acted, endsBy(shell, acted) ? acted.exitCode : result.exitCode)
    } catch (error) {
      if (isExit(error)) error.prependOutput(result.stdout, result.stderr)
      throw error
    }
    if (exit) Object.assign(exit, { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode })
  }
  if (exit) throw exit
  return result
}

/** Whether the action ended because of a failure in it. */
function endsBy({ ctx }: Watched, { exitCode }: StepResult): boolean {
  const { options, inCondition, errexitSafe } = ctx.state
  return exitCode !== 0 && options.errexit === true && !inCondition && errexitSafe !== true
}

/** Errors of shells that were replaced by a command. */
const REPLACED = new WeakSet<Error>()

export function markReplaced(exit: Error): void {
  REPLACED.add(exit)
}

export function isExit(error: unknown): error is Exit {
  return error instanceof Error && error.name === 'ExitError'
}

/** Throws the error of `exit`, after `prepare` was called with it. */
export async function exitWith(shell: Watched, code: number, prepare: (exit: Exit) => void): Promise<never> {
  try {
    await shell.runCommand('exit', [String(code)], [], '', true)
  } catch (error) {
    if (isExit(error)) prepare(error)
    throw error
  }
  throw new Error('this release of just-bash has another `exit` than the one that is known here')
}

/** `break` or `continue`. */
export function isLoopJump(error: unknown): error is Error & { stdout: string; stderr: string } {
  return error instanceof Error && (error.name === 'BreakError' || error.name === 'ContinueError')
}

function isReturn(error: unknown): error is Exit {
  return error instanceof Error && error.name === 'ReturnError'
}

/** `node` has the line; `command` is the value of `BASH_COMMAND`, by default the same. */
type Action = {
  position: Position
  action: string
  exitCode?: number
  node?: Command | undefined
  command?: Command | null
}

/** In the running shell: a trap can change its variables, but its status and last argument are restored. */
export async function runAction(
  shell: Watched,
  { position, action, exitCode, node, command }: Action,
): Promise<StepResult> {
  const { state } = shell.ctx
  const { lastExitCode, lastArg } = state
  const setStatus = (status: number) => {
    state.lastExitCode = status
    state.env.set('?', String(status))
  }
  setStatus(exitCode ?? lastExitCode)
  const line = node && 'line' in node ? node.line : undefined
  const { actionLine, actionCommand } = position
  position.actionLine = line ?? null
  position.actionCommand = command ?? node ?? position.lastCommand
  let result: StepResult
  try {
    result = await position.traps.running(() => shell.runCommand('eval', ['--', action], [], '', true))
  } finally {
    Object.assign(position, { actionLine, actionCommand })
  }
  setStatus(lastExitCode)
  state.lastArg = lastArg
  return position.isLive ? showResult(shell, position, result) : result
}

/** For the script of an action, whose line numbers are that of the interrupted command, and for that of `eval`. */
export function putLines(root: Script, place: (line: number) => number): void {
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('line' in node && typeof node.line === 'number') node.line = place(node.line)
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
}

/** For a command before it runs. */
export async function beforeCommand(shell: Watched, position: Position, node: Command): Promise<StepResult | null> {
  return TRACED.has(node.type) ? debug(shell, position, node) : null
}

const TRACED: ReadonlySet<string> = new Set(['SimpleCommand', 'ArithmeticCommand', 'ConditionalCommand', 'Case'])

/** By the first statement of its body, the loop. */
const ROUNDS = new WeakMap<Statement, Command>()

/** Called for each loop over words, if its iterations are traced. */
export function markRounds(node: Command): void {
  if (node.type === 'For' && node.body[0]) ROUNDS.set(node.body[0], node)
}

/** Each iteration of a loop over words counts as a command. Returns its line of `set -x`. */
export async function beforeRound(
  shell: Watched,
  position: Position,
  { node, run }: { node: Statement; run: (as: Command) => Promise<StepResult> },
): Promise<string> {
  const loop = ROUNDS.get(node)
  if (!loop) return ''
  await debug(shell, position, loop)
  return shell.ctx.state.options.xtrace ? roundTrace(shell, run, loop) : ''
}

async function debug(shell: Watched, position: Position, node: Command | null): Promise<StepResult | null> {
  const action = position.traps.actionFor('DEBUG', shell.ctx.state.callDepth)
  return action === null ? null : runAction(shell, { position, action, node: node ?? undefined })
}

/** For a finished pipeline that was the last one of its list. */
export async function afterPipeline(shell: Watched, position: Position, ended: { node: Pipeline; result: StepResult }) {
  const { node, result } = ended
  const { exitCode } = result
  if (exitCode === 0 || node.negated || shell.ctx.state.inCondition) return result
  const [first] = node.commands
  if (node.commands.length === 1 && !FAILING.has(first?.type ?? '')) return result
  const action = position.traps.actionFor('ERR', shell.ctx.state.callDepth)
  if (action === null) return result
  // A function fails because of its last command.
  const command =
    node.commands.length === 1 && first?.type === 'SimpleCommand' && first.name ? position.lastCommand : null
  const run = { position, action, exitCode, node: node.commands.at(-1), command }
  return joinedResults(result, await runAction(shell, run), exitCode)
}

/** Others fail because of a command in them, which was already handled. */
export const FAILING: ReadonlySet<string> = new Set([
  'SimpleCommand',
  'ArithmeticCommand',
  'ConditionalCommand',
  'Subshell',
])

/** For the body of a function, which may be left by `return`: its RETURN trap runs before the function ends. */
export async function withReturn(shell: Watched, position: Position, run: Run): Promise<StepResult> {
  const { traps, lastCommand } = position
  const debugged = traps.areSet && traps.isTracing ? await debug(shell, position, lastCommand) : null
  const whole = (result: StepResult) => (debugged === null ? result : joinedResults(debugged, result, result.exitCode))
  try {
    return whole(await returned(shell, position, await run()))
  } catch (error) {
    if (!isReturn(error)) throw error
    const { stdout, stderr, exitCode } = error
    Object.assign(error, whole(await returned(shell, position, { stdout, stderr, exitCode })))
    throw error
  }
}

/** With the output of the RETURN trap of a function or a sourced file. */
export async function returned(shell: Watched, position: Position, result: StepResult): Promise<StepResult> {
  const action = position.traps.areSet ? position.traps.actionFor('RETURN', shell.ctx.state.callDepth) : null
  if (action === null) return result
  const before = position.isLive ? showResult(shell, position, result) : result
  return joinedResults(before, await runAction(shell, { position, action }), result.exitCode)
}

/** While a subshell runs. */
export async function withOwnTraps<T>(position: Position, run: () => Promise<T>): Promise<T> {
  const { traps } = position
  position.traps = new Traps(traps)
  try {
    return await run()
  } finally {
    position.traps = traps
  }
}

/** The statements of a subshell as one, so that its EXIT trap can run at the end. */
export const BODIES = new WeakMap<Statement, Statement[]>()

export function wholeBody(statements: Statement[]): Statement {
  const whole: Statement = { type: 'Statement', pipelines: [], operators: [], background: false }
  BODIES.set(whole, statements)
  return whole
}

export function scriptOf(statements: Statement[]): Script {
  return { type: 'Script', statements }
}

export function statementOf(command: Command): Statement {
  const pipeline: Pipeline = { type: 'Pipeline', commands: [command], negated: false }
  return { type: 'Statement', pipelines: [pipeline], operators: [], background: false }
}

/** Whether the command may set a trap, directly or in a function that it calls. */
export function setsTraps({ ctx }: Watched, root: object): boolean {
  return mentionsTrap(root) || [...ctx.state.functions.values()].some(mentionsTrap)
}

const MENTIONS = new WeakMap<object, boolean>()

/** Whether any node mentions `trap` by name; only then separate traps are needed. */
function mentionsTrap(root: object): boolean {
  const known = MENTIONS.get(root)
  if (known !== undefined) return known
  const open: object[] = [root]
  let found = false
  for (let node = open.pop(); node !== undefined && !found; node = open.pop()) {
    found = 'type' in node && node.type === 'Literal' && 'value' in node && node.value === 'trap'
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
  MENTIONS.set(root, found)
  return found
}
