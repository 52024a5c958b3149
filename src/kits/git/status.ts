// The differences between HEAD, the index and the working tree. A file is read only if its metadata is inconclusive.

import { type FileStat, isFileError } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import { byteOrder } from './bytes.ts'
import { type GitIndex, type IndexEntry, isIntended, isSkipped, isTakenAsIs, isUnchanged } from './index-file.ts'
import { type FileState, MODE, NULL_ID, objectId, sameState } from './objects.ts'
import { Repository } from './repository.ts'
import { diffTrees, flatTree } from './tree.ts'
import { isRepository, modeOf, storedAt } from './worktree.ts'

export interface Change {
  path: string
  before: FileState | null
  after: FileState | null
}

export interface Worktree {
  /** Existing tracked paths, whatever their contents. */
  present: Map<string, FileStat>
  /** Sorted; folders end in a slash. */
  untracked: string[]
  ignored: string[]
}

export type Untracked = 'no' | 'normal' | 'all'

/** Paths that do not pass are ignored. */
export type PathFilter = (path: string) => boolean

export function changeKind({ before, after }: Change): 'A' | 'D' | 'M' | 'T' {
  if (!before) return 'A'
  if (!after) return 'D'
  return (before.mode & 0o170000) === (after.mode & 0o170000) ? 'M' : 'T'
}

/** Between a tree and the index. Unmerged paths are left out. */
export async function stagedChanges(repo: Repository, treeId: string | null): Promise<Change[]> {
  const index = await repo.index()
  const unmerged = new Set(index.unmergedPaths())
  const head = await flatTree(repo, treeId)
  const changes: Change[] = []
  for (const entry of index.entries) {
    const { path, mode, oid, stage } = entry
    if (isIntended(entry)) continue
    const before = head.get(path) ?? null
    head.delete(path)
    if (stage === 0 && !sameState(before, { mode, oid })) changes.push({ path, before, after: { mode, oid } })
  }
  for (const [path, before] of head) if (!unmerged.has(path)) changes.push({ path, before, after: null })
  return changes.sort((a, b) => byteOrder(a.path, b.path))
}

export async function treeChanges(
  repo: Repository,
  before: string | null,
  after: string | null,
  enters?: (folder: string) => boolean,
): Promise<Change[]> {
  const changes: Change[] = []
  const keep = (path: string, a: FileState | null, b: FileState | null) => {
    changes.push({ path, before: a, after: b })
  }
  await diffTrees(repo, [before, after], keep, enters)
  return changes.sort((a, b) => byteOrder(a.path, b.path))
}

/** Between the index and the working tree. Unmerged paths are left out. */
export async function unstagedChanges(
  repo: Repository,
  filter: PathFilter = () => true,
  { looksAtAll = false }: { looksAtAll?: boolean } = {},
): Promise<Change[]> {
  const { present } = await walkWorktree(repo, { untracked: 'no' })
  const changes: Change[] = []
  for (const entry of (await repo.index()).entries) {
    // A file that is only assumed to be unchanged is looked at where it is to be overwritten.
    const isLookedAt = looksAtAll ? !isSkipped(entry) : !isTakenAsIs(entry)
    if (entry.stage !== 0 || !isLookedAt || !filter(entry.path)) continue
    const pause = repo.pace()
    if (pause) await pause
    const before = isIntended(entry) ? null : { mode: entry.mode, oid: entry.oid }
    const after = await currentState(repo, entry, present.get(entry.path))
    if (!sameState(before, after)) changes.push({ path: entry.path, before, after })
  }
  return changes
}

/** The current state of a tracked file. It is the entry's own state if the metadata is unchanged. */
export async function currentState(
  repo: Repository,
  entry: IndexEntry,
  stat: FileStat | undefined,
): Promise<FileState | null> {
  if (!stat) return null
  if (entry.mode === MODE.gitlink) return gitlinkState(repo, entry, stat)
  const mode = modeOf(stat)
  if (mode === null) return null
  if (mode === entry.mode && isUnchanged(entry, stat, repo.indexMtimeMs)) return { mode, oid: entry.oid }
  try {
    return { mode, oid: objectId('blob', await storedAt(repo, entry.path, stat)) }
  } catch (error) {
    // An unreadable file counts as changed.
    if (isFileError(error, 'EACCES')) return { mode, oid: NULL_ID }
    throw error
  }
}

/** A submodule counts as unchanged unless it is a repository with another commit checked out. */
async function gitlinkState(
  repo: Repository,
  { path, mode, oid }: IndexEntry,
  stat: FileStat,
): Promise<FileState | null> {
  if (stat.kind !== 'directory') return null
  const inner = `${repo.root}/${path}`
  if (!isRepository(repo.fs, inner)) return { mode, oid }
  const head = await new Repository({ fs: repo.fs, root: inner }).refs.resolve('HEAD')
  return { mode, oid: head ?? oid }
}

export interface WalkOptions {
  untracked: Untracked
  /**
   * Also lists ignored files: a folder with only ignored contents by its own name. `matching` lists a folder only if it
   * is ignored itself, and `each` lists each file.
   */
  ignored?: boolean | 'matching' | 'each'
}

export async function walkWorktree(repo: Repository, options: WalkOptions): Promise<Worktree> {
  const index = await repo.index()
  const walk = new WorktreeWalk(repo, index, options)
  await walk.visit('')
  walk.found.untracked.sort(byteOrder)
  walk.found.ignored.sort(byteOrder)
  return walk.found
}

class WorktreeWalk {
  readonly found: Worktree = { present: new Map(), untracked: [], ignored: [] }
  readonly #repo: Repository
  readonly #index: GitIndex
  readonly #options: WalkOptions
  readonly #tracked = new Set<string>()
  readonly #folders = new Set<string>()

  constructor(repo: Repository, index: GitIndex, options: WalkOptions) {
    this.#repo = repo
    this.#index = index
    this.#options = options
    for (const { path } of index.entries) {
      this.#tracked.add(path)
      for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
        const folder = path.slice(0, slash)
        if (this.#folders.has(folder)) break
        this.#folders.add(folder)
      }
    }
  }

  /** A folder with tracked files, given with its slash; `''` is the root. */
  async visit(folder: string): Promise<void> {
    const pause = this.#repo.pace()
    if (pause) await pause
    for (const { name, kind } of this.#entries(folder)) {
      const path = folder + name
      if (this.#tracked.has(path) && (kind !== 'directory' || this.#index.get(path)?.mode === MODE.gitlink)) {
        const stat = lstatAt(this.#repo.fs, `${this.#repo.root}/${path}`)
        if (stat) this.found.present.set(path, stat)
      } else if (kind === 'directory' && this.#folders.has(path)) {
        await this.visit(`${path}/`)
      } else if (this.#options.untracked !== 'no') {
        await this.#untracked(path, kind === 'directory')
      }
    }
  }

  async #untracked(path: string, isFolder: boolean): Promise<void> {
    const { untracked, ignored } = this.found
    if (await this.#repo.ignored.ignoresEntry(path, isFolder)) {
      if (this.#options.ignored === 'each' && isFolder) ignored.push(...this.#filesBelow(`${path}/`))
      else if (this.#options.ignored && (!isFolder || this.#holdsFiles(`${path}/`)))
        ignored.push(isFolder ? `${path}/` : path)
    } else if (!isFolder) {
      untracked.push(path)
    } else if (isRepository(this.#repo.fs, `${this.#repo.root}/${path}`)) {
      untracked.push(`${path}/`)
    } else if (this.#options.untracked === 'all') {
      for (const { name, kind } of this.#entries(`${path}/`))
        await this.#untracked(`${path}/${name}`, kind === 'directory')
    } else if (!this.#tracked.has(path)) {
      // For a folder in place of a tracked file, git only reports the file as deleted.
      await this.#collapsed(`${path}/`)
    }
  }

  /** One line for the folder if it contains anything that is not ignored; ignored contents have separate lines. */
  async #collapsed(folder: string): Promise<void> {
    const { untracked, ignored } = this.found
    const [untrackedBefore, ignoredBefore] = [untracked.length, ignored.length]
    for (const { name, kind } of this.#entries(folder)) {
      await this.#untracked(folder + name, kind === 'directory')
      if (untracked.length > untrackedBefore && !this.#options.ignored) break
    }
    if (untracked.length > untrackedBefore) untracked.splice(untrackedBefore, Number.POSITIVE_INFINITY, folder)
    else if (ignored.length > ignoredBefore && this.#options.ignored !== 'matching')
      ignored.splice(ignoredBefore, Number.POSITIVE_INFINITY, folder)
  }

  #entries(folder: string) {
    const { fs, root } = this.#repo
    return fs.list(`${root}/${folder}`).filter(({ name }) => name !== '.git')
  }

  #filesBelow(folder: string): string[] {
    return this.#entries(folder).flatMap(({ name, kind }) =>
      kind === 'directory' ? this.#filesBelow(`${folder}${name}/`) : `${folder}${name}`,
    )
  }

  #holdsFiles(folder: string): boolean {
    return this.#entries(folder).some(({ name, kind }) => kind !== 'directory' || this.#holdsFiles(`${folder}${name}/`))
  }
}
