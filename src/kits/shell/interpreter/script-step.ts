// The step that runs a whole script: of a new shell, of `eval` and `source`, or of a substitution.

import { beginStack } from './call-stack.ts'
import { withOutput } from './closed-output.ts'
import { takeFunctions } from './exported-functions.ts'
import { withProcesses } from './output-processes.ts'
import { ownVariables } from './own-variables.ts'
import {
  asSubshell,
  joinedResults,
  type Position,
  positionIn,
  showResult,
  type Watched,
  withForeignLoops,
  withTerminal,
} from './position.ts'
import { isProcess, repairSubstitutions, repairWords } from './repairs.ts'
import { routedShell, routedSubshell, routedText } from './routed-steps.ts'
import { runScriptInput } from './script-input.ts'
import type { Script, StepResult } from './shape.ts'
import { isOn } from './shell-options.ts'
import { beginVariables } from './special-variables.ts'
import { needsTable } from './table-need.ts'
import { substitutedText } from './taken-text.ts'
import { deeper } from './trace.ts'
import { isLoopJump, putLines, setsTraps, toItsExit, withOwnTraps } from './trap-runs.ts'
import type { ScriptWatch } from './watch.ts'
import { withOption } from './words-alone.ts'
import { noteWritten, refuseMade } from './written-substitutions.ts'

const UNREAD: StepResult = { stdout: '', stderr: '', exitCode: 2 }

type Running = { node: Script; execute: (script: Script) => Promise<StepResult> }

export async function runScript(shell: Watched, watch: ScriptWatch, { node, execute }: Running): Promise<StepResult> {
  const { position } = shell
  const run = () => execute(node)
  // The text is invalid from there on, which the caller determines.
  if ((!position || position.next) && node.statements.some(({ deferredError }) => deferredError)) return UNREAD
  repairWords(node, watch.parts.parse)
  if (!position) return begin(shell, watch, { node, execute })
  const { next, actionLine } = position
  position.next = null
  if (actionLine !== null) putLines(node, () => actionLine)
  else if (next && next.lines > 0) putLines(node, (line) => line + next.lines)
  if (!next) position.substitutions++
  if (next) noteWritten(node, watch)
  else refuseMade(node, shell, watch)
  const isFirst = position.outputs === null && needsTable(node)
  if (next) {
    const own = () => (actionLine === null ? deeper(shell, run) : run())
    const isLive = next.isLive && !isFirst && position.outputs === null
    const whole = () => withTerminal(position, isLive, () => withOwnLines(position, node, own))
    return isFirst ? routedText(shell, position, { isLive: next.isLive, run: whole }) : whole()
  }
  const within = () =>
    withOutput(position, () =>
      asSubshell(position, () => withForeignLoops(position, { count: 0, areOuter: false }, () => toItsLoop(run))),
    )
  const substitute = () => withTerminal(position, false, () => toItsExit(shell, position, within))
  const substituted = () =>
    position.traps.areSet || setsTraps(shell, node)
      ? withOwnTraps(position, substitute)
      : withTerminal(position, false, within)
  const routed = () =>
    position.outputs === null
      ? routedText(shell, position, { isLive: false, run: substituted })
      : routedSubshell(shell, position.outputs, substituted)
  const taken = async () => (isProcess(node) ? routed() : substitutedText(shell, await routed()))
  return withoutErrexit(shell, position, () => traced(shell, position, () => deeper(shell, taken)))
}

/** After an error that abandons a line, the text of `eval` and `source` continues with its own next line. */
async function withOwnLines<T>(position: Position, { statements }: Script, run: () => Promise<T>): Promise<T> {
  const { topStatements, discardedLine } = position
  position.topStatements = new Set(statements)
  position.discardedLine = null
  try {
    return await run()
  } finally {
    position.topStatements = topStatements
    position.discardedLine = discardedLine
  }
}

/** A loop around a substitution continues, and the rest of the substitution is skipped. */
async function toItsLoop(run: () => Promise<StepResult>): Promise<StepResult> {
  try {
    return await run()
  } catch (error) {
    if (!isLoopJump(error)) throw error
    return { stdout: error.stdout, stderr: error.stderr, exitCode: 0 }
  }
}

/** A substitution continues after a failure in it. */
async function withoutErrexit<T>({ ctx }: Watched, position: Position, run: () => Promise<T>): Promise<T> {
  const { options } = ctx.state
  const isKept = isOn(position, 'inherit_errexit') || options.posix === true
  return isKept ? run() : withOption(options, 'errexit', false, run)
}

/** A word expanded without its command is not traced, but commands of its substitutions are. */
async function traced<T>({ ctx }: Watched, position: Position, run: () => Promise<T>): Promise<T> {
  const { options } = ctx.state
  if (!position.tracesWords || options.xtrace) return run()
  position.tracesWords = false
  try {
    return await withOption(options, 'xtrace', true, run)
  } finally {
    position.tracesWords = true
  }
}

async function begin(shell: Watched, watch: ScriptWatch, { node, execute }: Running): Promise<StepResult> {
  const { isScript, options, text, file, isInput, error = null, ...beginning } = watch.begin()
  noteWritten(node, watch)
  const topStatements = new Set(node.statements)
  const position = positionIn(watch, {
    ...beginning,
    topStatements,
    ownStatements: isScript ? topStatements : new Set(),
    own: ownVariables(text),
  })
  position.isOfInput = isInput
  shell.position = position
  beginStack(shell, { file, isOfWords: position.isOfWords })
  beginVariables(shell)
  takeFunctions(shell, position)
  repairSubstitutions(shell, position)
  for (const [name = '', ...words] of options) {
    const result = await shell.runCommand(name, words, [], '')
    if (result.exitCode !== 0) return { ...result, exitCode: 2 }
  }
  const given = shell.ctx.state.groupStdin
  const run = async () => {
    const result = await (isInput ? runScriptInput({ shell, position, execute }) : execute(node))
    return error === null || position.isOver ? result : joinedResults(result, { ...UNREAD, stderr: error }, 2)
  }
  try {
    const whole = () => withProcesses(shell, position, () => toItsExit(shell, position, run))
    const result = await routedShell(shell, position, {
      needsTable: startsTable(node, isInput ? given : undefined),
      run: whole,
    })
    return position.isLive ? showResult(shell, position, result) : result
  } finally {
    watch.inputTaken = given === undefined ? null : given.length - (shell.ctx.state.groupStdin ?? '').length
  }
}

/** A script that is read from the input is only searched for it. */
const COPY_IN_TEXT = />&\s*[\w$"]|&>|\|&|>\s*>\(|\bexec\b[^\n]*>/

function startsTable(node: Script, input: string | undefined): boolean {
  return input === undefined ? needsTable(node) : COPY_IN_TEXT.test(input)
}
