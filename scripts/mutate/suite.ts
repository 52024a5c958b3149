// The test process of the scratch copy as the rest sees it: it is asked to run files, and it is ended when they take too long,
// as code in an endless loop can only be ended with its process.

import { type ChildProcess, fork } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import type { FileOutcome, Order, Outcome, SuiteMessage } from './suite-process.ts'

/** What vitest, its servers and the runtime take on a machine that is busy otherwise. */
const BEGIN_MS = 600_000
/** A runtime that does not start on a busy machine starts a moment later. */
const STARTS = 3
/** What a run takes to end once its last test file has ended. */
const END_MS = 60_000

type SuiteOptions = { marksFunctions: boolean; endMs?: number }

export class Suite {
  readonly #root: string
  readonly #marksFunctions: boolean
  readonly #endMs: number
  #child: ChildProcess | null = null
  #changed: readonly string[] = []

  constructor(root: string, { marksFunctions, endMs = END_MS }: SuiteOptions) {
    this.#root = root
    this.#endMs = endMs
    this.#marksFunctions = marksFunctions
  }

  /** What was changed after the last run, for the next one to read anew. */
  changedSince(paths: readonly string[]): void {
    this.#changed = paths
  }

  /**
   * It is cut off when a test file takes longer than its limit. What did not start is tried again in a new process; an outcome
   * that still has `unstarted` tells nothing of the tests that are missing in it.
   */
  async run(asked: Order, limitMsOf: (test: string) => number): Promise<Outcome> {
    const order = { ...asked, changed: [...this.#changed, ...asked.changed] }
    let outcome = await this.#once(order, limitMsOf)
    for (let starts = 1; starts < STARTS && outcome.unstarted.length > 0; starts++) {
      this.close()
      outcome = await this.#once(order, limitMsOf)
    }
    return outcome
  }

  #once(order: Order, limitMsOf: (test: string) => number): Promise<Outcome> {
    const child = this.#child ?? this.#start()
    this.#child = child
    const files: FileOutcome[] = []
    let running = 'no test file'
    return new Promise((resolve) => {
      const done = (rest: Omit<Outcome, 'files'>) => {
        clearTimeout(timer)
        child.removeAllListeners('message').removeAllListeners('exit')
        if (rest.cutOffIn !== null) this.close()
        resolve({ files, ...rest })
      }
      const cutOff = () => done({ errors: [], unstarted: [], cutOffIn: running })
      // All is known: a process that goes on all the same is not asked again.
      const ended = () => {
        this.close()
        done({ errors: [], unstarted: [], cutOffIn: null })
      }
      let timer = setTimeout(cutOff, BEGIN_MS)
      child.on('message', (said: SuiteMessage) => {
        if (said.kind === 'done')
          return done({ errors: said.errors, unstarted: unstarted(said, order, files), cutOffIn: null })
        if (said.kind === 'file') {
          files.push(said.file)
          if (files.length < order.tests.length) return
          clearTimeout(timer)
          timer = setTimeout(ended, this.#endMs)
          return
        }
        clearTimeout(timer)
        running = said.path
        timer = setTimeout(cutOff, limitMsOf(running))
      })
      child.once('exit', (code) => {
        this.#child = null
        done({ errors: [`the test process ended with ${code}`], unstarted: [], cutOffIn: null })
      })
      child.send(order)
    })
  }

  close(): void {
    const pid = this.#child?.pid
    this.#child?.removeAllListeners()
    // With the servers and runtimes that it started: they are its process group.
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    this.#child = null
  }

  #start(): ChildProcess {
    const log = openSync(join(this.#root, 'mutate.log'), 'a')
    return fork(join(this.#root, 'scripts', 'mutate', 'suite-process.ts'), [], {
      cwd: this.#root,
      detached: true,
      env: { ...process.env, MUTATE_REACH: this.#marksFunctions ? '1' : '0' },
      stdio: ['ignore', log, log, 'ipc'],
    })
  }
}

/** A failure ends a run early when it is asked for, and an error may; anything else that is missing did not start. */
function unstarted(
  said: SuiteMessage & { kind: 'done' },
  { tests, stopsAtFailure }: Order,
  files: readonly FileOutcome[],
): string[] {
  if (stopsAtFailure && files.some(({ state }) => state === 'failed')) return []
  if (said.unstarted.length > 0 || said.errors.length > 0) return said.unstarted
  const ended = new Set(files.map(({ path }) => path))
  return tests.filter((test) => !ended.has(test)).map((test) => `no outcome of ${test}`)
}
