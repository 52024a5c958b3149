// `node` of the shell: JavaScript in a separate isolate, without network and processes, with the files of the workspace
// at its start.

import type { FileSystem } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { statAt } from '../../workspace/stat.ts'
import type { ShellCall, ShellResult } from '../shell/index.ts'
import { runIsolated } from './isolate.ts'
import { type Entry, type Graph, GraphBuilder, GraphError } from './module-graph.ts'
import { type NodeArguments, readNodeArguments } from './node-arguments.ts'
import { type Ending, IsolateError, type ProgramPort } from './program-port.ts'
import type { Report, TestCounts } from './runtime/protocol.ts'
import { applyChanges, takeFolders, takeSnapshot } from './snapshot.ts'
import { testFiles } from './test-files.ts'

/** Without `timeoutMs` a program has the whole remaining time of its call. */
export type NodeOptions = { programs: ProgramPort; timeoutMs?: number }

export async function runNode(args: readonly string[], call: ShellCall, options: NodeOptions): Promise<ShellResult> {
  const asked = readNodeArguments(args)
  if (asked.kind === 'answer') return { stdout: asked.stdout, stderr: asked.stderr, exitCode: asked.exitCode }
  try {
    if (asked.kind === 'test') return await runTests(asked, call, options)
    const entry = await entryOf(asked, call)
    const { stdout, stderr, exitCode } = await runProgram({ entry, asked, call, options })
    return { stdout, stderr, exitCode }
  } catch (error) {
    if (call.signal.aborted || !(error instanceof GraphError || error instanceof IsolateError)) throw error
    return { stdout: '', stderr: `node: ${error.message}\n`, exitCode: 1 }
  }
}

type ProgramResult = ShellResult & { tests: TestCounts }
type Run = { entry: Entry; asked: Exclude<NodeArguments, { kind: 'answer' }>; call: ShellCall; options: NodeOptions }

async function runProgram(run: Run): Promise<ProgramResult> {
  const { fs, pause, signal } = run.call
  const graph = await new GraphBuilder(fs).build(run.entry)
  const files = needsFiles(graph) ? await takeSnapshot(fs, pause) : takeFolders(fs)
  const timeoutMs = timeoutOf(run)
  const program = { ...inputOf(run, graph), graph, files, deadline: Date.now() + timeoutMs }
  const kept = new ProgramOutcome(run.call)
  const onReport = (report: Report) => kept.take(report)
  const running = runIsolated(run.options.programs, program, { onReport, signal })
  const ending = await unlessAbandoned(running, { signal, timeoutMs })
  if (ending !== null) await kept.take(ending)
  const code = ending?.code ?? EXIT_STOPPED
  if (ending?.why !== undefined) kept.complain(ending.why)
  else if (code === EXIT_STOPPED) kept.complain(`stopped after ${Math.round(timeoutMs / 100) / 10} s`)
  return { ...kept.result(code), tests: ending?.tests ?? NO_TESTS }
}

function timeoutOf({ options, call }: Run): number {
  return Math.max(0, Math.min(options.timeoutMs ?? Number.POSITIVE_INFINITY, call.deadline - Date.now()))
}

/** The arguments and variables of a program. */
function inputOf({ entry, asked, call }: Run, graph: Graph) {
  const isTest = asked.kind === 'test'
  return {
    main: { path: entry.path, unnamed: entry.unnamed },
    argv: ['/usr/bin/node', ...placeOf(entry, asked), ...asked.rest],
    env: call.env,
    cwd: call.cwd,
    stdin: graph.computed || readsInput(graph) ? call.stdin : '',
    prints: asked.kind === 'code' && asked.prints,
    checks: asked.kind === 'check',
    test: { isRun: isTest, only: isTest && asked.only, namePatterns: isTest ? asked.namePatterns : [] },
  }
}

/** The output and file changes of a program, even of a stopped one. */
class ProgramOutcome {
  readonly #call: ShellCall
  readonly #texts = { 1: '', 2: '' }
  #isAllKept = true

  constructor(call: ShellCall) {
    this.#call = call
  }

  async take({ output, changes }: Report): Promise<{ stop: boolean }> {
    const { fs, signal, pause } = this.#call
    for (const [stream, text] of output) this.#texts[stream] += text
    const rest = () => (signal.aborted ? null : pause())
    for (const problem of await applyChanges(fs, changes, rest)) {
      this.complain(problem)
      this.#isAllKept = false
    }
    return { stop: signal.aborted }
  }

  complain(problem: string): void {
    this.#texts[2] += `node: ${problem}\n`
  }

  /** The program assumed that the write succeeded; the caller must get an error. */
  result(code: number): ShellResult {
    const exitCode = code === 0 && !this.#isAllKept ? 1 : code & 0xff
    return { stdout: this.#texts[1], stderr: this.#texts[2], exitCode }
  }
}

const EXIT_STOPPED = 124
const NO_TESTS: TestCounts = { tests: 0, suites: 0, pass: 0, fail: 0, skipped: 0, todo: 0 }
/** A program that neither ends nor responds is abandoned this long after it should have ended. */
const GRACE_MS = 1000

function unlessAbandoned(running: Promise<Ending>, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = () => {}
  const abandoned = new Promise<null>((resolve) => {
    const giveUpIn = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => resolve(null), ms)
    }
    onAbort = () => giveUpIn(GRACE_MS)
    giveUpIn(timeoutMs + GRACE_MS)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  return Promise.race([running, abandoned]).finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  })
}

/** A program that cannot read files needs none. */
function needsFiles({ builtins, computed }: Graph): boolean {
  return (
    computed || builtins.has('fs') || builtins.has('fs/promises') || builtins.has('process') || builtins.has('module')
  )
}

/** Input that a program does not read is left for the next command. */
function readsInput({ modules }: Graph): boolean {
  return [...modules.values()].some(({ source }) => INPUT_WORDS.test(source.text))
}

const INPUT_WORDS =
  /stdin|readline|\/dev\/|\/proc\/|(?:readFile|readFileSync|createReadStream|readSync|read|openSync|fstatSync)\(/

async function entryOf(asked: Exclude<NodeArguments, { kind: 'answer' | 'test' }>, call: ShellCall): Promise<Entry> {
  if (asked.kind === 'file' || asked.kind === 'check')
    return { path: scriptPath(call.fs, resolvePath(call.cwd, asked.path)), text: null, forced: null }
  const text = asked.kind === 'stdin' ? call.stdin : asked.inputType === 'module' ? asked.text : withGlobals(asked.text)
  const unnamed = asked.inputType === 'module' ? '[eval1]' : asked.kind === 'stdin' ? '[stdin]' : '[eval]'
  return { path: resolvePath(call.cwd, unnamed), text, forced: asked.inputType, unnamed }
}

const GLOBALS = 'assert buffer crypto events fs os path perf_hooks querystring readline stream url util zlib'.split(' ')

/** Code on the command line can use the builtin modules by their names. */
function withGlobals(text: string): string {
  const used = GLOBALS.filter((name) => new RegExp(`(?<![.\\w$'"\`/-])${name}\\.\\w`).test(text))
  const isDeclared = (name: string) =>
    new RegExp(`\\b(const|let|var|import|function|class)\\b[^;\\n]*\\b${name}\\b`).test(text)
  const missing = used.filter((name) => !isDeclared(name) && !/^\s*(import|export)\b/m.test(text))
  return missing.map((name) => `globalThis.${name}??=require("${name}");`).join('') + text
}

/** The value in place of the script's path among a program's arguments. */
function placeOf(entry: Entry, asked: Run['asked']): string[] {
  if (entry.text === null) return [entry.path]
  return asked.kind === 'stdin' && asked.dash ? ['-'] : []
}

function scriptPath(fs: FileSystem, path: string): string {
  const candidates = [path, `${path}.js`, `${path}.mjs`, `${path}.cjs`, `${path}/index.js`]
  const found = candidates.find((one) => statAt(fs, one)?.kind === 'file')
  if (found === undefined) throw new GraphError(`Cannot find module '${path}'`)
  if (/\.[mc]?tsx?$|\.jsx$/.test(found))
    throw new GraphError(`${found}: TypeScript and JSX cannot be run here, only JavaScript`)
  return fs.realPath(found)
}

/** Each file in a separate isolate, one after another. */
async function runTests(
  asked: Extract<NodeArguments, { kind: 'test' }>,
  call: ShellCall,
  options: NodeOptions,
): Promise<ShellResult> {
  const paths = testFiles(call.fs, { cwd: call.cwd, asked: asked.paths })
  const [total, result] = [{ ...NO_TESTS }, { stdout: '', stderr: '', exitCode: 0 }]
  const start = Date.now()
  for (const path of paths) {
    const ran = await runProgram({
      entry: { path: call.fs.realPath(path), text: null, forced: null },
      asked,
      call,
      options,
    })
    result.stdout += ran.stdout
    result.stderr += ran.stderr
    for (const name of Object.keys(total) as (keyof TestCounts)[]) total[name] += ran.tests[name]
    // A file that fails, or that contains no test, counts as a test itself.
    if (ran.tests.tests === 0 || (ran.exitCode !== 0 && ran.tests.fail === 0)) {
      total.tests++
      total[ran.exitCode === 0 ? 'pass' : 'fail']++
      result.stdout += `${ran.exitCode === 0 ? '✔' : '✖'} ${path}\n`
    }
    if (call.signal.aborted) break
  }
  const lines = Object.entries({ ...total, duration_ms: Date.now() - start }).map(
    ([name, value]) => `ℹ ${name} ${value}\n`,
  )
  return { ...result, stdout: result.stdout + lines.join(''), exitCode: total.fail > 0 || call.signal.aborted ? 1 : 0 }
}
