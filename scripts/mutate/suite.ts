// The test process of the scratch copy as the rest sees it: it is asked to run files, and it is ended when they take too long,
// as code in an endless loop can only be ended with its process.

import { type ChildProcess, fork } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import type { FileOutcome, Order, Outcome, Said } from './suite-process.ts'

/** What vitest, its servers and the runtime take on a machine that is busy otherwise. */
const BEGIN_MS = 600_000

export class Suite {
  readonly #root: string
  readonly #marksFunctions: boolean
  #child: ChildProcess | null = null
  #changed: readonly string[] = []

  constructor(root: string, { marksFunctions }: { marksFunctions: boolean }) {
    this.#root = root
    this.#marksFunctions = marksFunctions
  }

  /** What was changed after the last run, for the next one to read anew. */
  changedSince(paths: readonly string[]): void {
    this.#changed = paths
  }

  /** It is cut off when a test file takes longer than its limit. */
  async run(asked: Order, limitMsOf: (test: string) => number): Promise<Outcome> {
    const child = this.#child ?? this.#start()
    this.#child = child
    const order = { ...asked, changed: [...this.#changed, ...asked.changed] }
    const files: FileOutcome[] = []
    let running = 'no test file'
    return new Promise((resolve) => {
      const done = (rest: Omit<Outcome, 'files'>) => {
        clearTimeout(timer)
        child.removeAllListeners('message').removeAllListeners('exit')
        if (rest.cutOffIn !== null) this.close()
        resolve({ files, ...rest })
      }
      const cutOff = () => done({ errors: [], cutOffIn: running })
      let timer = setTimeout(cutOff, BEGIN_MS)
      child.on('message', (said: Said) => {
        if (said.kind === 'done') return done({ errors: said.errors, cutOffIn: null })
        if (said.kind === 'file') return files.push(said.file)
        clearTimeout(timer)
        running = said.path
        timer = setTimeout(cutOff, limitMsOf(running))
      })
      child.once('exit', (code) => {
        this.#child = null
        done({ errors: [`the test process ended with ${code}`], cutOffIn: null })
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
