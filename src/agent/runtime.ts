// Where a command of a conversation runs: in the interpreter at the edge, or on a runner, which has real processes.

import type { OutputFilter } from '../kits/shell/index.ts'
import type { CellKernel } from '../runners/output.ts'
import type { PageReport } from '../runners/page.ts'

/** What a conversation is to run on. `auto`: a runner if one is there, else the interpreter. */
export const RUNTIME_KINDS = ['auto', 'edge', 'runner'] as const
export type RuntimeWish = {
  kind: (typeof RUNTIME_KINDS)[number]
  /** What the runner has to have. */
  labels: readonly string[]
  /** The label of an image: needed with `runner`, wished for with `auto`. */
  image?: string | null
  /** Names of folders and files that stay on the runner; absent for `UNSYNCED`. */
  unsynced?: readonly string[]
}

/** What is made again from what is synced, and is large. */
export const UNSYNCED = ['node_modules', '.venv', 'venv', '__pycache__', 'target', '.cache', '.tox', '.gradle', '.npm']

export type RunnerCall = {
  /** Of the effect: a call with a key that was begun before is followed, not begun again. */
  key: string
  /** `input`: text or a key such as `C-c` for what runs; `more`: only wait for its output; `browser`: actions of the browser; the others are the notebook's. */
  kind: 'run' | 'input' | 'more' | 'cell' | 'interrupt' | 'restart' | 'browser'
  text: string
  /** The folder of a session that begins. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** After so long the call ends with what there is, output or not, ms; null for the default. */
  timeoutMs: number | null
  signal: AbortSignal
  filter: OutputFilter
  /** Output as it comes. */
  onOutput(text: string): void
}

export type RunnerResult = {
  output: string
  /** Of a cell, as data URLs. */
  pictures: readonly string[]
  /** What ran the cell; null for another call. */
  kernel: CellKernel | null
  /** What the browser saw; null for another call, and for one without a look. */
  page: PageReport | null
  /** -1 while the command still runs. */
  exitCode: number
  workingDir: string
  user: string
  host: string
  /** Path of the session's Python, empty for none. */
  interpreter: string
  /** For the model, beside the output; empty for nothing. */
  remark: string
  /** It still runs: it was waited for as long as the call was to. */
  isGoingOn: boolean
  /** It was stopped by the user. */
  aborted: boolean
  /** Why its outcome is not known, or why it was not begun; null for a call that has an outcome. */
  failure: string | null
}

export type Runtime =
  | { kind: 'edge' }
  | { kind: 'runner'; run(call: RunnerCall): Promise<RunnerResult> }
  /** A runner is required and none can be had; `why` says what to do. */
  | { kind: 'missing'; why: string }

/** The result as an observation has it. */
export function shownResult({ output, remark, exitCode, workingDir, user, host, interpreter }: RunnerResult) {
  return { output: output.replace(/\n$/, ''), exitCode, workingDir, remark, user, host, interpreter }
}

/** The folder of the session, as far as it is one of the workspace: where a runner isolates nothing, it is one of its machine. */
export function folderKept({ workingDir }: RunnerResult, before: string): string {
  return workingDir === '/workspace' || workingDir.startsWith('/workspace/') ? workingDir : before
}

/** What is told of a call without an outcome. */
export function failureText({ failure, output }: RunnerResult): string {
  return `${failure ?? ''}${output === '' ? '' : ` Its output until then:\n${output}`}`
}
