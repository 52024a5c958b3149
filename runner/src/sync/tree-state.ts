// The state of a copy, on the runner's disk: a restarted runner need not receive everything again. The whole state is
// written after a transfer from the object; the changes of the runner's own transfers are appended: a command that
// changes ten files of two thousand writes only ten entries.

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
/** One appended transfer. */
const Added = z.object({
  epoch: z.string(),
  revision: z.number(),
  gone: z.array(z.string()),
  entries: z.array(StoredEntry),
})

type Changes = ReadonlyMap<string, ManifestEntry | null>

/** Beyond this size the whole state is written again. */
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
  /** Null: nothing is certain. */
  readonly #standing: () => TreeStanding | null
  #unsaved: NodeJS.Immediate | null = null
  #changes = new Map<string, ManifestEntry | null>()
  /** The last whole state that was written; null if nothing can be appended. */
  #whole: TreeStanding | null = null
  #addedBytes = 0

  constructor(file: string, standing: () => TreeStanding | null) {
    this.#file = file
    this.#standing = standing
  }

  /**
   * Null if there is no state. After a crash of the whole machine the files may be older than the state: then it is
   * uncertain.
   */
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

  /** False if the appended lines cannot be read. */
  #addTo(known: { position: TreePosition; manifest: Manifest }): boolean {
    if (!existsSync(this.#log)) return true
    const lines = readFileSync(this.#log, 'utf8').split('\n')
    // A line without its end is incomplete.
    lines.pop()
    for (const line of lines) {
      const added = Added.safeParse(jsonOf(line))
      if (!added.success) return false
      const { epoch, revision, gone, entries } = added.data
      // From before the whole state was written, if the runner died in between.
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
   * Runs after the pending answer. If the runner dies before, the state is one transfer old, as if the answer had been
   * lost.
   */
  saveSoon(changes: Changes): void {
    for (const [path, entry] of changes) this.#changes.set(path, entry)
    this.#unsaved ??= setImmediate(() => this.#tryTo(() => this.#add()))
  }

  /** If the disk is full, the known state of the copy is lost, but the command and the runner continue. */
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

  /** Writes the pending changes to the disk. */
  close(): void {
    if (this.#unsaved !== null) this.#tryTo(() => this.#add())
  }

  #notLater(): void {
    if (this.#unsaved !== null) clearImmediate(this.#unsaved)
    this.#unsaved = null
    this.#changes = new Map()
  }
}

/** Only files have changed since. */
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
