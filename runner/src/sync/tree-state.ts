// What a runner knows of a copy, on its disk: a runner that starts again need not be sent everything. All of it is written when the
// object has sent something, and what a transfer of the runner's changed is added behind it: so a command that changes ten files of
// two thousand writes ten lines' worth.

import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { logToStderr, messageOf } from '../log.ts'
import { cannotWrite, isCode } from './folder.ts'
import { type Manifest, type ManifestEntry, manifestFrom, storedEntry, storedManifest } from './manifest.ts'

export type TreePosition = { readonly epoch: string; readonly revision: number }

export type TreeStanding = {
  readonly position: TreePosition
  readonly exclude: ReadonlySet<string>
  readonly staying: ReadonlySet<string>
  readonly tracked: ReadonlySet<string>
  readonly manifest: Manifest
}

const StoredEntry = z.tuple([
  z.string(),
  z.enum(['file', 'directory', 'symlink']),
  z.number(),
  z.string(),
  z.string(),
  z.string(),
  z.number(),
  z.string(),
])
const StoredTree = z.object({
  version: z.literal(1),
  boot: z.string(),
  epoch: z.string(),
  revision: z.number(),
  exclude: z.array(z.string()),
  staying: z.array(z.string()).default([]),
  tracked: z.array(z.string()).default([]),
  manifest: z.array(StoredEntry),
})
/** One transfer behind it. */
const Added = z.object({
  epoch: z.string(),
  revision: z.number(),
  gone: z.array(z.string()),
  entries: z.array(StoredEntry),
})

type Changes = ReadonlyMap<string, ManifestEntry | null>

/** Then all of it is written anew. */
const MAX_ADDED_BYTES = 1024 * 1024

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
  #changes = new Map<string, ManifestEntry | null>()
  /** What was last written as a whole; null when there is nothing to add to. */
  #whole: TreeStanding | null = null
  #addedBytes = 0

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
    const known = { position: { epoch, revision }, manifest: manifestFrom(manifest) }
    if (!this.#addTo(known)) return { isCertain: false, staying, tracked }
    return { isCertain: true, ...known, exclude: new Set(exclude), staying, tracked }
  }

  /** False when what was added cannot be read. */
  #addTo(known: { position: TreePosition; manifest: Manifest }): boolean {
    if (!existsSync(this.#log)) return true
    const lines = readFileSync(this.#log, 'utf8').split('\n')
    // The last line is whole only with its end.
    lines.pop()
    for (const line of lines) {
      const added = Added.safeParse(jsonOf(line))
      if (!added.success) return false
      const { epoch, revision, gone, entries } = added.data
      // Of before the whole was written, in the instant of a death.
      if (epoch !== known.position.epoch || revision <= known.position.revision) continue
      known.position = { epoch, revision }
      for (const path of gone) known.manifest.delete(path)
      for (const [path, entry] of manifestFrom(entries)) known.manifest.set(path, entry)
    }
    return true
  }

  get #log(): string {
    return `${this.#file}l`
  }

  save(): void {
    this.#tryTo(() => this.#saveWhole())
  }

  #saveWhole(): void {
    this.#notLater()
    const standing = this.#standing()
    this.#whole = standing
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
    rmSync(this.#log, { force: true })
    this.#addedBytes = 0
  }

  /**
   * After what waits for the answer now. A runner that dies before has the state of one transfer ago, as if the answer had been lost
   * on its way.
   */
  saveSoon(changes: Changes): void {
    for (const [path, entry] of changes) this.#changes.set(path, entry)
    this.#unsaved ??= setImmediate(() => this.#tryTo(() => this.#add()))
  }

  /** A disk that is full costs what is known of the copy, and neither the command nor the runner. */
  #tryTo(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!cannotWrite(error) && !isCode(error, 'EISDIR')) throw error
      logToStderr('tree.not_saved', { message: messageOf(error) })
      this.remove()
    }
  }

  #add(): void {
    const standing = this.#standing()
    const whole = this.#whole
    if (standing === null || whole === null || this.#addedBytes > MAX_ADDED_BYTES || !isAsBefore(standing, whole)) {
      this.#saveWhole()
      return
    }
    const entries = [...this.#changes]
    this.#notLater()
    const line = JSON.stringify({
      ...standing.position,
      gone: entries.filter(([, entry]) => entry === null).map(([path]) => path),
      entries: entries.flatMap(([path, entry]) => (entry === null ? [] : [storedEntry(path, entry)])),
    } satisfies z.input<typeof Added>)
    appendFileSync(this.#log, `${line}\n`, { mode: 0o600 })
    this.#addedBytes += line.length
  }

  remove(): void {
    this.#notLater()
    this.#whole = null
    for (const file of [this.#file, `${this.#file}.new`, this.#log]) rmSync(file, { recursive: true, force: true })
  }

  /** What is not on the disk yet goes there. */
  close(): void {
    if (this.#unsaved !== null) this.#tryTo(() => this.#add())
  }

  #notLater(): void {
    if (this.#unsaved !== null) clearImmediate(this.#unsaved)
    this.#unsaved = null
    this.#changes = new Map()
  }
}

/** Nothing but files changed since. */
function isAsBefore(now: TreeStanding, before: TreeStanding): boolean {
  const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
    a === b || (a.size === b.size && [...a].every((one) => b.has(one)))
  return (
    now.position.epoch === before.position.epoch &&
    isSame(now.exclude, before.exclude) &&
    isSame(now.staying, before.staying) &&
    isSame(now.tracked, before.tracked)
  )
}

const jsonIn = (file: string): unknown => jsonOf(readFileSync(file, 'utf8'))

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function bootId(): string {
  const file = '/proc/sys/kernel/random/boot_id'
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'unknown'
}
