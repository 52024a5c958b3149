// A folder that is built into dist, with the fingerprint of its sources beside it. It is built in another folder and moved into
// place, by one process at a time: other processes wait, then use the result.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { alone } from './alone.ts'
import { fingerprint, isDoneFor, markDoneFor } from './fingerprint.ts'
import { ROOT } from './paths.ts'

const DIST = join(ROOT, 'dist')

type Build = {
  /** The name of the folder in dist. */
  readonly name: string
  /** The line that is printed while it is built. */
  readonly title: string
  readonly sources: readonly string[]
  /** Without this file the folder counts as not built. */
  readonly proof: string
  make(aside: string, signal: AbortSignal | undefined): Promise<void>
}

export class BuiltFolder {
  readonly path: string
  readonly #build: Build
  readonly #dist: string
  readonly #stamp: string

  constructor(build: Build, dist = DIST) {
    this.#build = build
    this.#dist = dist
    this.path = join(dist, build.name)
    this.#stamp = join(dist, `${build.name}.sha256`)
  }

  /** Whether the folder is up to date. */
  get isDone(): boolean {
    return this.#isDoneFor(fingerprint(this.#build.sources))
  }

  /** The identity of the present build; null before the first one, and while one replaces another. */
  get stamp(): string | null {
    return existsSync(this.#stamp) ? readFileSync(this.#stamp, 'utf8') : null
  }

  async bring(signal?: AbortSignal): Promise<void> {
    if (this.isDone) return
    mkdirSync(this.#dist, { recursive: true })
    await alone(join(this.#dist, `${this.#build.name}.lock`), () => this.#makeUnlessDone(signal), {
      signal,
      onWait: () => console.error(`${this.#build.title}: another start is at it, waiting …`),
    })
  }

  #isDoneFor(print: string): boolean {
    return existsSync(join(this.path, this.#build.proof)) && isDoneFor(this.#stamp, print)
  }

  async #makeUnlessDone(signal: AbortSignal | undefined): Promise<void> {
    const print = fingerprint(this.#build.sources)
    if (!this.#isDoneFor(print)) await this.#make(print, signal)
  }

  async #make(print: string, signal: AbortSignal | undefined): Promise<void> {
    const aside = join(this.#dist, `${this.#build.name}-aside`)
    const former = join(this.#dist, `${this.#build.name}-former`)
    // Left by a build that was killed.
    for (const folder of [aside, former]) rmSync(folder, { recursive: true, force: true })
    try {
      await this.#build.make(aside, signal)
      rmSync(this.#stamp, { force: true })
      if (existsSync(this.path)) renameSync(this.path, former)
      renameSync(aside, this.path)
      markDoneFor(this.#stamp, print)
    } finally {
      for (const folder of [aside, former]) rmSync(folder, { recursive: true, force: true })
    }
  }
}
