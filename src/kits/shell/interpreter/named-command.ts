// Determines a command after its words are expanded: a function of the script, one that the interpreter lacks, or one
// of its own.

import { runAliases } from './aliases.ts'
import { compare, declareIntegers, runLet } from './arithmetic/commands.ts'
import { withVeil } from './arithmetic/veiled-text.ts'
import { unknownOption } from './builtin-options.ts'
import { withMain, withSourced } from './call-stack.ts'
import { readError, withWriteError } from './closed-output.ts'
import { exported, noteUnassigned, withUnassigned } from './declarations-shown.ts'
import { declaredMaps } from './declared-maps.ts'
import { asDeclarable } from './declared-words.ts'
import { runDirectly } from './direct-commands.ts'
import { runExec } from './exec.ts'
import { exportFunctions, isExported, withdraw } from './exported-functions.ts'
import { declaredFunctions, typeOfFunctions } from './function-commands.ts'
import { runGetopts } from './getopts.ts'
import { runOfShell } from './job-control.ts'
import { killSelf } from './kill-self.ts'
import { declareCases, declaresCase, forgetCases, withOwnCases } from './letter-case.ts'
import { runUlimit } from './limits.ts'
import { runMapfile } from './mapfile.ts'
import { noteLocals, unsetReferences, withNamedTargets, withOwnNames } from './namerefs.ts'
import { shownAtOnce } from './output-routes.ts'
import { withParenthesized } from './parenthesized.ts'
import { joinedResults, onlyReads, type Position, type Watched, withOwnMask, withTerminal } from './position.ts'
import { readElements } from './read-elements.ts'
import { statusOfGetopts } from './readonly.ts'
import { refusedText, repairRead } from './repairs.ts'
import { withAdvice } from './script-files.ts'
import type { CommandCall, FunctionDefinition, ShellVariables, StepResult } from './shape.ts'
import { withSharedInput } from './shared-input.ts'
import { isOn, runShopt } from './shell-options.ts'
import { fromInput, STANDARD_INPUT, textIn } from './sourced-text.ts'
import { SPECIAL_NAMES } from './special-variables.ts'
import { runReadable } from './syntax/diagnosis.ts'
import { writtenBytes } from './taken-text.ts'
import { asTest, testError } from './test-words.ts'
import { callTrace } from './trace.ts'
import { returned } from './trap-runs.ts'
import { takeWords } from './words-alone.ts'

const NOT_RUN = 126
const NOT_FOUND = 127

const TOO_MANY_FOR_CD: StepResult = { stdout: '', stderr: 'bash: cd: too many arguments\n', exitCode: 1 }

const NOWHERE_BEFORE: StepResult = { stdout: '', stderr: 'bash: cd: OLDPWD not set\n', exitCode: 1 }

type NamedCall = { call: CommandCall; runAs: (call: CommandCall) => Promise<StepResult> }
type NamedStep = NamedCall & { run: () => Promise<StepResult> }

export async function runNamed(shell: Watched, position: Position, { call, runAs }: NamedCall): Promise<StepResult> {
  const [name, args, , , skipFunctions = false] = call
  const run = () => runAs(call)
  const taken = takeWords(position, name, args)
  if (taken !== null) return taken
  const { state } = shell.ctx
  const called = skipFunctions ? undefined : state.functions.get(name)
  if (called) return callFunction(shell, position, { call, run, called })
  const unknown = unknownOption(name, args)
  if (unknown !== null) return unknown
  const named = withNamedTargets(state, call)
  const refused = readError(position, name, args)
  if (refused !== null) return refused
  const built = (as: CommandCall) =>
    runBuiltIn(shell, position, { call: as, run: as === call ? run : () => runAs(as), runAs })
  return withWriteError(position, name, writtenBytes(await withParenthesized(shell.ctx, named, built)))
}

type FunctionCall = Omit<NamedStep, 'runAs'> & { called: FunctionDefinition }

async function callFunction(
  shell: Watched,
  position: Position,
  { call: [name, args], run, called }: FunctionCall,
): Promise<StepResult> {
  const { state } = shell.ctx
  const staysLive = position.isLive && onlyReads(called)
  const line = staysLive || position.outputs !== null ? await callTrace(shell, [name, ...args]) : null
  const trace = line !== null && (await shownAtOnce(position, line)) ? line : null
  position.shownTrace = trace
  position.entered = called.body
  const integers = new Set(state.integerVars)
  const result = await withTerminal(position, staysLive, () =>
    withMain(shell, () => withOwnCases(shell, position, () => withOwnNames(state, position, run))),
  )
  for (const integer of position.localIntegers) if (!integers.has(integer)) state.integerVars?.delete(integer)
  position.shownTrace = trace
  position.traps.returned(state.callDepth)
  return result
}

type BuiltIn = NamedStep & NamedCall
type Answer = StepResult | Promise<StepResult>

async function runBuiltIn(shell: Watched, position: Position, step: BuiltIn): Promise<StepResult> {
  return onVariables(shell, position, step) ?? onTheCourse(shell, position, step) ?? onTheShell(shell, position, step)
}

/** Commands that create, set and unset variables. */
function onVariables(shell: Watched, position: Position, step: BuiltIn): Answer | null {
  const { call, run } = step
  const [name, args] = call
  const { state } = shell.ctx
  switch (name) {
    case 'unset':
      forget(shell, position, args)
      return unsetReferences(state, args) ?? run()
    case 'declare':
    case 'typeset':
    case 'local':
      return asDeclarable(state, step, (as) => noteLocals({ state, position }, as.call) ?? declare(shell, position, as))
    case 'readonly':
      return asDeclarable(state, step, ({ run: as }) => as())
    case 'export':
      return asDeclarable(
        state,
        step,
        (as) => exportFunctions(shell, position, as.call[1]) ?? exported(shell, as.call[1], as.run),
      )
    case 'read':
      return reading(shell, step)
    case 'mapfile':
    case 'readarray':
      return runMapfile(shell, call)
    case 'getopts':
      return statusOfGetopts(runGetopts(shell, position, args))
    case 'let':
      return runLet(shell, args)
    default:
      return null
  }
}

async function reading(shell: Watched, { call, run }: BuiltIn): Promise<StepResult> {
  const elements = await readElements(shell, call, (as) => shell.runCommand(...as))
  return elements ?? readResult(await run(), repairRead(shell.ctx.state, call[1], 'REPLY'))
}

/** Commands that control the flow. */
function onTheCourse(shell: Watched, position: Position, step: BuiltIn): Answer | null {
  const { call, run } = step
  const [name, args] = call
  const { state } = shell.ctx
  switch (name) {
    case 'break':
    case 'continue':
      return outsideLoop(state, position, name) ?? run()
    case 'exit':
    case 'return':
      return leaving(shell, position, step)
    case 'shift':
      return run().then((result) => shifted(position, result))
    case 'trap':
      return position.traps.run(args, state.callDepth)
    case 'kill':
      return killSelf(shell, position, args)
    case 'wait':
      return waitFor(state, position, args)
    case 'exec':
      return runExec(shell, position, call)
    case 'eval':
    case 'source':
    case '.':
      return inThisShell(shell, position, step)
    default:
      return null
  }
}

async function leaving(shell: Watched, position: Position, { call, run }: BuiltIn): Promise<StepResult> {
  // The line of an `exit` caused by `exec` must not be shown.
  if (call[0] === 'return' || call[4] !== true) await traceAtOnce(shell, position, call)
  return call[0] === 'return' ? withReturnStatus(await run()) : run()
}

/** Commands about the shell, its options and child shells; and all programs. */
async function onTheShell(shell: Watched, position: Position, { call, run, runAs }: BuiltIn): Promise<StepResult> {
  const [name, args] = call
  switch (name) {
    case 'shopt':
      return runShopt(position, args) ?? run()
    case 'test':
    case '[':
      return testError(name, args) ?? asTest(name, await compare({ call, run }))
    case 'type':
      return (await typeOfFunctions(shell, position, args)) ?? run()
    case 'command':
      return foundOnPath(shell, args, await anyCommand(shell, position, { call, runAs }))
    case 'set':
      position.traps.noteOptions(args)
      return args.length === 0 ? withEmptyValues(await run()) : run()
    case 'bash':
    case 'sh':
    case 'timeout':
      return anotherShell(shell, position, { call, runAs })
    default:
      return anyCommand(shell, position, { call, runAs })
  }
}

function anyCommand(shell: Watched, position: Position, { call, runAs }: NamedCall): Answer {
  return (
    runSmall(shell.ctx.state, position, call) ?? runDirectly(shell, call) ?? program(shell, position, { call, runAs })
  )
}

/** `command -v` finds the programs in every folder of PATH, like `type`. */
async function foundOnPath(shell: Watched, args: readonly string[], result: StepResult): Promise<StepResult> {
  const [option, name = ''] = args
  const isShown = option === '-v' || option === '-V'
  if (!isShown || args.length !== 2 || result.exitCode === 0 || name.includes('/')) return result
  const { stdout, exitCode } = await shell.runCommand('type', ['-P', name], [], '', true)
  if (exitCode !== 0) return result
  return { stdout: option === '-v' ? stdout : `${name} is ${stdout}`, stderr: '', exitCode: 0 }
}

async function anotherShell(shell: Watched, position: Position, { call, runAs }: NamedCall): Promise<StepResult> {
  const [name] = call
  const { isLive, watch } = position
  // The output of a live shell is already there if it is stopped.
  if ((isLive || position.isKept) && name !== 'timeout') watch.parts.stopped.lay(() => ({ stdout: '', stderr: '' }))
  watch.nextShellIsLive(isLive)
  // A script file is started in the same way.
  if (name !== 'timeout' && watch.inherited !== null) watch.inherited = { ...watch.inherited, isDirect: true }
  return withOwnMask(position, () => withSharedInput(shell, position, call, runAs)).finally(() =>
    watch.forgetNextShell(),
  )
}

function forget(shell: Watched, position: Position, args: readonly string[]): void {
  forgetCases(shell, position, args)
  for (const arg of args) {
    if (SPECIAL_NAMES.includes(arg)) position.own.unset.add(arg)
    if (isExported(shell.ctx.state, arg) && !args.some((one) => /^-\w*v/.test(one))) withdraw(shell.ctx.state, arg)
  }
}

function outsideLoop(
  { loopDepth, parentHasLoopContext }: ShellVariables,
  { foreignLoops }: Position,
  name: string,
): StepResult | null {
  if (loopDepth > foreignLoops.count || (parentHasLoopContext && !foreignLoops.areOuter)) return null
  const stderr = `bash: ${name}: only meaningful in a \`for', \`while', or \`until' loop\n`
  return { stdout: '', stderr, exitCode: 0 }
}

/** It ends with an error, with which the interpreter loses the line of `set -x`. */
async function traceAtOnce(shell: Watched, position: Position, [name, args]: CommandCall): Promise<void> {
  const line = await callTrace(shell, [name, ...args])
  if (line !== null && line !== position.shownTrace && (await shownAtOnce(position, line))) position.shownTrace = line
}

const withReturnStatus = (result: StepResult): StepResult =>
  result.stderr.includes("can only `return'") ? { ...result, exitCode: 2 } : result

const shifted = (position: Position, result: StepResult): StepResult =>
  result.stderr.includes('out of range') && !isOn(position, 'shift_verbose') ? { ...result, stderr: '' } : result

/** `-p name` also returns the job. */
function waitFor({ env }: ShellVariables, { jobs }: Position, args: readonly string[]): StepResult {
  const at = args.indexOf('-p')
  if (at < 0) return jobs.wait(args)
  const name = args[at + 1] ?? ''
  env.delete(name)
  const result = jobs.wait([...args.slice(0, at), ...args.slice(at + 2)])
  if (jobs.lastTold !== null) env.set(name, String(jobs.lastTold))
  return result
}

async function declare(shell: Watched, position: Position, { call, runAs }: NamedStep): Promise<StepResult> {
  const [name, ...rest] = call
  const [args] = rest
  // The interpreter accepts these letters there and ignores them.
  if (name === 'local' && (declaresCase(args) || args.some((arg) => /^-\w*[irA]/.test(arg)))) {
    return shell.runCommand('declare', ...rest)
  }
  noteUnassigned(shell.ctx.state, position, args)
  const declared = (as: CommandCall) => {
    const run = () => runAs(as)
    return declareIntegers(shell, { call: as, run })
  }
  if (name === 'local') return declareCases(shell, position, { call, runAs: declared })
  noteIntegers(shell, position, args)
  const functions = declaredFunctions(shell, position, args)
  if (functions !== null) return functions
  const plain = () => declareCases(shell, position, { call, runAs: declared })
  const result = (await declaredMaps(shell, args, () => runAs(call))) ?? (await plain())
  return withUnassigned(shell, position, { args, result })
}

/** Null for other commands. */
function runSmall(state: ShellVariables, position: Position, [name, args]: CommandCall): StepResult | null {
  const { mask } = position
  const ofShell = runOfShell(state, position, { name, args })
  if (ofShell !== null) return ofShell
  const ofAliases = runAliases(state, name, args)
  if (ofAliases !== null) return ofAliases
  if (name === 'umask') return mask.run(args)
  if (name === 'ulimit') return runUlimit(args)
  if (name !== 'cd') return null
  if (args.at(-1) === '-' && !state.env.has('OLDPWD')) return NOWHERE_BEFORE
  return args.filter((arg) => !/^-./.test(arg)).length > 1 ? TOO_MANY_FOR_CD : null
}

const isIntegerOption = (arg: string): boolean => /^-\w*i/.test(arg)

function noteIntegers({ ctx }: Watched, { localIntegers }: Position, args: readonly string[]): void {
  if (ctx.state.callDepth === 0 || !args.some(isIntegerOption) || args.some((arg) => /^-\w*g/.test(arg))) return
  for (const arg of args) if (!arg.startsWith('-')) localIntegers.add(arg.replace(/\+?=.*/s, ''))
}

/** `set` prints nothing after the equals sign for an empty value; each variable has its own line. */
function withEmptyValues(result: StepResult): StepResult {
  return { ...result, stdout: result.stdout.replace(/^([A-Za-z_]\w*)=''$/gm, '$1=') }
}

function readResult(result: StepResult, problem: string | null): StepResult {
  return problem === null ? result : { ...result, stderr: `bash: ${problem}\n`, exitCode: 1 }
}

async function program(shell: Watched, position: Position, { call, runAs }: NamedCall): Promise<StepResult> {
  const [name] = call
  position.calledAs = name
  const result = await withSharedInput(shell, position, call, runAs)
  if (result.exitCode !== NOT_FOUND && result.exitCode !== NOT_RUN) return result
  if (!name.includes('/')) return result.exitCode === NOT_FOUND ? withAdvice(name, result) : result
  const path = shell.ctx.fs.resolvePath(shell.ctx.state.cwd, name)
  const isFolder = (await shell.ctx.fs.exists(path)) && (await shell.ctx.fs.stat(path)).isDirectory
  if (isFolder) return { ...result, stderr: `bash: ${name}: Is a directory\n`, exitCode: NOT_RUN }
  return result.exitCode === NOT_FOUND ? withAdvice(name, result) : result
}

async function inThisShell(
  shell: Watched,
  position: Position,
  { call, run }: Pick<NamedStep, 'call' | 'run'>,
): Promise<StepResult> {
  const [name, [file = '', ...words], quoted, stdin, ...rest] = call
  if (name !== 'eval' && STANDARD_INPUT.test(file)) {
    return fromInput(shell, stdin, (path) => shell.runCommand(name, [path, ...words], quoted, '', ...rest))
  }
  const isSeen = position.isLive || position.outputs !== null
  const line = isSeen ? await callTrace(shell, call[0] === name ? [name, ...call[1]] : []) : null
  const trace = line !== null && (await shownAtOnce(position, line)) ? line : null
  const { text, path } = await textIn(shell, call)
  const refused = refusedText(text)
  if (refused !== null) return refused
  if (path !== null) call[1] = [path, ...(file === '--' ? words.slice(1) : words)]
  const lines = name === 'eval' ? shell.ctx.state.currentLine - 1 : 0
  position.shownTrace = trace
  const source = name === 'eval' ? 'bash: eval' : (path ?? file)
  try {
    const part = (text: string, error: string | null) => {
      position.next = { isLive: position.isLive, lines }
      return readHere(shell, position, { call, text, error, run })
    }
    const read = () => (path === null && name !== 'eval' ? run() : runReadable(text, { source, lines, run: part }))
    if (name === 'eval') return await read()
    const traced = async () => await returned(shell, position, await read())
    return await withSourced(shell, call[1][0] ?? '', traced)
  } finally {
    position.next = null
    position.shownTrace = trace
  }
}

type Reading = Pick<NamedStep, 'call' | 'run'> & { text: string; error: string | null }

async function readHere(shell: Watched, position: Position, { call, text, error, run }: Reading) {
  try {
    const result = await withVeil(shell, call, { text, run })
    const isRead = position.next === null || text.trim() === ''
    return {
      isRead,
      result: error === null ? result : joinedResults(result, { stdout: '', stderr: error, exitCode: 2 }, 2),
    }
  } catch (thrown) {
    const isUnread = position.next !== null && thrown instanceof Error && thrown.name === 'LexerError'
    if (!isUnread) throw thrown
    return { isRead: false, result: { stdout: '', stderr: `bash: ${thrown.message}\n`, exitCode: 2 } }
  }
}
