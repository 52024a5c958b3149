// What passes between the service and the runtime inside the isolate: what a program is, what it is told, what it reports.
// Both sides are checked against these shapes.

/** Begins a line of output among the lines that the process of a program prints. */
export const WATCHED_MARK = 'bellwether-output '

export interface SnapshotFile {
  path: string
  kind: 'file' | 'directory' | 'symlink'
  mode: number
  mtimeMs: number
  size: number
  /** Absent for a file that is too large to come along: it can be seen and not be read. */
  bytes?: Uint8Array
  target?: string
}

export type FileChange =
  | { path: string; kind: 'gone' }
  | { path: string; kind: 'directory'; mode: number }
  | { path: string; kind: 'symlink'; target: string }
  | { path: string; kind: 'file'; mode: number; bytes: Uint8Array }

/** What a name in a file means. */
export type Target =
  | { kind: 'file'; path: string }
  | { kind: 'builtin'; name: string }
  | { kind: 'missing'; why: string; code: string }

/** What the isolate has to know of a file besides its code. */
export interface ModuleDescription {
  kind: 'module' | 'script' | 'json'
  /** Whether it has to be waited for. */
  isAsync: boolean
  isMain: boolean
  /** The names that are loaded before it runs, in their order. */
  statics: readonly string[]
  imports: Readonly<Record<string, Target>>
  requires: Readonly<Record<string, Target>>
  /** How far its first line is moved by what stands in front of it. */
  head: number
  /** The name of what is no file. */
  unnamed?: string
  /** Of a JSON file. */
  text?: string
  /** Why it is no JavaScript. */
  problem?: string
}

/** What a program is told besides its files and how long it may run. */
export interface ProgramInput {
  graph: Readonly<Record<string, ModuleDescription>>
  /** The path of the file that it begins with. */
  main: string
  argv: string[]
  env: Readonly<Record<string, string>>
  cwd: string
  stdin: string
  /** Whether to show what the script's module exports: the value of an expression. */
  prints: boolean
  /** Whether the main file is only to be read, and not to be run. */
  checks: boolean
  test: { isRun: boolean; only: boolean; namePatterns: string[] }
}

export interface RunInput extends ProgramInput {
  files: readonly SnapshotFile[]
  /** In epoch milliseconds. */
  deadline: number
  /** Whether somebody reads what the process prints: output is printed there at once instead of reported. */
  isWatched: boolean
}

export interface TestCounts {
  tests: number
  suites: number
  pass: number
  fail: number
  skipped: number
  todo: number
}

export type OutputChunks = [stream: 1 | 2, text: string][]
export interface Report {
  output: OutputChunks
  changes: FileChange[]
}

/** Told while the program runs; the answer says whether it is to stop. */
export type OnReport = (report: Report) => Promise<{ stop: boolean }>
