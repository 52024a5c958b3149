// The isolate that runs one program: made for it, without network, and gone with it.

import { errorFields, log } from '../../../lib/log.ts'
import { isOfRuntime } from './builtins.ts'
import { compileModule, compileScript } from './compile.ts'
import type { Graph, GraphModule } from './module-graph.ts'
import { FILES_MODULE } from './runtime-files.ts'
import { FS_MODULE } from './runtime-fs.ts'
import { PROCESS_MODULE } from './runtime-process.ts'
import { RUN_MODULE } from './runtime-run.ts'
import { TEST_MODULE } from './runtime-test.ts'
import type { FileChange, SnapshotFile } from './snapshot.ts'

export interface Program {
  graph: Graph
  /** The path of the file that it begins with. */
  main: string
  argv: string[]
  env: Readonly<Record<string, string>>
  cwd: string
  stdin: string
  /** Whether to show what the script's module exports: the value of an expression. */
  prints: boolean
  test: { isRun: boolean; only: boolean; namePatterns: string[] }
  files: SnapshotFile[]
  timeoutMs: number
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
  tests: TestCounts
}

/** Told while the program runs; the answer says whether it is to stop. */
export type OnReport = (report: Report) => Promise<{ stop: boolean }>

export type Loader = Pick<WorkerLoader, 'load'>

/** The isolate could not be made, or broke: the message is the one to show. */
export class IsolateError extends Error {
  override readonly name = 'IsolateError'
}

const COMPATIBILITY_DATE = '2026-08-01'
const RUN_FILE = 'bellwether/run.js'
/** Where the runtime heeds it: beside the deadline that the program's own loops look at. */
const MAX_CPU_MS = 30_000
const MAX_SYNTAX_ERRORS = 10

type Entrypoint = { run(input: object, tell: OnReport): Promise<Ending> }

export async function runIsolated(loader: Loader, program: Program, onReport: OnReport): Promise<Ending> {
  const problems = new Map<string, string>()
  for (let guards = true; ; ) {
    try {
      return await attempt(loader, { program, problems, guards }, onReport)
    } catch (error) {
      const found = syntaxError(error)
      if (found === null) throw explained(error)
      // It may be the look at the clock that was put where it does not belong.
      if (guards) guards = false
      else if (problems.has(found.path) || problems.size >= MAX_SYNTAX_ERRORS) throw explained(error)
      else problems.set(found.path, found.problem)
    }
  }
}

type Attempt = { program: Program; problems: ReadonlyMap<string, string>; guards: boolean }

async function attempt(loader: Loader, { program, problems, guards }: Attempt, onReport: OnReport): Promise<Ending> {
  const { graph, main, timeoutMs, ...rest } = program
  const isolate = loader.load({
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ['nodejs_compat'],
    mainModule: 'bellwether/main.js',
    modules: modulesOf(graph, { problems, guards }),
    globalOutbound: null,
    limits: { cpuMs: Math.min(MAX_CPU_MS, timeoutMs) },
  })
  // The class is in the text of the module below.
  const entrypoint = isolate.getEntrypoint('Run') as unknown as Entrypoint
  const input = { ...rest, main, graph: described(graph, main, problems), deadline: Date.now() + timeoutMs }
  return entrypoint.run(input, onReport)
}

function modulesOf(graph: Graph, how: { problems: ReadonlyMap<string, string>; guards: boolean }) {
  const modules: Record<string, WorkerLoaderModule> = {
    [RUN_FILE]: { js: RUN_MODULE },
    'bellwether/files.js': { js: FILES_MODULE },
    'bellwether/fs.js': { js: FS_MODULE },
    'bellwether/test.js': { js: TEST_MODULE },
    'bellwether/process.js': { js: PROCESS_MODULE },
  }
  const imports: string[] = []
  const wrappers: string[] = []
  for (const [path, module] of graph.modules) {
    if (module.kind === 'json' || how.problems.has(path)) continue
    const name = path.slice(1)
    modules[name] = codeOf(module, how.guards)
    imports.push(`import w${wrappers.length} from ${JSON.stringify(path)}`)
    wrappers.push(`${JSON.stringify(path)}: w${wrappers.length}`)
  }
  modules['bellwether/main.js'] = { js: mainModule(graph, imports, wrappers) }
  return modules
}

function codeOf(module: GraphModule, guards: boolean): WorkerLoaderModule {
  return module.kind === 'module'
    ? { js: compileModule(module.source, { isAsync: module.isAsync, guards }) }
    : { cjs: compileScript(module.source, { guards }) }
}

function mainModule(graph: Graph, imports: readonly string[], wrappers: readonly string[]): string {
  // A name that is put together while the program runs may be any of the plain ones.
  const names = new Set([...graph.builtins, 'path', 'util', 'events', 'assert', 'os', 'url'].filter(isOfRuntime))
  const builtins = [...names].map((name, i) => `import * as b${i} from ${JSON.stringify(`node:${name}`)}`)
  const listed = [...names].map((name, i) => `${JSON.stringify(name)}: b${i}.default ?? b${i}`)
  return `import { WorkerEntrypoint } from 'cloudflare:workers'
import { run } from '/bellwether/run.js'
${builtins.join('\n')}
${imports.join('\n')}
const wrappers = { ${wrappers.join(', ')} }
const builtins = { ${listed.join(', ')} }
export class Run extends WorkerEntrypoint { run(input, tell) { return run(input, { wrappers, builtins }, tell) } }
`
}

/** What the isolate has to know of each file besides its code. */
function described(graph: Graph, main: string, problems: ReadonlyMap<string, string>) {
  const entries = [...graph.modules].map(([path, { kind, source, targets, isAsync }]) => {
    const { imports, exports } = source.syntax
    const sources = exports.flatMap((one) => ('from' in one && one.from !== null ? [one] : []))
    const statics = [
      ...imports.map(({ specifier, start }) => ({ name: specifier, start })),
      ...sources.map(({ from, start }) => ({ name: from ?? '', start })),
    ]
    return [
      path,
      {
        kind,
        isAsync,
        isMain: path === main,
        targets: Object.fromEntries(targets),
        statics: statics.toSorted((a, b) => a.start - b.start).map(({ name }) => name),
        ...(kind === 'json' ? { text: source.text } : {}),
        ...(problems.has(path) ? { problem: problems.get(path) } : {}),
      },
    ] as const
  })
  return Object.fromEntries(entries)
}

/** A file that is no JavaScript keeps the whole isolate from starting; the message says which one it is. */
function syntaxError(error: unknown): { path: string; problem: string } | null {
  const message = error instanceof Error ? error.message : ''
  const match = /Uncaught SyntaxError: ([^\n]*)\n\s*at ([^\n]+?):(\d+)(?::\d+)?(?:\n|$)/.exec(message)
  if (!match) return null
  const [, what = '', file = '', line = ''] = match
  return file.startsWith('bellwether/') ? null : { path: `/${file}`, problem: `${what} (/${file}:${line})` }
}

function explained(error: unknown): IsolateError {
  const message = error instanceof Error ? error.message : ''
  if (/memory/i.test(message)) return new IsolateError('The script used more memory than it may have', { cause: error })
  if (/CPU/i.test(message)) return new IsolateError('The script used more CPU time than it may have', { cause: error })
  log.warn('javascript.isolate_failed', errorFields(error))
  const said = message.replace(/^Failed to start Worker:\n/, '').split('\n')[0]
  return new IsolateError(`The script cannot be run: ${said || 'the runtime refused it'}`, { cause: error })
}
