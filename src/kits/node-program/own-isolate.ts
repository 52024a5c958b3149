// The isolate that runs one program: made for it by the Worker Loader, without network, and gone with it. This file is
// also part of the Worker inside a program host, and so imports nothing but types.

import type { Ending, PreparedProgram, ProgramPort } from './program-port.ts'
import type { OnReport } from './runtime/protocol.ts'

export type Loader = Pick<WorkerLoader, 'load'>

type Entrypoint = { run(input: object, tell: OnReport): Promise<Ending> }

export const MAIN_MODULE = 'bellwether/main.js'
const COMPATIBILITY_DATE = '2026-08-01'

/** Programs run in the process that the service itself runs in. */
export function ownIsolates(loader: Loader): ProgramPort {
  return { run: (program, { onReport }) => runLoaded(loader, program, onReport) }
}

/** `isWatched` says that somebody reads what the process prints: output is printed there at once instead of reported. */
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
