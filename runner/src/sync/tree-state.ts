// What a runner knows of a copy, on its disk: a runner that starts again need not be sent everything.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { type Manifest, manifestFrom, storedManifest } from './manifest.ts'

export type TreePosition = { readonly epoch: string; readonly revision: number }

export type TreeStanding = {
  readonly position: TreePosition
  readonly exclude: ReadonlySet<string>
  readonly staying: ReadonlySet<string>
  readonly tracked: ReadonlySet<string>
  readonly manifest: Manifest
}

const StoredTree = z.object({
  version: z.literal(1),
  boot: z.string(),
  epoch: z.string(),
  revision: z.number(),
  exclude: z.array(z.string()),
  staying: z.array(z.string()).default([]),
  tracked: z.array(z.string()).default([]),
  manifest: z.array(
    z.tuple([
      z.string(),
      z.enum(['file', 'directory', 'symlink']),
      z.number(),
      z.string(),
      z.string(),
      z.string(),
      z.number(),
      z.string(),
    ]),
  ),
})

export type LoadedTree =
  | { readonly isCertain: false; readonly staying: string[]; readonly tracked: string[] }
  | {
      readonly isCertain: true
      readonly position: TreePosition
      readonly exclude: ReadonlySet<string>
      readonly staying: string[]
      readonly tracked: string[]
      readonly manifest: Manifest
    }

export class TreeState {
  readonly #file: string
  /** Null: there is nothing that is certain. */
  readonly #standing: () => TreeStanding | null
  #unsaved: NodeJS.Immediate | null = null

  constructor(file: string, standing: () => TreeStanding | null) {
    this.#file = file
    this.#standing = standing
  }

  /** Null where there is no state. After a crash of the whole machine the disk may have less than the state says: it is not certain then. */
  load(): LoadedTree | null {
    if (!existsSync(this.#file)) return null
    const stored = StoredTree.safeParse(jsonIn(this.#file))
    if (!stored.success) return { isCertain: false, staying: [], tracked: [] }
    const { boot, epoch, revision, exclude, staying, tracked, manifest } = stored.data
    if (boot !== bootId()) return { isCertain: false, staying, tracked }
    const position = { epoch, revision }
    return { isCertain: true, position, exclude: new Set(exclude), staying, tracked, manifest: manifestFrom(manifest) }
  }

  save(): void {
    this.#notLater()
    const standing = this.#standing()
    if (standing === null) return
    const { position, exclude, staying, tracked, manifest } = standing
    const text = JSON.stringify({
      version: 1,
      boot: bootId(),
      ...position,
      exclude: [...exclude],
      staying: [...staying],
      tracked: [...tracked],
      manifest: storedManifest(manifest),
    })
    writeFileSync(`${this.#file}.new`, text, { mode: 0o600 })
    renameSync(`${this.#file}.new`, this.#file)
  }

  /**
   * After what waits for the answer now. A runner that dies before has the state of one transfer ago, as if the answer had been lost
   * on its way.
   */
  saveSoon(): void {
    this.#unsaved ??= setImmediate(() => this.save())
  }

  remove(): void {
    this.#notLater()
    rmSync(this.#file, { force: true })
  }

  /** What is not on the disk yet goes there. */
  close(): void {
    if (this.#unsaved !== null) this.save()
  }

  #notLater(): void {
    if (this.#unsaved !== null) clearImmediate(this.#unsaved)
    this.#unsaved = null
  }
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function bootId(): string {
  const file = '/proc/sys/kernel/random/boot_id'
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'unknown'
}
