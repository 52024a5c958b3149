// The place where a program runs. It has two forms: an isolate of the service's own process, which the platform keeps
// within bounds, and a program host, which gives each program a process of its own.

import type { OnReport, Report, SnapshotFile, TestCounts } from './runtime/protocol.ts'

/** A program put together: what an isolate is loaded with, and what it is told. */
export interface PreparedProgram {
  modules: Record<string, WorkerLoaderModule>
  /** What `run` of the main module takes, besides the files: a `ProgramInput`, which no port looks into. */
  input: object
  files: SnapshotFile[]
  /** In epoch milliseconds. */
  deadline: number
  /** Where the runtime heeds it: beside the deadline that the program's own loops look at. */
  cpuMs: number
}

export interface Ending extends Report {
  code: number
  /** Null for a program that was ended from outside. */
  tests: TestCounts | null
  /** Why it was ended, if it did not end by itself. */
  why?: string
}

export interface ProgramPort {
  /** Throws an `Error` with the runtime's own message for a program that it cannot load. */
  run(program: PreparedProgram, by: { onReport: OnReport; signal: AbortSignal }): Promise<Ending>
}

/** The program cannot be run here, or broke what ran it: the message is the one to show. */
export class IsolateError extends Error {
  override readonly name = 'IsolateError'
}
