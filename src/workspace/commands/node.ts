// `node` of the shell: JavaScript in an isolate of its own, without network and without processes, over the files of the
// workspace as they are when it begins.

import { type FileSystem, isFileError } from '../file-system.ts'
import { resolvePath } from '../paths.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import {
  type Ending,
  IsolateError,
  type Loader,
  type Report,
  runIsolated,
  type TestCounts,
} from './javascript/isolate.ts'
import { type Entry, type Graph, GraphBuilder, GraphError } from './javascript/module-graph.ts'
import { type NodeArguments, readNodeArguments } from './javascript/node-arguments.ts'
import { applyChanges, takeSnapshot } from './javascript/snapshot.ts'
import { testFiles } from './javascript/test-files.ts'

const DEFAULT_TIMEOUT_MS = 60_000

export type NodeOptions = { loader: Loader; timeoutMs?: number }

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

type Ran = ShellResult & { tests: TestCounts }
type Run = { entry: Entry; asked: Exclude<NodeArguments, { kind: 'answer' }>; call: ShellCall; options: NodeOptions }

async function runProgram({ entry, asked, call, options }: Run): Promise<Ran> {
  const { fs, cwd, env, stdin, pause, signal } = call
  const graph = await new GraphBuilder(fs).build(entry)
  const files = needsFiles(graph) ? await takeSnapshot(fs, pause) : []
  const texts = { 1: '', 2: '' }
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const isTest = asked.kind === 'test'
  const program = {
    graph,
    main: entry.path,
    argv: ['/usr/bin/node', ...(entry.text === null ? [entry.path] : []), ...asked.rest],
    env,
    cwd,
    stdin,
    prints: asked.kind === 'code' && asked.prints,
    test: { isRun: isTest, only: isTest && asked.only, namePatterns: isTest ? asked.namePatterns : [] },
    files,
    timeoutMs,
  }
  const take = async ({ output, changes }: Report) => {
    for (const [stream, text] of output) texts[stream] += text
    for (const problem of await applyChanges(fs, changes)) texts[2] += `node: ${problem}\n`
    return { stop: signal.aborted }
  }
  const ending = await unlessAbandoned(runIsolated(options.loader, program, take), { signal, timeoutMs })
  if (ending !== null) await take(ending)
  const code = ending?.code ?? EXIT_STOPPED
  if (code === EXIT_STOPPED) texts[2] += `node: stopped after ${timeoutMs / 1000} s\n`
  return { stdout: texts[1], stderr: texts[2], exitCode: code & 0xff, tests: ending?.tests ?? NO_TESTS }
}

const EXIT_STOPPED = 124
const NO_TESTS: TestCounts = { tests: 0, suites: 0, pass: 0, fail: 0, skipped: 0, todo: 0 }
/** A program that neither ends nor listens is left behind this long after it should have ended. */
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

/** A program that cannot look at files need not be given any. */
function needsFiles({ builtins, computed }: Graph): boolean {
  return (
    computed || builtins.has('fs') || builtins.has('fs/promises') || builtins.has('process') || builtins.has('module')
  )
}

async function entryOf(asked: Exclude<NodeArguments, { kind: 'answer' | 'test' }>, call: ShellCall): Promise<Entry> {
  if (asked.kind === 'file')
    return { path: scriptPath(call.fs, resolvePath(call.cwd, asked.path)), text: null, forced: null }
  const text = asked.kind === 'stdin' ? call.stdin : asked.text
  const path = resolvePath(call.cwd, asked.kind === 'stdin' ? '[stdin]' : '[eval]')
  return { path, text, forced: asked.inputType }
}

function scriptPath(fs: FileSystem, path: string): string {
  const candidates = [path, `${path}.js`, `${path}.mjs`, `${path}.cjs`, `${path}/index.js`]
  const found = candidates.find((one) => isFile(fs, one))
  if (found === undefined) throw new GraphError(`Cannot find module '${path}'`)
  if (/\.[mc]?tsx?$|\.jsx$/.test(found))
    throw new GraphError(`${found}: TypeScript and JSX cannot be run here, only JavaScript`)
  return fs.realPath(found)
}

function isFile(fs: FileSystem, path: string): boolean {
  try {
    return fs.stat(path).kind === 'file'
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}

/** Each file in an isolate of its own, one after the other. */
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
    // A file that breaks, or that has no test in it, is a test itself.
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
