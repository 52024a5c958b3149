// Runs shell scripts in the workspace. There is no machine: a bash interpreter works on the file tree, every command is
// built in, and there are no processes and no network. Each script starts with the given folder and variables and
// returns the resulting ones, so a session consists of what the caller stores.

import { errorFields, log } from '../../lib/log.ts'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../workspace/paths.ts'
import { statAt } from '../../workspace/stat.ts'
import { refusedScript } from './script-work.ts'
import type { ShellCommand } from './shell-extensions.ts'
import { type Interpretation, interpret, type Progress } from './shell-interpreter.ts'
import { DEFAULT_OUTPUT_CHARS, type OutputFilter, ShellOutput } from './shell-output.ts'
import type { ShellState } from './shell-state.ts'
import { StopSwitch } from './shell-stop.ts'

export interface ScriptRun {
  fs: FileSystem
  script: string
  cwd: string
  /** Exported variables, the only ones that commands see, in addition to a few of every shell. */
  env: Record<string, string>
  /**
   * Exported too, if `env` has no other value; they are passed to each script again and are not part of its resulting
   * state.
   */
  secrets?: Readonly<Record<string, string>>
  /** Variables that are not exported. */
  variables?: Record<string, string>
  /** In addition to those of every shell. */
  commands?: readonly ShellCommand[]
  signal?: AbortSignal
  limits?: { timeoutMs?: number; maxOutputChars?: number }
  /** Filters the output before it is cut or shown. */
  filter?: OutputFilter
  /** Gets the output as it arrives, uncut. */
  onProgress?: (text: string) => void
}

export interface ScriptOutcome extends ShellState {
  /** Both outputs in the order of a terminal; the middle is cut out if they are too long. */
  output: string
  exitCode: number
  timedOut: boolean
  aborted: boolean
  truncated: boolean
}

const DEFAULT_TIMEOUT_MS = 120_000

const EXIT_FAILURE = 1
const EXIT_USAGE = 2
const EXIT_TIMED_OUT = 124
/** 128 plus the number of SIGINT. */
const EXIT_INTERRUPTED = 130

/** Always returns, whatever the script does; it throws only for an internal error. */
export async function runScript(run: ScriptRun): Promise<ScriptOutcome> {
  const use = { filter: run.filter, onText: run.onProgress }
  const output = new ShellOutput(run.limits?.maxOutputChars ?? DEFAULT_OUTPUT_CHARS, use)
  const timeoutMs = run.limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const stop = new StopSwitch(timeoutMs, run.signal)
  const progress: Progress = { state: startingState(run, output), dropped: [] }
  try {
    const exitCode = stop.reason ? null : await attempt(run, { progress, output, stop, timeoutMs })
    return conclude(exitCode, { progress, output, stop, timeoutMs })
  } finally {
    stop.release()
  }
}

type Attempt = Pick<Interpretation, 'progress' | 'output' | 'stop' | 'timeoutMs'>

async function attempt(run: ScriptRun, parts: Attempt): Promise<number | null> {
  const { output } = parts
  if (run.script.includes('\0')) {
    output.writeLine('bash: a script cannot hold a NUL byte')
    return EXIT_USAGE
  }
  const refused = refusedScript(run.script)
  if (refused !== null) {
    output.writeLine(refused)
    return EXIT_USAGE
  }
  try {
    const { fs, script, commands = [], secrets = {} } = run
    return await interpret({ ...parts, fs, commands, secrets, script: script.toWellFormed() })
  } catch (error) {
    if (parts.stop.reason) return null
    // A redirection that fails during a write throws through the interpreter and ends the script.
    output.writeLine(isFileError(error) ? `bash: ${error.message}` : 'bash: the interpreter failed on this script')
    if (!isFileError(error)) log.warn('shell.failed', errorFields(error))
    return EXIT_FAILURE
  }
}

function conclude(exitCode: number | null, { progress, output, stop, timeoutMs }: Attempt): ScriptOutcome {
  const reason = exitCode === null || STOPPED_EXITS.has(exitCode) ? stop.reason : null
  if (reason === 'timeout') output.writeLine(`bash: stopped after ${timeoutMs / 1000} s, the time limit`)
  if (reason === 'stuck') output.writeLine('bash: stopped: a loop kept everything else waiting')
  const dropped = progress.dropped.slice(0, 5).join(' ')
  if (dropped !== '') output.writeLine(`bash: too large to be kept for the next command: ${dropped}`)
  output.end()
  const stopped = reason === 'aborted' ? EXIT_INTERRUPTED : EXIT_TIMED_OUT
  return {
    ...progress.state,
    output: output.text(),
    exitCode: reason === null ? (exitCode ?? EXIT_FAILURE) : stopped,
    timedOut: reason === 'timeout' || reason === 'stuck',
    aborted: reason === 'aborted',
    truncated: output.truncated,
  }
}

/** The exit codes of a stopped interpreter: its own code, or that of a limit it reached meanwhile. */
const STOPPED_EXITS: ReadonlySet<number> = new Set([1, 124, 126])

/** If the folder no longer exists, the workspace is used. */
function startingState({ fs, cwd, env, variables = {} }: ScriptRun, output: ShellOutput): ShellState {
  if (statAt(fs, cwd)?.kind === 'directory') return { cwd, env, variables }
  output.writeLine(`bash: ${cwd}: no longer a folder; going on in ${WORKSPACE_ROOT}`)
  return { cwd: WORKSPACE_ROOT, env, variables }
}
