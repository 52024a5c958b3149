// Fast execution of the most common commands in loops: `echo`, `:`, `true`, `false` and `[` with texts and plain
// variables as arguments. Each of the interpreter's steps takes longer than such a command, so it is executed in a
// single step with the same effects. Anything special (traps, traces, arrays, unusual values) uses the normal steps.

import { Expression } from './arithmetic/expression.ts'
import { gradeOf } from './expansion/grades.ts'
import { emitted } from './output-routes.ts'
import { type Position, showResult, type Watched } from './position.ts'
import type { Command, Pipeline, ShellVariables, SimpleCommand, StepResult } from './shape.ts'
import { isMade } from './special-variables.ts'
import type { Word } from './words-alone.ts'

type Name = 'echo' | ':' | 'true' | 'false' | '[' | 'test'
const NAMES: ReadonlySet<string> = new Set<Name>(['echo', ':', 'true', 'false', '[', 'test'])

/** A text, or a variable. */
type Piece = { text: string } | { name: string; isQuoted: boolean }
type Value = { name: string; pieces: Piece[] | Expression }
type Plan = { node: SimpleCommand; name: Name; words: Piece[][]; assigns: Value | null }

const PLANS = new WeakMap<Pipeline, Plan | null>()

/** Null for a pipeline that needs the normal steps. */
export function plainCommand(
  shell: Watched,
  position: Position,
  pipeline: Pipeline,
): StepResult | Promise<StepResult> | null {
  let plan = PLANS.get(pipeline)
  if (plan === undefined) {
    plan = planOf(pipeline)
    PLANS.set(pipeline, plan)
  }
  if (plan === null || !isQuiet(shell, position, plan)) return null
  if (plan.assigns !== null) return assigned(shell, position, { plan, assigns: plan.assigns })
  const words = wordsOf(shell.ctx.state, plan.words)
  if (words === null) return null
  const done = resultOf(plan.name, words)
  if (done === null) return null
  // The steps must handle the end of the shell.
  if (done.exitCode !== 0 && shell.ctx.state.options.errexit) return null
  leave(shell, position, { plan, words, status: done.exitCode })
  return done.stdout === '' ? done : written(shell, position, done)
}

function written(shell: Watched, position: Position, done: StepResult): StepResult | Promise<StepResult> {
  const { outputs } = position
  if (outputs === null) {
    return position.isLive
      ? showResult(shell, position, done)
      : shell.ctx.executionScope.accountResult(done, 'pipeline')
  }
  const place = outputs.at(1)
  if (place?.gather === undefined) return emitted(shell, outputs, done)
  outputs.written += done.stdout.length
  const gathered = place.gather(done.stdout)
  const left = { ...done, stdout: '' }
  return gathered === undefined ? left : gathered.then(() => left)
}

function planOf({ commands, negated, timed }: Pipeline): Plan | null {
  const [node, ...others] = commands
  if (node?.type !== 'SimpleCommand' || others.length > 0 || negated || timed) return null
  if (node.redirections.length > 0) return null
  if (node.name === null) return assignmentOf(node)
  if (node.assignments.length > 0) return null
  const [first, ...more] = node.name?.parts ?? []
  // An unclosed bracket is not a pattern.
  const called = first?.type === 'Literal' ? first.value : first?.type === 'Glob' ? first.pattern : ''
  if (more.length > 0 || !NAMES.has(called)) return null
  const words = node.args.map(piecesOf)
  return words.some((one) => one === null)
    ? null
    : { node, name: called as Name, words: words.filter((one) => one !== null), assigns: null }
}

/** Upper-case names may have a meaning for the shell. */
const OWN_NAME = /^_?[a-z]\w*$/
/** Without side effects, so that it can be evaluated again after an error. */
const HARMLESS = /^(?!.*(?:\+\+|--))[\w\s+\-*/%()$]*$/

function assignmentOf(node: SimpleCommand): Plan | null {
  const [one, ...others] = node.assignments
  if (one === undefined || others.length > 0 || one.append || one.array !== null || one.value === null) return null
  if (typeof one.name !== 'string' || !OWN_NAME.test(one.name)) return null
  const pieces = expressionOf(one.value) ?? piecesOf(one.value)
  return pieces === null ? null : { node, name: ':', words: [], assigns: { name: one.name, pieces } }
}

function expressionOf({ parts: [part, ...more] }: Word): Expression | null {
  if (part?.type !== 'ArithmeticExpansion' || more.length > 0) return null
  const tree: object = part.expression.expression
  const { left } = tree as { left?: { command?: unknown } }
  const runnable = left?.command
  return runnable instanceof Expression && HARMLESS.test(runnable.text) ? runnable : null
}

type Assigning = { plan: Plan; assigns: Value }

function assigned(
  shell: Watched,
  position: Position,
  { plan, assigns: { name, pieces } }: Assigning,
): StepResult | null {
  const { state } = shell.ctx
  const { readonlyVars, integerVars, namerefs, arrays, options, fullyUnsetLocals } = state
  if (readonlyVars?.has(name) || integerVars?.has(name) || namerefs?.has(name) || arrays?.has(name)) return null
  if (options.allexport || fullyUnsetLocals?.size || position.unassigned.size > 0) return null
  const value = pieces instanceof Expression ? calculated(shell, pieces) : wordOf(state, pieces, { isParted: false })
  if (value === null || ODD.test(value)) return null
  state.env.set(name, value)
  leave(shell, position, { plan, words: [''], status: 0 })
  return done(0)
}

function calculated(shell: Watched, expression: Expression): string | null {
  try {
    const value = expression.valueAtOnce(shell)
    return value === null ? null : String(value)
  } catch (error) {
    // The step repeats it, and reports the error.
    if (error instanceof Error) return null
    throw error
  }
}

const NAME = /^(?:[A-Za-z_]\w*|[1-9])$/

function piecesOf(word: Word): Piece[] | null {
  const isText = gradeOf(word, 'fields') === 'still'
  const pieces: Piece[] = []
  const isTaken = (parts: Word['parts'], isQuoted: boolean): boolean =>
    parts.every((part) => {
      if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'Escaped') {
        pieces.push({ text: part.value })
        return isQuoted || isText || part.type !== 'Literal' || !/[~=:]/.test(part.value)
      }
      if (part.type === 'DoubleQuoted') return !isQuoted && isTaken(part.parts, true)
      if (part.type !== 'ParameterExpansion' || part.operation !== null) return false
      pieces.push({ name: part.parameter, isQuoted })
      return NAME.test(part.parameter) && !isMade(part.parameter)
    })
  return isTaken(word.parts, false) ? pieces : null
}

/** Whether no option or trap affects each step. */
function isQuiet({ ctx }: Watched, position: Position, { name }: Plan): boolean {
  const { state } = ctx
  const { options, shoptOptions, signal, extraArgs } = state
  if (position.traps.areSet || options.xtrace || options.verbose || options.noexec || signal?.aborted) return false
  if (shoptOptions.expand_aliases || shoptOptions.xpg_echo || extraArgs || state.functions.has(name)) return false
  if (position.takeWords !== null || position.tracesWords || position.cases.kinds.size > 0) return false
  return !position.closed.output && position.pending.length === 0 && position.ending === null
}

/** The steps count longer output, for which they have a limit. */
const MOST_CHARS = 100_000
const ODD = /[^ -~\n\t]/
const IS_PARTED = /[\s*?[\\(]/

function wordsOf(state: ShellVariables, plan: readonly Piece[][]): string[] | null {
  const words: string[] = []
  for (const pieces of plan) {
    const word = wordOf(state, pieces, { isParted: true })
    if (word === null) return null
    words.push(word)
  }
  return words
}

/** Null if a value is not literal. */
function wordOf(
  { env, arrays, namerefs }: ShellVariables,
  pieces: readonly Piece[],
  { isParted }: { isParted: boolean },
): string | null {
  let word = ''
  for (const piece of pieces) {
    if ('text' in piece) {
      word += piece.text
      continue
    }
    const { name, isQuoted } = piece
    const value = env.get(name)
    if (value === undefined || arrays?.has(name) || namerefs?.has(name)) return null
    if (isParted && !isQuoted && (value === '' || IS_PARTED.test(value) || !isUsual(env.get('IFS')))) return null
    word += value
    if (word.length > MOST_CHARS) return null
  }
  return word
}

const isUsual = (separators: string | undefined): boolean => separators === undefined || separators === ' \t\n'

const FLAG = /^-[neE]+$/

function resultOf(name: Name, words: readonly string[]): StepResult | null {
  if (name === '[' || name === 'test') return tested(name === '[' ? words : [...words, ']'])
  if (name !== 'echo') return done(name === 'false' ? 1 : 0)
  if (words[0] !== undefined && FLAG.test(words[0])) return null
  const stdout = `${words.join(' ')}\n`
  return ODD.test(stdout) ? null : { stdout, stdoutKind: 'text', stderr: '', exitCode: 0 }
}

const done = (exitCode: number): StepResult => ({ stdout: '', stderr: '', exitCode })
const NUMBER = /^-?\d{1,15}$/
const COMPARED: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '-eq': (left, right) => left === right,
  '-ne': (left, right) => left !== right,
  '-lt': (left, right) => left < right,
  '-le': (left, right) => left <= right,
  '-gt': (left, right) => left > right,
  '-ge': (left, right) => left >= right,
}

function tested([first = '', sign = '', third = '', end, ...more]: readonly string[]): StepResult | null {
  if (third === ']' && end === undefined) {
    if (first !== '-z' && first !== '-n') return null
    return done((sign === '') === (first === '-z') ? 0 : 1)
  }
  if (end !== ']' || more.length > 0) return null
  if (sign === '=' || sign === '==') return done(first === third ? 0 : 1)
  if (sign === '!=') return done(first === third ? 1 : 0)
  const compare = COMPARED[sign]
  if (compare === undefined || !NUMBER.test(first) || !NUMBER.test(third)) return null
  return done(compare(Number(first), Number(third)) ? 0 : 1)
}

type EndedCommand = { plan: Plan; words: readonly string[]; status: number }

/** Stores the same state as the steps. */
function leave({ ctx }: Watched, position: Position, { plan: { node, name }, words, status }: EndedCommand): void {
  const { state, executionScope } = ctx
  state.commandCount = executionScope.chargeCommand()
  if (node.line !== undefined) state.currentLine = node.line
  state.lastArg = words.at(-1) ?? name
  state.errexitSafe = false
  state.arrays ??= new Map()
  state.arrays.set('PIPESTATUS', { kind: 'indexed', elements: new Map([['0', String(status)]]) })
  state.lastExitCode = status
  state.env.set('?', String(status))
  if (position.actionCommand === null) position.lastCommand = node as Command
}
