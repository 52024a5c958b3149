// What a command is, once its words are expanded: a function of the script, one of ours that the interpreter lacks, or
// one of its own.

import { isFileError } from '../file-system.ts'
import { machineAdvice } from '../machine-commands.ts'
import { compare, declareIntegers, runLet } from './arithmetic/commands.ts'
import { withVeil } from './arithmetic/veiled-text.ts'
import { readError, withWriteError } from './closed-output.ts'
import { declaredMaps } from './declared-maps.ts'
import { runDirectly } from './direct-commands.ts'
import { runExec } from './exec.ts'
import { declaredFunctions, typeOfFunctions } from './function-text.ts'
import { runOfShell } from './job-control.ts'
import { killSelf } from './kill-self.ts'
import { runUlimit } from './limits.ts'
import { runMapfile } from './mapfile.ts'
import { noteLocals, unsetReferences, withNamedTargets, withOwnNames } from './namerefs.ts'
import { onlyReads, type Position, type Watched, withOwnMask, withTerminal } from './position.ts'
import { refusedText, repairRead } from './repairs.ts'
import type { CommandCall, ShellVariables, StepResult } from './shape.ts'
import { runShopt } from './shell-options.ts'
import { asTest, testError } from './test-words.ts'
import { callTrace } from './trace.ts'
import { afterReturn } from './trap-runs.ts'
import { takeWords } from './words-alone.ts'

const NOT_RUN = 126
const NOT_FOUND = 127

const TOO_MANY_FOR_CD: StepResult = { stdout: '', stderr: 'bash: cd: too many arguments\n', exitCode: 1 }

type NamedCall = { call: CommandCall; runAs: (call: CommandCall) => Promise<StepResult> }
type NamedStep = { call: CommandCall; run: () => Promise<StepResult> }

export async function runNamed(shell: Watched, position: Position, { call, runAs }: NamedCall): Promise<StepResult> {
  const [name, args, , , skipFunctions = false] = call
  const run = () => runAs(call)
  const taken = takeWords(position, name, args)
  if (taken !== null) return taken
  const { state } = shell.ctx
  const called = skipFunctions ? undefined : state.functions.get(name)
  if (called) return callFunction(shell, position, { call, run, body: called })
  const named = withNamedTargets(state, call)
  const refused = readError(position, name, args)
  if (refused !== null) return refused
  const step = { call: named, run: named === call ? run : () => runAs(named) }
  return withWriteError(position, name, await runBuiltIn(shell, position, step))
}

async function callFunction(
  shell: Watched,
  position: Position,
  { call: [name, args], run, body }: NamedStep & { body: Parameters<typeof onlyReads>[0] },
): Promise<StepResult> {
  const { state } = shell.ctx
  const staysLive = position.isLive && onlyReads(body)
  const trace = staysLive ? callTrace(shell, [name, ...args]) : null
  if (trace !== null) position.show(trace)
  position.shownTrace = trace
  const integers = new Set(state.integerVars)
  const result = await withTerminal(position, staysLive, () => withOwnNames(state, position, run))
  for (const integer of position.localIntegers) if (!integers.has(integer)) state.integerVars?.delete(integer)
  position.shownTrace = trace
  return position.traps.areSet ? afterReturn(shell, position, result) : result
}

async function runBuiltIn(shell: Watched, position: Position, { call, run }: NamedStep): Promise<StepResult> {
  const [name, ...rest] = call
  const [args] = rest
  const { state } = shell.ctx
  const { isLive, traps, watch } = position
  switch (name) {
    case 'trap':
      return traps.run(args, state.callDepth)
    case 'shopt':
      return runShopt(position, args) ?? run()
    case 'unset':
      return unsetReferences(state, args) ?? run()
    case 'declare':
    case 'typeset':
    case 'local':
      return noteLocals({ state, position }, call) ?? declare(shell, position, { call, run })
    case 'read':
      return readResult(await run(), repairRead(state, args, 'REPLY'))
    case 'mapfile':
    case 'readarray':
      return runMapfile(shell, call)
    case 'test':
    case '[':
      return testError(name, args) ?? asTest(name, await compare({ call, run }))
    case 'let':
      return runLet(shell, args)
    case 'type':
      return (await typeOfFunctions(shell, position, args)) ?? run()
    case 'kill':
      return (await killSelf(shell, position, args)) ?? run()
    case 'wait':
      return waitFor(state, position, args)
    case 'set':
      traps.noteOptions(args)
      return run()
    case 'exec':
      return runExec(shell, position, call)
    case 'eval':
    case 'source':
    case '.':
      return inThisShell(shell, position, { call, run })
    case 'bash':
    case 'sh':
    case 'timeout':
      // What a live shell wrote is there, should it be stopped.
      if (isLive && name !== 'timeout') watch.parts.stopped.lay(() => ({ stdout: '', stderr: '' }))
      watch.nextShellIsLive(isLive)
      return withOwnMask(position, run).finally(() => watch.forgetNextShell())
    default:
      return runSmall(state, position, call) ?? runDirectly(shell, call) ?? program(shell, { call, run })
  }
}

/** `-p name` also tells which job it was. */
function waitFor({ env }: ShellVariables, { jobs }: Position, args: readonly string[]): StepResult {
  const at = args.indexOf('-p')
  if (at < 0) return jobs.wait(args)
  const name = args[at + 1] ?? ''
  env.delete(name)
  const result = jobs.wait([...args.slice(0, at), ...args.slice(at + 2)])
  if (jobs.lastTold !== null) env.set(name, String(jobs.lastTold))
  return result
}

async function declare(shell: Watched, position: Position, { call, run }: NamedStep): Promise<StepResult> {
  const [name, ...rest] = call
  const [args] = rest
  if (name === 'local') {
    // The interpreter takes these letters there and forgets them.
    if (args.some((arg) => /^-\w*[irA]/.test(arg))) return shell.runCommand('declare', ...rest)
    return declareIntegers(shell, { call, run })
  }
  noteIntegers(shell, position, args)
  return (
    declaredFunctions(shell, position, args) ??
    (await declaredMaps(shell, args, run)) ??
    declareIntegers(shell, { call, run })
  )
}

/** Null for a command that is none of those. */
function runSmall(state: ShellVariables, position: Position, [name, args]: CommandCall): StepResult | null {
  const { mask } = position
  const ofShell = runOfShell(state, position, { name, args })
  if (ofShell !== null) return ofShell
  if (name === 'umask') return mask.run(args)
  if (name === 'ulimit') return runUlimit(args)
  return name === 'cd' && args.filter((arg) => !/^-./.test(arg)).length > 1 ? TOO_MANY_FOR_CD : null
}

const isIntegerOption = (arg: string): boolean => /^-\w*i/.test(arg)

function noteIntegers({ ctx }: Watched, { localIntegers }: Position, args: readonly string[]): void {
  if (ctx.state.callDepth === 0 || !args.some(isIntegerOption) || args.some((arg) => /^-\w*g/.test(arg))) return
  for (const arg of args) if (!arg.startsWith('-')) localIntegers.add(arg.replace(/\+?=.*/s, ''))
}

function readResult(result: StepResult, problem: string | null): StepResult {
  return problem === null ? result : { ...result, stderr: `bash: ${problem}\n`, exitCode: 1 }
}

async function program(shell: Watched, { call, run }: NamedStep): Promise<StepResult> {
  const [name] = call
  if (shell.position) shell.position.calledAs = name
  const result = await run()
  if (result.exitCode === NOT_FOUND) return withAdvice(name, result)
  if (result.exitCode !== NOT_RUN || !name.includes('/')) return result
  const path = shell.ctx.fs.resolvePath(shell.ctx.state.cwd, name)
  const isFolder = (await shell.ctx.fs.exists(path)) && (await shell.ctx.fs.stat(path)).isDirectory
  return isFolder ? { ...result, stderr: `bash: ${name}: Is a directory\n` } : result
}

async function inThisShell(shell: Watched, position: Position, { call, run }: NamedStep): Promise<StepResult> {
  const [name, [file = '', ...words], quoted, stdin, ...rest] = call
  if (name !== 'eval' && STANDARD_INPUT.test(file)) {
    return fromInput(shell, stdin, (path) => shell.runCommand(name, [path, ...words], quoted, '', ...rest))
  }
  const refused = refusedText(await textIn(shell, call))
  if (refused !== null) return refused
  position.next = { isLive: position.isLive }
  try {
    const result = await withVeil(shell, call, run)
    return position.traps.areSet && call[0] !== 'eval' ? await afterReturn(shell, position, result) : result
  } finally {
    position.next = null
  }
}

const STANDARD_INPUT = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/0)$/
const INPUT_FILE = '/dev/fd/9'

/** The interpreter reads files alone, so the input is one for as long as it is read. */
async function fromInput({ ctx }: Watched, stdin: string, run: (path: string) => Promise<StepResult>) {
  const { state, fs } = ctx
  const input = stdin === '' ? (state.groupStdin ?? '') : stdin
  if (stdin === '' && state.groupStdin !== undefined) state.groupStdin = ''
  await fs.writeFile(INPUT_FILE, input, 'binary')
  try {
    return await run(INPUT_FILE)
  } finally {
    await fs.rm(INPUT_FILE, { force: true })
  }
}

/** What `eval` and `source` are about to parse; nothing if there is none. */
async function textIn({ ctx }: Watched, [name, given]: CommandCall): Promise<string> {
  const args = given[0] === '--' ? given.slice(1) : given
  if (name === 'eval') return args.join(' ')
  const [file = ''] = args
  const folders = file.includes('/') ? [] : (ctx.state.env.get('PATH') ?? '').split(':').filter(Boolean)
  for (const path of [...folders.map((folder) => `${folder}/${file}`), file]) {
    const resolved = ctx.fs.resolvePath(ctx.state.cwd, path)
    if ((await ctx.fs.exists(resolved)) && !(await ctx.fs.stat(resolved)).isDirectory) return ctx.fs.readFile(resolved)
  }
  return ''
}

/** Says of a program that needs a machine why it is not there. */
function withAdvice(name: string, result: StepResult): StepResult {
  const advice = machineAdvice(name.slice(name.lastIndexOf('/') + 1))
  return advice === null ? result : { ...result, stderr: `${advice}\n` }
}

/**
 * A script file runs in a shell of its own, which the interpreter would not give it: with the exported variables alone,
 * and by the program that its first line names.
 */
export async function runFile(
  shell: Watched,
  path: string,
  { args, stdin = '' }: { args: string[]; stdin?: string | undefined },
) {
  const [program = 'bash', ...words] = await firstWords(shell, path)
  const name = program.slice(program.lastIndexOf('/') + 1)
  const isShell = /^(ba|da|a|k|z)?sh$/.test(name)
  if (isShell || shell.ctx.commands.has(name)) {
    return shell.runCommand(isShell ? 'bash' : name, [...words, calledPath(shell, path), ...args], [], stdin, true)
  }
  const file = shell.position?.wordsFor(path) ?? path
  const stderr = `bash: ${file}: ${program}: bad interpreter: No such file or directory\n`
  const advised = withAdvice(name, { stdout: '', stderr, exitCode: NOT_FOUND })
  return advised.stderr === stderr ? { ...advised, exitCode: NOT_RUN } : advised
}

/** As a script knows its own path: by the word that called it, or by that and the folder of PATH where it was found. */
function calledPath({ ctx, position }: Watched, path: string): string {
  const { calledAs = '' } = position ?? {}
  const { cwd, env } = ctx.state
  const folders = calledAs.includes('/') ? [] : (env.get('PATH') ?? '').split(':')
  const words = [calledAs, ...folders.map((folder) => `${folder || '.'}/${calledAs}`)]
  return words.find((word) => word.includes('/') && ctx.fs.resolvePath(cwd, word) === path) ?? path
}

/** Those of the line that names the program, if there is one; what only looks for the program is left out. */
async function firstWords({ ctx }: Watched, path: string): Promise<string[]> {
  try {
    const [, line = ''] = /^#!\s*([^\n]*)/.exec(await ctx.fs.readFile(path)) ?? []
    const words = line.trim().split(/\s+/).filter(Boolean)
    return /(^|\/)env$/.test(words[0] ?? '') ? words.slice(words[1] === '-S' ? 2 : 1) : words
  } catch (error) {
    if (isFileError(error)) return []
    throw error
  }
}
