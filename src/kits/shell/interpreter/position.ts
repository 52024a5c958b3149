// What is known of one shell at the step where it is, and what of its output a terminal shows at once.

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
  /** Whether what runs now writes to the terminal. */
  isLive: boolean
  /** A line of `set -x` that is shown already, and that the command which has just ended answers with as well. */
  shownTrace: string | null
  /** Names that a function made integers, which they are until it returns. */
  readonly localIntegers: Set<string>
  /** Names that the function which runs made its own, and whether they were references before. */
  localReferences: Map<string, boolean>
  /** Names that the function which runs made readonly for itself. */
  localReadonly: Set<string>
  /** The word by which the command that runs now was called. */
  calledAs: string
  /** Whether the script was given as words, as with `-c`. */
  readonly isOfWords: boolean
  /** Whether it reads its script from its input. */
  isOfInput: boolean
  /** Of the command for which the action of a trap is run. */
  actionLine: number | null
  /** The shell's own statements, and the line of the one whose rest is left out. */
  topStatements: ReadonlySet<Statement>
  discardedLine: number | null
  /** Loops around what runs now that are none of its own: as many as are open, and whether those of an outer shell are. */
  foreignLoops: ForeignLoops
  /** How many of its subshells run, one in the other. */
  subshells: number
  /** Where what it writes goes, of a shell that has a table for that. */
  outputs: OutputRoutes | null
  /** Whether what it has written is there when it is stopped. */
  isKept: boolean
  pendingOutputs: PendingRedirections | null
  /** Commands that read what the shell writes, when it has ended. */
  processes: OutputProcess[]
  /** Standard streams that are closed for what runs now. */
  closed: { input: boolean; output: boolean }
  ownOptions: Set<OwnOption>
  /** What the command that is about to run says of its input. */
  saysInput: 'file' | 'other' | null
  /** Whether something other than `exit` has ended the shell. */
  isOver: boolean
  /** What was left of the standard input when the last statement ended. */
  inputLeft: string | undefined
  /** Set by `exec`: the shell ends when the command is over. */
  ending: { exitCode: number; isReplaced: boolean } | null
  /** Gets the words of a command that is called for them alone. */
  takeWords: ((words: string[]) => void) | null
  /** Words are expanded without being shown, though `set -x` is on. */
  tracesWords: boolean
  /** For the script that is to be run next in the same shell, and by how many lines it is further down; without it, that is a substitution. */
  next: { isLive: boolean; lines: number } | null
  /** How many there were. */
  substitutions: number
  readonly own: OwnVariables
  cases: LetterCases
  /** Arrays that were declared and have no value. */
  readonly unassigned: Set<string>
  /** Signals that a subshell has sent to the shell itself. */
  readonly pending: string[]
  /** The command that runs, and the one for which the action of a trap does. */
  lastCommand: Command | null
  actionCommand: Command | null
  /** The body of the function that is called, until it begins. */
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

/** What a shell within does to its mask ends with it. */
export async function withOwnMask<T>({ mask }: Position, run: () => Promise<T>): Promise<T> {
  const { bits } = mask
  try {
    return await run()
  } finally {
    mask.restore(bits)
  }
}

/** A loop around parentheses or a stage of a pipe is none of theirs, while one around a substitution ends that. */
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

/** What is shown is no part of what the step answers with. */
export function showResult(shell: Watched, position: Position, result: StepResult): StepResult {
  if (result.stdout === '') return errorsShown(shell, position, result)
  const text = textOf(result)
  shell.ctx.executionScope.appendOutput('stdout', text, 'terminal')
  // With `set -x`, what is about to be done stands in front of what it writes.
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

/** The result with what something else wrote in front of it or behind it. */
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

/** A compound command that writes elsewhere collects what it writes. */
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
