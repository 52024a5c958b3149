// The place where a program runs. There are two kinds: an isolate of the service's own process, which the platform
// limits, and a program host, which gives each program a separate process.

import type { OnReport, Report, SnapshotFile, TestCounts } from './runtime/protocol.ts'

/** A built program: the modules of an isolate, and its input. */
export interface PreparedProgram {
  modules: Record<string, WorkerLoaderModule>
  /** The argument of the main module's `run`, besides the files: a `ProgramInput`, which no port reads. */
  input: object
  files: SnapshotFile[]
  /** In epoch milliseconds. */
  deadline: number
  /** Used if the runtime supports it, in addition to the deadline that the program's own loops check. */
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

/** The program cannot run here, or it broke its isolate: the message is for the user. */
export class IsolateError extends Error {
  override readonly name = 'IsolateError'
}
