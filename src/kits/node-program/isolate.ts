// Builds a program as the modules of an isolate, and runs it. Syntax errors are found by the attempt.

import { errorFields, log } from '../../lib/log.ts'
import { isOfRuntime } from './builtins.ts'
import { compileModule, compileScript, headLength } from './compile.ts'
import type { Graph, GraphModule } from './module-graph.ts'
import { MAIN_MODULE } from './own-isolate.ts'
import { type Ending, IsolateError, type PreparedProgram, type ProgramPort } from './program-port.ts'
import type { ModuleDescription, OnReport, ProgramInput, SnapshotFile } from './runtime/protocol.ts'
import { RUNTIME_MODULES } from './runtime.generated.ts'

/** The first file of a program, and the name of code without a file. */
export type Main = { path: string; unnamed?: string | undefined }

export interface Program extends Omit<ProgramInput, 'graph' | 'main'> {
  graph: Graph
  main: Main
  files: SnapshotFile[]
  /** In epoch milliseconds. */
  deadline: number
}

const RUNTIME_FOLDER = 'bellwether'
const MAX_CPU_MS = 30_000
const MAX_SYNTAX_ERRORS = 10

type Watching = { onReport: OnReport; signal: AbortSignal }

export async function runIsolated(port: ProgramPort, program: Program, by: Watching): Promise<Ending> {
  const problems = new Map<string, string>()
  for (let guards = true; ; ) {
    try {
      return await port.run(prepared(program, { problems, guards }), by)
    } catch (error) {
      if (error instanceof IsolateError || by.signal.aborted) throw error
      const found = syntaxError(error)
      if (found === null) throw explained(error)
      // The cause may be a time check that was inserted in a wrong place.
      if (guards) guards = false
      else if (problems.has(found.path) || problems.size >= MAX_SYNTAX_ERRORS) throw explained(error)
      else problems.set(found.path, found.problem)
    }
  }
}

type Attempt = { problems: ReadonlyMap<string, string>; guards: boolean }

function prepared({ graph, main, files, deadline, ...rest }: Program, how: Attempt): PreparedProgram {
  const input: ProgramInput = { ...rest, main: main.path, graph: described(graph, main, how.problems) }
  return {
    modules: modulesOf(graph, how),
    input,
    files,
    deadline,
    cpuMs: Math.max(1, Math.min(MAX_CPU_MS, deadline - Date.now())),
  }
}

function modulesOf(graph: Graph, how: Attempt) {
  const modules: Record<string, WorkerLoaderModule> = {}
  for (const [name, js] of Object.entries(RUNTIME_MODULES)) modules[`${RUNTIME_FOLDER}/${name}`] = { js }
  const imports: string[] = []
  const wrappers: string[] = []
  for (const [path, module] of graph.modules) {
    if (module.kind === 'json' || how.problems.has(path)) continue
    const name = path.slice(1)
    modules[name] = codeOf(module, how.guards)
    imports.push(`import w${wrappers.length} from ${JSON.stringify(path)}`)
    wrappers.push(`${JSON.stringify(path)}: w${wrappers.length}`)
  }
  modules[MAIN_MODULE] = { js: mainModule(graph, imports, wrappers) }
  return modules
}

function codeOf(module: GraphModule, guards: boolean): WorkerLoaderModule {
  return module.kind === 'module'
    ? { js: compileModule(module.source, { isAsync: module.isAsync, guards }) }
    : { cjs: compileScript(module.source, { guards }) }
}

function mainModule(graph: Graph, imports: readonly string[], wrappers: readonly string[]): string {
  // A name computed at run time may be any of the common ones.
  const names = new Set([...graph.builtins, 'path', 'util', 'events', 'assert', 'os', 'url'].filter(isOfRuntime))
  const builtins = [...names].map((name, i) => `import * as b${i} from ${JSON.stringify(`node:${name}`)}`)
  const listed = [...names].map((name, i) => `${JSON.stringify(name)}: b${i}.default ?? b${i}`)
  return `import { WorkerEntrypoint } from 'cloudflare:workers'
import { run } from '/${RUNTIME_FOLDER}/run.ts'
${builtins.join('\n')}
${imports.join('\n')}
const wrappers = { ${wrappers.join(', ')} }
const builtins = { ${listed.join(', ')} }
export class Run extends WorkerEntrypoint { run(input, tell) { return run(input, { wrappers, builtins }, tell) } }
`
}

/** The isolate's information about each file besides its code. */
function described(graph: Graph, main: Main, problems: ReadonlyMap<string, string>): ProgramInput['graph'] {
  const entries = [...graph.modules].map(([path, module]) => {
    const about = description(module)
    if (path === main.path) {
      about.isMain = true
      if (main.unnamed !== undefined) about.unnamed = main.unnamed
    }
    const problem = problems.get(path)
    if (problem !== undefined) about.problem = problem
    return [path, about] as const
  })
  return Object.fromEntries(entries)
}

function description({ kind, source, imports, requires, statics, isAsync }: GraphModule): ModuleDescription {
  return {
    kind,
    isAsync,
    isMain: false,
    statics,
    imports: Object.fromEntries(imports),
    requires: Object.fromEntries(requires),
    head: headLength(source, { isModule: kind === 'module', isAsync }),
    ...(kind === 'json' ? { text: source.text } : {}),
  }
}

/** A file with a syntax error prevents the start of the isolate; the message contains the file. */
function syntaxError(error: unknown): { path: string; problem: string } | null {
  const message = error instanceof Error ? error.message : ''
  const match = /Uncaught SyntaxError: ([^\n]*)\n\s*at ([^\n]+?):(\d+)(?::\d+)?(?:\n|$)/.exec(message)
  if (!match) return null
  const [, what = '', file = '', line = ''] = match
  return file.startsWith(`${RUNTIME_FOLDER}/`) ? null : { path: `/${file}`, problem: `${what} (/${file}:${line})` }
}

function explained(error: unknown): IsolateError {
  const message = error instanceof Error ? error.message : ''
  if (/memory/i.test(message)) return new IsolateError('The script used more memory than it may have', { cause: error })
  if (/CPU/i.test(message)) return new IsolateError('The script used more CPU time than it may have', { cause: error })
  log.warn('javascript.isolate_failed', errorFields(error))
  const said = message.replace(/^Failed to start Worker:\n/, '').split('\n')[0]
  return new IsolateError(`The script cannot be run: ${said || 'the runtime refused it'}`, { cause: error })
}
