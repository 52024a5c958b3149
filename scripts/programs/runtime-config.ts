// The configuration of a program's runtime: one Worker, a loader, and no network.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a program's runtime runs; `runtime-sources.ts` makes it. */
export type ProgramRuntime = {
  readonly modules: readonly { readonly name: string; readonly text: string }[]
  readonly compatibilityDate: string
}

/** Far above the limit of a process: the host enforces that limit by measuring, and reports it. */
const V8_HEAP_FACTOR = 2

/** Writes the configuration to the folder; returns its file. */
export function writeRuntimeConfig(folder: string, runtime: ProgramRuntime, memoryMb: number): string {
  const modules = runtime.modules.map(({ name, text }) => `(name = ${quoted(name)}, esModule = ${quoted(text)})`)
  const file = join(folder, 'program.capnp')
  const text = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [${modules.join(', ')}],
      compatibilityDate = ${quoted(runtime.compatibilityDate)},
      compatibilityFlags = ["nodejs_compat"],
      bindings = [(name = "LOADER", workerLoader = ())],
      globalOutbound = "nowhere"
    )),
    (name = "nowhere", network = (allow = [])),
  ],
  sockets = [(name = "http", http = (), service = "main")],
  v8Flags = ["--max-old-space-size=${memoryMb * V8_HEAP_FACTOR}"],
);
`
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** As Cap'n Proto takes a text. JSON's escapes are among its own, but for characters by number. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\u([0-9a-f]{4})/g, (_, code: string) =>
    [...Buffer.from(String.fromCharCode(Number.parseInt(code, 16)))]
      .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
      .join(''),
  )
}
