// `exec command`: the command replaces the shell, which ends with it, and whose EXIT trap is not run. The interpreter
// runs the command and continues. The end comes after the command's own redirections have received its output.

import { machineAdvice } from '../machine-commands.ts'
import type { Position, Watched } from './position.ts'
import type { CommandCall, StepResult } from './shape.ts'
import { isOn } from './shell-options.ts'
import { exitWith, markReplaced } from './trap-runs.ts'

const USAGE = 'exec: usage: exec [-cl] [-a name] [command [argument ...]] [redirection ...]\n'
const NOT_RUN = 126
const NOT_FOUND = 127
/** There are no programs with these names, and only a program can replace the shell. */
const BUILT_IN_ONLY: ReadonlySet<string> = new Set(
  `. : alias bg bind break builtin caller cd compgen complete compopt continue declare dirs disown enable eval exec exit export
  fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source
  suspend times trap type typeset ulimit umask unalias unset wait`.split(/\s+/),
)

type Call = { clears: boolean; words: readonly string[] }

/** With arguments; the interpreter handles redirections of the shell alone. */
export async function runExec(shell: Watched, position: Position, call: CommandCall): Promise<StepResult> {
  const [, args, , stdin, , ...rest] = call
  const read = readCall(args)
  if ('exitCode' in read) return read
  const [name, ...words] = read.words
  if (name === undefined) return { stdout: '', stderr: '', exitCode: 0 }
  const [run, ...given] = read.clears ? ['env', '-i', name, ...words] : [name, ...words]
  const result: StepResult = BUILT_IN_ONLY.has(name)
    ? { stdout: '', stderr: `bash: ${name}: command not found\n`, exitCode: NOT_FOUND }
    : await shell.runCommand(run ?? name, given, [], stdin, true, ...rest)
  const isFailed = isNotRun(name, result)
  if (!(isFailed && isOn(position, 'execfail'))) {
    position.ending = { exitCode: result.exitCode, isReplaced: !isFailed }
  }
  return isFailed ? { ...result, stderr: inWordsOfExec(name, result.stderr) } : result
}

function readCall(args: readonly string[]): Call | StepResult {
  let at = 0
  let clears = false
  for (; args[at]?.startsWith('-') && args[at] !== '-'; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return { clears, words: args.slice(at + 1) }
    if (/^-[cl]*a/.test(arg)) return failed(`-a: a command cannot be given another name here`)
    const unknown = [...arg.slice(1)].find((letter) => letter !== 'c' && letter !== 'l')
    if (unknown !== undefined) return failed(`-${unknown}: invalid option`, USAGE)
    clears ||= arg.includes('c')
  }
  return { clears, words: args.slice(at) }
}

function failed(message: string, more = ''): StepResult {
  return { stdout: '', stderr: `bash: exec: ${message}\n${more}`, exitCode: 2 }
}

function isNotRun(name: string, { exitCode, stderr }: StepResult): boolean {
  if (exitCode !== NOT_FOUND && exitCode !== NOT_RUN) return false
  return stderr.startsWith(`bash: ${name}: `) || stderr === `${machineAdvice(name)}\n`
}

function inWordsOfExec(name: string, stderr: string): string {
  return stderr === `bash: ${name}: command not found\n` ? `bash: exec: ${name}: not found\n` : stderr
}

/** Never returns: it throws the error of `exit`, with the remaining output. */
export async function endShell(
  shell: Watched,
  { exitCode, isReplaced }: NonNullable<Position['ending']>,
  { stdout, stderr }: StepResult,
): Promise<never> {
  return exitWith(shell, exitCode, (exit) => {
    exit.prependOutput(stdout, stderr)
    if (isReplaced) markReplaced(exit)
  })
}
