// The isolate of one program: created by the Worker Loader, without network, and removed with it. This file is also
// part of the Worker inside a program host, and so imports only types.

import type { Ending, PreparedProgram, ProgramPort } from './program-port.ts'
import type { OnReport } from './runtime/protocol.ts'

export type Loader = Pick<WorkerLoader, 'load'>

type Entrypoint = { run(input: object, tell: OnReport): Promise<Ending> }

export const MAIN_MODULE = 'bellwether/main.js'
const COMPATIBILITY_DATE = '2026-08-01'

/** Programs run in the service's own process. */
export function ownIsolates(loader: Loader): ProgramPort {
  return { run: (program, { onReport }) => runLoaded(loader, program, onReport) }
}

/** `isWatched`: the process's output is read, so the program's output is printed there at once instead of being reported. */
export async function runLoaded(
  loader: Loader,
  { modules, input, files, deadline, cpuMs, isWatched = false }: PreparedProgram & { isWatched?: boolean },
  onReport: OnReport,
): Promise<Ending> {
  const isolate = loader.load({
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ['nodejs_compat'],
    mainModule: MAIN_MODULE,
    modules,
    globalOutbound: null,
    limits: { cpuMs },
  })
  // The class is in the text of the main module.
  const entrypoint = isolate.getEntrypoint('Run') as unknown as Entrypoint
  return entrypoint.run({ ...input, files, deadline, isWatched }, onReport)
}
