// What the runtime of a program is told: one Worker, a loader, and nothing that leads out of it.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { unstable_readConfig } from 'wrangler'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'

const ENTRY = 'scripts/programs/entries/program-worker.ts'
const IMPORT = /^import (?!type )[^'\n]* from '(\.[^']*)'$/gm

/** Far above what a process may have: the host sees to that by looking, and names what it does. */
const V8_HEAP_FACTOR = 2

/** Writes the configuration into the folder; answers its file. */
export function writeRuntimeConfig(folder: string, memoryMb: number): string {
  const modules = modulesFrom(ENTRY).map(({ name, text }) => `(name = ${quoted(name)}, esModule = ${quoted(text)})`)
  const { compatibility_date: date } = unstable_readConfig({ config: join(ROOT, 'wrangler.toml') })
  const file = join(folder, 'program.capnp')
  const text = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [${modules.join(', ')}],
      compatibilityDate = ${quoted(date ?? '')},
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

/** The file and all that it imports, each under its path, without types: nothing has to be bundled. */
function modulesFrom(entry: string): { name: string; text: string }[] {
  const found = new Map<string, string>()
  const waiting = [entry]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const path = join(ROOT, name)
    if (!existsSync(path)) throw new Fault(`${path} is missing.`)
    const source = readFileSync(path, 'utf8')
    found.set(name, source)
    for (const [, specifier = ''] of source.matchAll(IMPORT)) waiting.push(posix.join(dirname(name), specifier))
  }
  const texts = withoutTypes([...found.values()])
  return [...found.keys()].map((name, i) => ({ name, text: texts[i] ?? '' }))
}

/** In a process of its own, where Node's remark that this is an experiment is not printed. */
function withoutTypes(sources: readonly string[]): string[] {
  const code = `import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
const sources = JSON.parse(readFileSync(0, 'utf8'))
process.stdout.write(JSON.stringify(sources.map((source) => stripTypeScriptTypes(source))))`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', input: JSON.stringify(sources) }))
}

/** As Cap'n Proto takes a text. JSON's escapes are among its own, but for characters by number. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\u([0-9a-f]{4})/g, (_, code: string) =>
    [...Buffer.from(String.fromCharCode(Number.parseInt(code, 16)))]
      .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
      .join(''),
  )
}
