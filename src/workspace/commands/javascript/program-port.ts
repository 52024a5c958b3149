// The place where a program runs. It has two forms: an isolate of the service's own process, which the platform keeps
// within bounds, and a program host, which gives each program a process of its own.

import type { FileChange, SnapshotFile } from './snapshot.ts'

/** A program put together: what an isolate is loaded with, and what it is told. */
export interface PreparedProgram {
  modules: Record<string, WorkerLoaderModule>
  /** What `run` of the main module takes, besides the files. */
  input: object
  files: SnapshotFile[]
  /** In epoch milliseconds. */
  deadline: number
  /** Where the runtime heeds it: beside the deadline that the program's own loops look at. */
  cpuMs: number
}

export interface TestCounts {
  tests: number
  suites: number
  pass: number
  fail: number
  skipped: number
  todo: number
}

export type Written = [stream: 1 | 2, text: string][]
export interface Report {
  output: Written
  changes: FileChange[]
}
export interface Ending extends Report {
  code: number
  /** Null for a program that was ended from outside. */
  tests: TestCounts | null
  /** Why it was ended, if it did not end by itself. */
  why?: string
}

/** Told while the program runs; the answer says whether it is to stop. */
export type OnReport = (report: Report) => Promise<{ stop: boolean }>

export interface ProgramPort {
  /** Throws an `Error` with the runtime's own message for a program that it cannot load. */
  run(program: PreparedProgram, by: { onReport: OnReport; signal: AbortSignal }): Promise<Ending>
}

/** The program cannot be run here, or broke what ran it: the message is the one to show. */
export class IsolateError extends Error {
  override readonly name = 'IsolateError'
}
