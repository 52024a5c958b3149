// Runs a program inside the isolate and reports what it writes and changes while it runs. The text of a module.

export const RUN_MODULE = String.raw`
import { hasChanges, mount, takeChanges } from '/bellwether/files.js'
import fs, { promises } from '/bellwether/fs.js'
import { builtinOf, evaluate, Module, recordOf, requireFile, setUp } from '/bellwether/modules.js'
import { patched } from '/bellwether/builtins.js'
import readline, { promises as readlinePromises } from '/bellwether/readline.js'
import * as test from '/bellwether/test.js'
import { asMacrotask, console, end, Exit, guarded, hasPending, install, isOutputCut, isOver, leave, over, placed, process, takeOutput, timers, uncaught, wait } from '/bellwether/process.js'

/** How long nothing may be going on before a program counts as over. */
const QUIET_MS = 8
const REPORT_EVERY_MS = 60

const noChildren = () => { throw Object.assign(new Error('There are no processes here: a script cannot start another program'), { code: 'ENOSYS' }) }

export async function run(input, given, tell) {
  const builtins = { ...patched(given.builtins), fs, 'fs/promises': promises, readline, 'readline/promises': readlinePromises, process, console, timers, test: test.default, module: Module, child_process: Object.fromEntries(['exec', 'execFile', 'execSync', 'execFileSync', 'spawn', 'spawnSync', 'fork'].map((name) => [name, noChildren])) }
  setUp({ graph: input.graph, wrappers: given.wrappers, builtins, mainId: input.main })
  process.getBuiltinModule = builtinOf
  mount(input.files, { cwd: input.cwd, closed: isOver, stdin: input.stdin })
  install({ argv: input.argv, env: input.env, input: input.stdin, deadline: input.deadline, watched: input.isWatched, heads: Object.fromEntries(Object.entries(input.graph).map(([path, { head }]) => [path, head])) })
  test.setUp({ write: (text) => process.stdout.write(placed(text)), only: input.test.only, namePatterns: input.test.namePatterns.map((text) => new RegExp(text)) })
  const late = wait(Math.max(0, input.deadline - Date.now())).then(() => void end(124))
  const reporting = reportWhile(tell)
  const main = begin(input)
  await Promise.race([main, over, late])
  if (!isOver()) leave(Number(process.exitCode ?? 0))
  const code = await over
  await reporting
  let changes = takeChanges()
  for (; hasChanges(); changes = takeChanges()) await tell({ output: takeOutput(), changes })
  return { code: code === 0 && isOutputCut() ? 1 : code, output: takeOutput(), changes, tests: test.results() }
}

async function begin(input) {
  let settled = false
  const started = (async () => {
    try {
      const { main } = input
      if (input.checks) {
        const { problem } = recordOf(main).node
        if (problem) throw new SyntaxError(problem)
        return
      }
      if (recordOf(main).node.kind === 'module') await evaluate(main)
      else asMacrotask(() => requireFile(main))
      if (input.prints) console.log(recordOf(main).module?.exports)
    } catch (error) {
      if (error instanceof Exit) return
      uncaught(error, 'uncaughtException')
    } finally { settled = true }
  })()
  await quiet(() => settled)
  if (isOver()) return
  if (!settled) { process.stderr.write('Warning: Detected unsettled top-level await\n'); process.exitCode ??= 13; return }
  await started
  const passed = await Promise.race([test.runAll(input.test.isRun), over.then(() => true)])
  if (!passed) process.exitCode ??= 1
  await quiet(() => true)
  // Whoever hears it may find more to do, and hears it again after that.
  do {
    guarded(() => { process.emit('beforeExit', process.exitCode ?? 0) }, [])
    await wait(0)
  } while (hasPending() && !isOver() && (await quiet(() => true), true))
}

/** Until no timer is left and, for a moment, nothing else came of it. */
async function quiet(isSettled) {
  for (let still = 0; still < 2 && !isOver(); ) {
    await wait(still === 0 ? 0 : QUIET_MS)
    if (hasPending()) still = 0
    else still += isSettled() ? 1 : 0.1
  }
}

/** What was written and changed so far, now and then, so that it is kept whatever becomes of the program. */
async function reportWhile(tell) {
  while (!isOver()) {
    await Promise.race([wait(REPORT_EVERY_MS), over])
    if (isOver()) return
    const [output, changes] = [takeOutput(), takeChanges()]
    const { stop } = await tell({ output, changes })
    if (stop) end(130)
  }
}
`
