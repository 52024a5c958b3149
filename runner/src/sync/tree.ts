// The runner's copy of one workspace: the state of the last sync, and its revision in the object. The state is also on
// the disk, so that a restarted runner need not receive everything again.

import { closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { BadFrame, type Frame } from '../../../src/runners/frames.ts'
import { RPC_ERRORS, type TransferBegin, type TransferCommit } from '../../../src/runners/wire.ts'
import { RpcError } from '../connect/peer.ts'
import { type Change, type ChangeJob, changesOf, type Limits, shortPath } from './changes.ts'
import { erase } from './erase.ts'
import type { Manifest, ManifestEntry } from './manifest.ts'
import { type AskGit, Staying } from './staying.ts'
import { type TreePosition, type TreeStanding, TreeState } from './tree-state.ts'
import { TooManyEntries, type Walk, Walker } from './walk.ts'
import { TreeWriter } from './writer.ts'

export type SyncRules = { readonly exclude: ReadonlySet<string>; readonly limits: Limits }

type Incoming = {
  readonly begin: TransferBegin
  readonly writer: TreeWriter
  readonly manifest: Manifest
  frames: number
}

export class Tree {
  readonly root: string
  readonly #staging: string
  readonly #walker: Walker
  readonly #state: TreeState
  #manifest: Manifest = new Map()
  #position: TreePosition | null = null
  #rules: SyncRules = { exclude: new Set(), limits: { fileBytes: 0, treeBytes: 0 } }
  #incoming: Incoming | null = null
  readonly #remarked = new Set<string>()
  readonly #askGit: AskGit
  #staying = new Staying()
  /** Paths that are not sent, as of the last walk. */
  left: readonly string[] = []

  constructor(folder: string, askGit: AskGit) {
    this.#askGit = askGit
    this.root = join(folder, 'workspace')
    this.#staging = join(folder, 'staging')
    this.#state = new TreeState(join(folder, 'tree.json'), () => this.#stored())
    erase(folder, 'staging')
    mkdirSync(this.root, { recursive: true, mode: 0o700 })
    mkdirSync(this.#staging, { mode: 0o700 })
    this.#walker = new Walker(this.root)
    this.#load()
  }

  /** Null if the copy is uncertain. */
  get position(): TreePosition | null {
    return this.#position
  }

  /** Writes the pending changes to the disk. */
  close(): void {
    this.#state.close()
  }

  /** The state is discarded: the next transfer must be of the whole tree. */
  forget(): void {
    this.#state.remove()
    this.#position = null
    this.#manifest = new Map()
  }

  /** Whether the disk differs from the last sync, with the rules of that sync. */
  isChanged(): boolean {
    const found = this.look()
    if (found === null || this.#position === null) return true
    // Without limits, because a file beyond them is a change too.
    this.#rules = { ...this.#rules, limits: { fileBytes: Number.MAX_SAFE_INTEGER, treeBytes: Number.MAX_SAFE_INTEGER } }
    const first = this.#changesOf(found, () => {}).next()
    if (first.done === true) return false
    if (first.value.copyFd !== null) closeSync(first.value.copyFd)
    return true
  }

  follow(rules: SyncRules): void {
    this.#rules = rules
  }

  // ---- Down ----

  begin(begin: TransferBegin): void {
    this.abandon()
    const isWhole = begin.base === null
    const { epoch, revision } = this.#position ?? { epoch: '', revision: -1 }
    if (!isWhole && (begin.base !== revision || begin.epoch !== epoch)) {
      throw new RpcError(RPC_ERRORS.wrongRevision, `the copy is at revision ${revision} of "${epoch}"`)
    }
    // After the first file, the copy is neither the old tree nor the new one.
    this.#state.remove()
    if (isWhole) this.#position = null
    const manifest: Manifest = isWhole ? new Map() : this.#manifest
    const { exclude, limits } = this.#rules
    const maxBytes = limits.treeBytes
    const staying = this.#staying.paths
    const job = { root: this.root, staging: this.#staging, manifest, exclude, staying, isWhole, maxBytes }
    this.#incoming = { begin, writer: new TreeWriter(job), manifest, frames: 0 }
  }

  /** Throws a `BadFrame` for a frame without a started transfer. */
  receive({ head, bytes }: Frame): void {
    const incoming = this.#incoming
    if (
      head.t !== 'files' ||
      incoming === null ||
      head.transfer !== incoming.begin.transfer ||
      head.seq !== incoming.frames
    ) {
      throw new BadFrame('a frame that no transfer announced')
    }
    incoming.frames += 1
    incoming.writer.write(head.entries, bytes)
  }

  commit({ transfer, frames, entries }: TransferCommit): void {
    const incoming = this.#incoming
    if (incoming === null || incoming.begin.transfer !== transfer) {
      throw new RpcError(RPC_ERRORS.invalidParams, `no transfer ${transfer} is under way`)
    }
    if (incoming.frames !== frames || incoming.writer.entries !== entries) {
      throw new RpcError(
        RPC_ERRORS.invalidParams,
        `${incoming.frames} frames with ${incoming.writer.entries} entries came`,
      )
    }
    incoming.writer.finish()
    this.#incoming = null
    this.#manifest = incoming.manifest
    this.#position = { epoch: incoming.begin.epoch, revision: incoming.begin.revision }
    this.#state.save()
  }

  /** An incomplete transfer: a part of it is on the disk, so the copy is uncertain. */
  abandon(): void {
    if (this.#incoming === null) return
    this.#incoming.writer.end()
    this.#incoming = null
    this.forget()
  }

  get isReceiving(): boolean {
    return this.#incoming !== null
  }

  // ---- Up ----

  /** Null if the tree has more files than can be synced. */
  look(): Walk | null {
    try {
      const { paths, tracked } = this.#staying
      const isKept = (path: string) => this.#manifest.has(path) || tracked.has(path)
      return this.#walker.walk({ names: this.#rules.exclude, paths, isKept })
    } catch (error) {
      if (error instanceof TooManyEntries) return null
      throw error
    }
  }

  /** The same without the excluded paths; git may be run to find them. */
  async survey(remark: (text: string) => void): Promise<Walk | null> {
    let found = this.look()
    if (found !== null && (await this.#staying.followRules(found, this.#askGit))) found = this.look()
    if (found === null) return null
    for (const path of await this.#staying.leaveOut(found, this.#manifest, this.#askGit)) {
      this.#once(`${shortPath(path)} is ignored by git and larger than 1 MiB: it stays on the runner.`, remark)
    }
    this.left = found.left
    return found
  }

  *changes(found: Walk, remark: (text: string) => void): Generator<Change> {
    yield* this.#changesOf(found, (text) => this.#once(text, remark))
  }

  /** Each remark is made once per runner process. */
  #once(text: string, remark: (text: string) => void): void {
    if (this.#remarked.has(text) || this.#remarked.size > 10_000) return
    this.#remarked.add(text)
    remark(text)
  }

  *#changesOf(found: Walk, remark: (text: string) => void): Generator<Change> {
    const job: ChangeJob = {
      root: this.root,
      manifest: this.#manifest,
      walk: found,
      limits: this.#rules.limits,
      copyPath: join(this.#staging, 'outgoing'),
      remark,
    }
    yield* changesOf(job)
  }

  /** The other side has stored them: they are now the common state. */
  agree(changes: ReadonlyMap<string, ManifestEntry | null>, revision: number): void {
    for (const [path, known] of changes) {
      if (known === null) this.#manifest.delete(path)
      else this.#manifest.set(path, known)
    }
    if (this.#position === null || (changes.size === 0 && this.#position.revision === revision)) return
    this.#position = { ...this.#position, revision }
    this.#state.saveSoon(changes)
  }

  // ---- State ----

  #load(): void {
    const stored = this.#state.load()
    if (stored === null) return
    this.#staying = new Staying(stored.staying, stored.tracked)
    if (!stored.isCertain) {
      this.forget()
      return
    }
    this.#manifest = stored.manifest
    this.#position = stored.position
    this.#rules = { ...this.#rules, exclude: stored.exclude }
  }

  #stored(): TreeStanding | null {
    if (this.#position === null) return null
    const { paths, tracked } = this.#staying
    const { exclude } = this.#rules
    return { position: this.#position, exclude, staying: paths, tracked, manifest: this.#manifest }
  }
}
