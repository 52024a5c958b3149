// Runs a program inside the isolate and reports what it writes and changes while it runs.

import { type Builtins, patched } from './builtins.ts'
import { console } from './console.ts'
import { Exit, end, isOver, over } from './ending.ts'
import { withCode } from './errors.ts'
import { fs, promises } from './fs.ts'
import { install } from './install.ts'
import { recordOf } from './module-tools.ts'
import { evaluate, type Loading, Module, requireFile, setUp } from './modules.ts'
import { isOutputCut, takeOutput } from './output.ts'
import { process } from './process.ts'
import type { OnReport, Report, RunInput, TestCounts } from './protocol.ts'
import { readline, promises as readlinePromises } from './readline.ts'
import { builtinOf } from './resolution.ts'
import { stderr } from './streams.ts'
import { nodeTest } from './test.ts'
import { results, runAll, setUp as setUpTests } from './test-run.ts'
import { asMacrotask, hasPending, timers, wait } from './timers.ts'
import { hasChanges, mount, takeChanges } from './tree.ts'
import { guarded, leave, uncaught } from './uncaught.ts'

/** How long nothing may be going on before a program counts as over. */
const QUIET_MS = 8
const REPORT_EVERY_MS = 60
const EXIT_STOPPED = 124
const EXIT_INTERRUPTED = 130
const EXIT_UNSETTLED = 13

const CHILD_FUNCTIONS = ['exec', 'execFile', 'execSync', 'execFileSync', 'spawn', 'spawnSync', 'fork']
const noChildren = () => {
  throw withCode(new Error('There are no processes here: a script cannot start another program'), 'ENOSYS')
}

/** What the main module of the isolate has loaded. */
type Loaded = { wrappers: Loading['wrappers']; builtins: Builtins }
type Ending = Report & { code: number; tests: TestCounts }

export async function run(input: RunInput, loaded: Loaded, tell: OnReport): Promise<Ending> {
  setUp({ graph: input.graph, wrappers: loaded.wrappers, builtins: builtinsOf(loaded), mainId: input.main })
  mount(input.files, { cwd: input.cwd, closed: isOver, stdin: input.stdin })
  install(input)
  setUpTests(input.test)
  const late = wait(Math.max(0, input.deadline - Date.now())).then(() => void end(EXIT_STOPPED))
  const reporting = reportWhile(tell)
  await Promise.race([begin(input), over, late])
  if (!isOver()) leave(Number(process.exitCode ?? 0))
  const code = await over
  await reporting
  let changes = takeChanges()
  for (; hasChanges(); changes = takeChanges()) await tell({ output: takeOutput(), changes })
  return { code: code === 0 && isOutputCut() ? 1 : code, output: takeOutput(), changes, tests: results() }
}

function builtinsOf({ builtins }: Loaded): Record<string, unknown> {
  Object.assign(process, { getBuiltinModule: builtinOf })
  return {
    ...patched(builtins),
    fs,
    'fs/promises': promises,
    readline,
    'readline/promises': readlinePromises,
    process,
    console,
    timers,
    test: nodeTest,
    module: Module,
    child_process: Object.fromEntries(CHILD_FUNCTIONS.map((name) => [name, noChildren])),
  }
}

async function begin(input: RunInput): Promise<void> {
  let isSettled = false
  const started = start(input).finally(() => {
    isSettled = true
  })
  await quiet(() => isSettled)
  if (isOver()) return
  if (!isSettled) {
    stderr.write('Warning: Detected unsettled top-level await\n')
    process.exitCode ??= EXIT_UNSETTLED
    return
  }
  await started
  const passed = await Promise.race([runAll(input.test.isRun), over.then(() => true)])
  if (!passed) process.exitCode ??= 1
  await quiet(() => true)
  await announceEnd()
}

async function start({ main, checks, prints }: RunInput): Promise<void> {
  try {
    const { kind, problem } = recordOf(main).node
    if (checks) {
      if (problem) throw new SyntaxError(problem)
      return
    }
    let exported: unknown
    if (kind === 'module') await evaluate(main)
    else
      asMacrotask(() => {
        exported = requireFile(main)
      })
    if (prints) console.log(exported)
  } catch (error) {
    if (!(error instanceof Exit)) uncaught(error, 'uncaughtException')
  }
}

/** Whoever hears it may find more to do, and hears it again after that. */
async function announceEnd(): Promise<void> {
  for (;;) {
    guarded(() => process.emit('beforeExit', process.exitCode ?? 0))
    await wait(0)
    if (!hasPending() || isOver()) return
    await quiet(() => true)
  }
}

/** Until no timer is left and, for a moment, nothing else came of it. */
async function quiet(isSettled: () => boolean): Promise<void> {
  for (let still = 0; still < 2 && !isOver(); ) {
    await wait(still === 0 ? 0 : QUIET_MS)
    if (hasPending()) still = 0
    else still += isSettled() ? 1 : 0.1
  }
}

/** What was written and changed so far, now and then, so that it is kept whatever becomes of the program. */
async function reportWhile(tell: OnReport): Promise<void> {
  while (!isOver()) {
    await Promise.race([wait(REPORT_EVERY_MS), over])
    if (isOver()) return
    const [output, changes] = [takeOutput(), takeChanges()]
    const { stop } = await tell({ output, changes })
    if (stop) end(EXIT_INTERRUPTED)
  }
}
