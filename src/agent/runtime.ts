// Where a command of a conversation runs: in the interpreter at the edge, or on a runner, which has real processes.

import type { OutputFilter } from '../kits/shell/index.ts'
import type { CellKernel } from '../runners/output.ts'
import type { PageReport } from '../runners/page.ts'

/** Where a conversation should run. `auto`: on a runner if one is available, else in the interpreter. */
export const RUNTIME_KINDS = ['auto', 'edge', 'runner'] as const
export type RuntimeWish = {
  kind: (typeof RUNTIME_KINDS)[number]
  /** Labels that the runner must have. */
  labels: readonly string[]
  /** The label of an image: required with `runner`, preferred with `auto`. */
  image?: string | null
  /** Names of folders and files that stay on the runner; absent for `UNSYNCED`. */
  unsynced?: readonly string[]
}

/** Folders that are large and can be rebuilt from synced files. */
export const UNSYNCED = ['node_modules', '.venv', 'venv', '__pycache__', 'target', '.cache', '.tox', '.gradle', '.npm']

export type RunnerCall = {
  /** The key of the effect: a call with this key that has begun is followed, not begun again. */
  key: string
  /**
   * `input`: text or a key such as `C-c` for the running program; `more`: only wait for its output; `browser`: actions
   * of the browser; the others belong to the notebook.
   */
  kind: 'run' | 'input' | 'more' | 'cell' | 'interrupt' | 'restart' | 'browser'
  text: string
  /** The folder in which a new session begins. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** After this time in ms the call ends with the output so far; null for the default. */
  timeoutMs: number | null
  signal: AbortSignal
  filter: OutputFilter
  /** Receives output as it comes. */
  onOutput(text: string): void
}

export type RunnerResult = {
  output: string
  /** Pictures of a cell, as data URLs. */
  pictures: readonly string[]
  /** The kernel that ran the cell; null for other calls. */
  kernel: CellKernel | null
  /** What the browser saw; null for other calls, and for actions without a look at the page. */
  page: PageReport | null
  /** -1 while the command still runs. */
  exitCode: number
  workingDir: string
  user: string
  host: string
  /** Path of the session's Python; empty if there is none. */
  interpreter: string
  /** For the model, in addition to the output; may be empty. */
  remark: string
  /** The command still runs: the call ended at its time limit. */
  isGoingOn: boolean
  /** It was stopped by the user. */
  aborted: boolean
  /** Why the outcome is unknown, or why the call was not begun; null for a call with an outcome. */
  failure: string | null
}

export type Runtime =
  | { kind: 'edge' }
  | { kind: 'runner'; run(call: RunnerCall): Promise<RunnerResult> }
  /** A runner is required and none is available; `why` says what to do. */
  | { kind: 'missing'; why: string }

/** The result in the form that observations use. */
export function shownResult({ output, remark, exitCode, workingDir, user, host, interpreter }: RunnerResult) {
  return { output: output.replace(/\n$/, ''), exitCode, workingDir, remark, user, host, interpreter }
}

/** The session's folder if it is in the workspace. A runner without isolation may report any folder of its machine. */
export function folderKept({ workingDir }: RunnerResult, before: string): string {
  return workingDir === '/workspace' || workingDir.startsWith('/workspace/') ? workingDir : before
}

/** The text for a call without an outcome. */
export function failureText({ failure, output }: RunnerResult): string {
  return `${failure ?? ''}${output === '' ? '' : ` Its output until then:\n${output}`}`
}
