// The state of one shell at its current step, including its live output to a terminal.

import { bytesToText, textToBytes } from '../../../workspace/text-encodings.ts'
import { Jobs } from './jobs.ts'
import { type LetterCases, noCases } from './letter-cases.ts'
import type { OutputRoutes } from './output-routes.ts'
import type { OwnVariables } from './own-variables.ts'
import type { PendingRedirections } from './pending-redirections.ts'
import type { Command, Interpreter, Redirection, Statement, StepResult } from './shape.ts'
import { OWN_OPTIONS, type OwnOption } from './shell-options.ts'
import { without } from './step-result.ts'
import { Traps } from './traps.ts'
import type { OutputProcess } from './waiting-process.ts'
import type { ScriptWatch, WatchParts } from './watch.ts'

export type ForeignLoops = { count: number; areOuter: boolean }

export interface Position extends WatchParts {
  readonly watch: ScriptWatch
  readonly jobs: Jobs
  traps: Traps
  /** Whether the running command writes to the terminal. */
  isLive: boolean
  /** A line of `set -x` that was already shown, and is also in the result of the last command. */
  shownTrace: string | null
  /** Names that a function declared as integers, until it returns. */
  readonly localIntegers: Set<string>
  /** The local names of the running function, and whether they were references before. */
  localReferences: Map<string, boolean>
  /** The names that the running function declared read-only for itself. */
  localReadonly: Set<string>
  /** The name with which the running command was called. */
  calledAs: string
  /** Whether the script was given as an argument, as with `-c`. */
  readonly isOfWords: boolean
  /** Whether it reads its script from its input. */
  isOfInput: boolean
  /** The line of the command for which a trap's action is run. */
  actionLine: number | null
  /** The shell's own statements, and the line of the one whose rest is skipped. */
  topStatements: ReadonlySet<Statement>
  discardedLine: number | null
  /** Loops around the running code that are not its own: their number, and whether they belong to an outer shell. */
  foreignLoops: ForeignLoops
  /** The number of nested running subshells. */
  subshells: number
  /** The destinations of its output, for a shell with such a table. */
  outputs: OutputRoutes | null
  /** Whether its output so far is preserved when it is stopped. */
  isKept: boolean
  pendingOutputs: PendingRedirections | null
  /** Commands that read the shell's output after it has ended. */
  processes: OutputProcess[]
  /** Standard streams that are closed for the running command. */
  closed: { input: boolean; output: boolean }
  ownOptions: Set<OwnOption>
  /** The kind of the next command's input, if it has a redirection. */
  saysInput: 'file' | 'other' | null
  /** Whether something other than `exit` has ended the shell. */
  isOver: boolean
  /** The rest of the standard input after the last statement. */
  inputLeft: string | undefined
  /** Set by `exec`: the shell ends when the command is over. */
  ending: { exitCode: number; isReplaced: boolean } | null
  /** Gets the words of a command that is called only for them. */
  takeWords: ((words: string[]) => void) | null
  /** Words are expanded without a trace, though `set -x` is on. */
  tracesWords: boolean
  /** For the next script in the same shell, with its line offset; otherwise the next script is a substitution. */
  next: { isLive: boolean; lines: number } | null
  /** The number of substitutions so far. */
  substitutions: number
  readonly own: OwnVariables
  cases: LetterCases
  /** Declared arrays without a value. */
  readonly unassigned: Set<string>
  /** Signals that a subshell has sent to the shell itself. */
  readonly pending: string[]
  /** The running command, and the one that runs a trap's action. */
  lastCommand: Command | null
  actionCommand: Command | null
  /** The body of the called function, until it starts. */
  entered: Command | null
  /** The script's own statements, in the shell that runs them. */
  ownStatements: ReadonlySet<Statement>
}

export type Watched = Interpreter & { position?: Position }

type Beginning = Pick<Position, 'isLive' | 'isOfWords' | 'ownStatements' | 'topStatements' | 'own'>

export function positionIn(watch: ScriptWatch, beginning: Beginning): Position {
  return {
    ...beginning,
    ...watch.parts,
    watch,
    jobs: new Jobs(),
    traps: new Traps(),
    shownTrace: null,
    localIntegers: new Set(),
    localReferences: new Map(),
    localReadonly: new Set(),
    calledAs: '',
    isOfInput: false,
    actionLine: null,
    cases: noCases(),
    unassigned: new Set(),
    pending: [],
    lastCommand: null,
    actionCommand: null,
    entered: null,
    discardedLine: null,
    foreignLoops: { count: 0, areOuter: false },
    subshells: 0,
    substitutions: 0,
    outputs: null,
    isKept: false,
    pendingOutputs: null,
    processes: [],
    closed: { input: false, output: false },
    ownOptions: new Set(OWN_OPTIONS),
    saysInput: null,
    isOver: false,
    inputLeft: undefined,
    ending: null,
    takeWords: null,
    tracesWords: false,
    next: null,
  }
}

export async function withTerminal<T>(position: Position, isLive: boolean, run: () => Promise<T>): Promise<T> {
  const before = position.isLive
  position.isLive = isLive
  try {
    return await run()
  } finally {
    position.isLive = before
  }
}

/** A change of the mask in an inner shell ends with it. */
export async function withOwnMask<T>({ mask }: Position, run: () => Promise<T>): Promise<T> {
  const { bits } = mask
  try {
    return await run()
  } finally {
    mask.restore(bits)
  }
}

/** A loop around parentheses or a pipe's stage does not belong to them, but one around a substitution ends it. */
export async function withForeignLoops<T>(position: Position, loops: ForeignLoops, run: () => Promise<T>): Promise<T> {
  const before = position.foreignLoops
  position.foreignLoops = loops
  try {
    return await run()
  } finally {
    position.foreignLoops = before
  }
}

/** For a shell within this one: a subshell, a substitution, a stage of a pipeline. */
export async function asSubshell<T>(position: Position, run: () => Promise<T>): Promise<T> {
  const { ownOptions, cases } = position
  position.subshells++
  position.cases = { ...cases, kinds: new Map(cases.kinds) }
  position.ownOptions = new Set(ownOptions)
  try {
    const own = () => withOwnMask(position, run)
    return await (position.outputs?.within([], own) ?? own())
  } finally {
    position.subshells--
    position.cases = cases
    position.ownOptions = ownOptions
  }
}

/** Shown output is removed from the step's result. */
export function showResult(shell: Watched, position: Position, result: StepResult): StepResult {
  if (result.stdout === '') return errorsShown(shell, position, result)
  const text = textOf(result)
  shell.ctx.executionScope.appendOutput('stdout', text, 'terminal')
  // With `set -x`, the trace is shown before the output.
  const rest = shell.ctx.state.options.xtrace ? errorsShown(shell, position, result) : result
  position.show(text)
  return errorsShown(shell, position, without(rest, 'stdout'))
}

export function errorsShown({ ctx }: Watched, position: Position, result: StepResult): StepResult {
  if (result.stderr === '') return result
  const { shownTrace } = position
  position.shownTrace = null
  const text = shownTrace === null ? result.stderr : result.stderr.replace(shownTrace, () => '')
  ctx.executionScope.appendOutput('stderr', text, 'terminal')
  position.show(text)
  return without(result, 'stderr')
}

/** The result with additional output before or after it. */
export function joinedResults(first: StepResult, second: StepResult, exitCode: number): StepResult {
  if (first.stdout === '' && first.stderr === '') return { ...second, exitCode }
  if (second.stdout === '' && second.stderr === '') return { ...first, exitCode }
  const stdout = textOf(first) + textOf(second)
  return { stdout, stderr: first.stderr + second.stderr, exitCode, stdoutKind: 'text' }
}

function textOf({ stdout, stdoutKind, stdoutEncoding }: StepResult): string {
  const isBytes = stdoutKind === 'bytes' || (stdoutKind === undefined && stdoutEncoding === 'binary')
  return isBytes ? bytesToText(textToBytes(stdout, 'latin1'), 'utf8') : stdout
}

/** A compound command with an output redirection collects its output. */
export function onlyReads({ redirections }: Pick<Command, 'redirections'>): boolean {
  return redirections.every(readsOnly)
}

function readsOnly({ operator, target }: Redirection): boolean {
  // To the other stream of the same terminal.
  if (operator === '>&') return /^[12]$/.test(literalOf(target))
  return operator === '<' || operator === '<<' || operator === '<<-' || operator === '<<<'
}

function literalOf(target: Redirection['target']): string {
  const [part, ...others] = 'parts' in target ? target.parts : []
  return part?.type === 'Literal' && others.length === 0 ? part.value : ''
}
