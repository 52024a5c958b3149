// The changed files of the repositories in the workspace, in time proportional to the changes. The workspace reports every
// file that is written, moved or removed; its path is stored in the same transaction, and compared with the base tree when a
// client asks. Times and sizes are not trusted: every written file is read.

import {
  baseOf,
  byteOrder,
  diffTrees,
  explainedFailure,
  type FileState,
  isRepository,
  MissingObjectError,
  ObjectStore,
  Repository,
} from '../../../src/kits/git/index.ts'
import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import { lstatAt } from '../../../src/workspace/stat.ts'
import { GitIndexRows } from './changed-files-rows.ts'
import { type IndexDifference, type RepositoryRow, SCOPE } from './changed-files-tables.ts'
import { type Compared, GitComparison } from './git-comparison.ts'

/** The field names are those of the API. */
export interface GitChange {
  status: 'A' | 'D' | 'M' | 'U'
  /** Relative to the top of the workspace, separated by `/`. */
  path: string
}

export type GitChanges =
  | { ok: true; changes: GitChange[] }
  | { ok: false; reason: 'not-a-repository' | 'unreadable'; message: string }

export interface LocatedFile {
  repo: Repository
  /** Relative to the repository. */
  path: string
  /** The entry of the base tree. */
  base: FileState | null
}

/** The entry alone, or the entry and everything below it. */
export type TreeEvent = 'entry' | 'subtree'

type Refreshed = { ok: true; verdicts: Compared['verdicts'] } | { ok: false; message: string }

/** Cached packs that are kept between two requests. */
const MAX_HELD_BYTES = 8 * 1024 * 1024

const MAX_SHOWN_BYTES = 1024 * 1024

const GIT_PART = /^(.*?)\/\.git(\/.*)?$/

export class ChangedFiles {
  readonly #fs: FileSystem
  readonly #rows: GitIndexRows
  readonly #transaction: (work: () => void) => void
  #known: { id: number; path: string }[] | null = null
  /** Parsed repositories; git objects never change, so a cached one stays right. */
  #objects: { path: string; store: ObjectStore } | null = null
  /** Counts writes in any `.git` folder, except to objects, and moved folders. */
  #gitWrites = 0
  /** The count at which each repository's base was last updated, and its base, index and ignore rules. */
  readonly #based = new Map<number, number>()
  readonly #current = new Map<number, number>()
  /** The base version of the file that was shown last, because clients request it again when the file has changed. */
  #shown: { oid: string; bytes: Uint8Array } | null = null
  /** One comparison at a time. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor({ storage, fs }: { storage: DurableObjectStorage; fs: FileSystem }) {
    this.#fs = fs
    this.#rows = new GitIndexRows(storage.sql)
    this.#transaction = (work) => storage.transactionSync(work)
  }

  /** To be called for every change of the tree, within its transaction, with the path free of links. */
  note(path: string, event: TreeEvent): void {
    if (path !== WORKSPACE_ROOT && !path.startsWith(`${WORKSPACE_ROOT}/`)) return
    const inGit = GIT_PART.exec(path)
    if (event === 'subtree' || (inGit && !inGit[2]?.startsWith('/objects/'))) this.#gitWrites++
    if (inGit) {
      this.#noteInGit(inGit[1] ?? '', inGit[2] ?? '')
      return
    }
    this.#touchAround(path, event === 'subtree' ? SCOPE.everything : SCOPE.path)
    if (event === 'subtree' && depthOf(path) <= 1) this.#rows.touch(0, '', SCOPE.everything)
    if (path.endsWith('/.gitignore')) this.#touchAround(path.slice(0, -'/.gitignore'.length), SCOPE.untracked)
  }

  /** Sorted by path. An unreadable repository fails the whole answer, because its missing files would look unchanged. */
  async changes(): Promise<GitChanges> {
    return this.#alone(async () => {
      await this.#findRepositories()
      const found: GitChange[] = []
      const repositories = this.#rows.repositories()
      for (const row of repositories) {
        const refreshed = await this.#refresh(row)
        if (!refreshed.ok) return { ok: false, reason: 'unreadable', message: `${row.path}: ${refreshed.message}` }
        const prefix = row.path === WORKSPACE_ROOT ? '' : `${row.path.slice(WORKSPACE_ROOT.length + 1)}/`
        const known = this.#rows.changes(row.id).map(({ path, letters }) => [path, letters] as const)
        for (const [path, letters] of new Map([...known, ...refreshed.verdicts])) {
          for (const letter of letters) found.push({ status: letter as GitChange['status'], path: prefix + path })
        }
      }
      if (repositories.length === 0) return { ok: false, reason: 'not-a-repository', message: 'Not a git repository' }
      return { ok: true, changes: found.sort((a, b) => byteOrder(a.path, b.path)) }
    })
  }

  /** The repository in which the path has changed, with its base up to date. Null when there is none. */
  async locate(path: string): Promise<LocatedFile | null> {
    return this.#alone(async () => {
      await this.#findRepositories()
      const [folder = ''] = path.split('/')
      const repositories = this.#rows.repositories()
      const child = repositories.find((row) => row.path === `${WORKSPACE_ROOT}/${folder}`)
      const row = child && path !== folder ? child : repositories.find((other) => other.path === WORKSPACE_ROOT)
      if (!row) return null
      const repo = this.#open(row.path)
      const before = { ...row }
      await this.#refreshBase(row, repo)
      this.#save(row, before)
      const inside = row === child ? path.slice(folder.length + 1) : path
      return { repo, path: inside, base: this.#rows.baseFile(row.id, inside) }
    })
  }

  /** The bytes of an object of the repository. */
  async contents(repo: Repository, oid: string): Promise<Uint8Array> {
    if (this.#shown?.oid === oid) return this.#shown.bytes
    const { bytes } = await repo.objects.read(oid)
    this.#shown = bytes.byteLength > MAX_SHOWN_BYTES ? null : { oid, bytes }
    return bytes
  }

  #open(root: string): Repository {
    const kept = this.#objects
    const store = kept?.path === root ? kept.store : new ObjectStore(this.#fs, `${root}/.git`)
    this.#objects = { path: root, store }
    return new Repository({ fs: this.#fs, root, pace: pacing(), objects: store })
  }

  /** To be called after an answer: drops caches that are too large to keep. */
  release(): void {
    if (this.#objects && this.#objects.store.heldBytes > MAX_HELD_BYTES) this.#objects = null
  }

  #noteInGit(owner: string, inside: string): void {
    if (inside !== '' && inside !== '/HEAD') return
    // A repository was added or removed: its files now belong to another repository.
    this.#touchAround(owner, SCOPE.everything, { above: true })
    if (depthOf(owner) <= 1) this.#rows.touch(0, '', SCOPE.everything)
  }

  /** Records the path for every repository that contains it. */
  #touchAround(path: string, scope: number, { above = false } = {}): void {
    this.#known ??= this.#rows.repositories().map(({ id, path: root }) => ({ id, path: root }))
    for (const { id, path: root } of this.#known) {
      if (path.startsWith(`${root}/`)) this.#rows.touch(id, path.slice(root.length + 1), scope)
      else if (path === root && !above) this.#rows.touch(id, '', scope)
    }
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work).finally(() => this.release())
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  /** The workspace itself and its direct folders. */
  async #findRepositories(): Promise<void> {
    const [wanted] = this.#rows.touched(0)
    if (!wanted) return
    const folders = this.#fs.list(WORKSPACE_ROOT).filter(({ kind }) => kind === 'directory')
    const paths = [WORKSPACE_ROOT, ...folders.map(({ name }) => `${WORKSPACE_ROOT}/${name}`)]
    const there = new Set(paths.filter((path) => isRepository(this.#fs, path)))
    this.#transaction(() => {
      for (const { id, path } of this.#rows.repositories()) {
        if (!there.delete(path)) this.#rows.forgetRepository(id)
      }
      for (const path of there) this.#rows.addRepository(path)
      this.#rows.settle(0, wanted)
    })
    this.#known = null
    this.#based.clear()
    this.#current.clear()
  }

  async #refresh(row: RepositoryRow): Promise<Refreshed> {
    try {
      const { verdicts, settle } = await this.#compare(row)
      // The verdicts are worth storing, but no answer should wait for the disk. If they are lost, the paths are still
      // recorded as touched.
      setTimeout(() => {
        if (this.#rows.holds(row)) settle()
      }, 0)
      return { ok: true, verdicts }
    } catch (error) {
      const failure = explainedFailure(error)
      if (!failure) throw error
      return { ok: false, message: failure.message.replace(/^(fatal|error): /, '') }
    }
  }

  async #compare(row: RepositoryRow): Promise<Compared> {
    const repo = this.#open(row.path)
    await this.#bringUpToDate(row, repo)
    return new GitComparison({ rows: this.#rows, transaction: this.#transaction, repo, id: row.id }).run()
  }

  /** Does nothing if no write could have changed the result of a comparison. */
  async #bringUpToDate(row: RepositoryRow, repo: Repository): Promise<void> {
    const seen = this.#gitWrites
    if (this.#current.get(row.id) === seen) return
    const before = { ...row }
    await this.#refreshBase(row, repo)
    await this.#refreshIndex(row, repo)
    row.exclude_stamp = stampOf(this.#fs, `${repo.gitDir}/info/exclude`)
    if (row.exclude_stamp !== before.exclude_stamp) this.#rows.touch(row.id, '', SCOPE.untracked)
    this.#save(row, before)
    this.#current.set(row.id, seen)
  }

  /** Only if something has changed: every write makes the answer wait for the disk. */
  #save(row: RepositoryRow, before: RepositoryRow): void {
    const keys = ['base_key', 'base_tree', 'index_stamp', 'exclude_stamp'] as const
    if (keys.some((key) => row[key] !== before[key])) this.#rows.saveRepository(row)
  }

  /** Brings the files of the base up to date. */
  async #refreshBase(row: RepositoryRow, repo: Repository): Promise<void> {
    const seen = this.#gitWrites
    if (this.#based.get(row.id) === seen) return
    const choice = await baseOf(repo)
    if (choice.key !== row.base_key || row.base_tree === null) {
      const commit = await choice.commit()
      const tree = commit === null ? '' : (await repo.commit(commit)).tree
      if (tree !== row.base_tree) await this.#replaceBase(row, repo, tree)
      row.base_key = choice.key
    }
    this.#based.set(row.id, seen)
  }

  /** `''` is the tree of a repository without commits. */
  async #replaceBase(row: RepositoryRow, repo: Repository, tree: string): Promise<void> {
    const differences: [string, FileState | null][] = []
    const compare = (before: string | null) =>
      diffTrees(repo, [before, tree || null], (path, _old, now) => {
        differences.push([path, now])
      })
    let isWhole = row.base_tree === null
    try {
      await compare(row.base_tree || null)
    } catch (error) {
      // The old tree belonged to another repository at the same path.
      if (isWhole || !(error instanceof MissingObjectError)) throw error
      isWhole = true
      differences.length = 0
      await compare(null)
    }
    this.#transaction(() => {
      if (isWhole) {
        this.#rows.clearBase(row.id)
        this.#rows.touch(row.id, '', SCOPE.everything)
      }
      for (const [path, state] of differences) {
        this.#rows.setBaseFile(row.id, path, state)
        if (!isWhole) this.#rows.touch(row.id, path, SCOPE.path)
      }
      // The entries that the index adds or removes must be found again.
      Object.assign(row, { base_tree: tree, index_stamp: null })
      this.#rows.saveRepository(row)
    })
  }

  /** Updates the entries that git's index adds to the base or removes from it. */
  async #refreshIndex(row: RepositoryRow, repo: Repository): Promise<void> {
    const stamp = stampOf(this.#fs, `${repo.gitDir}/index`)
    if (stamp === row.index_stamp) return
    const index = await repo.index()
    const now = new Map<string, IndexDifference>()
    for (const { path, stage } of index.entries) now.set(path, stage === 0 ? 'added' : 'unmerged')
    for (const { path } of this.#rows.baseFiles(row.id)) {
      const kind = now.get(path)
      if (kind === 'added') now.delete(path)
      else if (kind === undefined) now.set(path, 'removed')
    }
    const before = this.#rows.indexDifferences(row.id)
    this.#transaction(() => {
      for (const path of new Set([...before.keys(), ...now.keys()])) {
        const kind = now.get(path) ?? null
        if (kind === (before.get(path) ?? null)) continue
        this.#rows.setIndexDifference(row.id, path, kind)
        this.#rows.touch(row.id, path, SCOPE.path)
      }
    })
    row.index_stamp = stamp
  }
}

/** How many folders below the top of the workspace: 0 for the top itself. */
function depthOf(path: string): number {
  return path.slice(WORKSPACE_ROOT.length).split('/').length - 1
}

/** Distinguishes two states of one file; the workspace never sets the same mtime twice. */
function stampOf(fs: FileSystem, path: string): string {
  const stat = lstatAt(fs, path)
  return stat ? `${stat.inode} ${stat.mtimeMs} ${stat.sizeBytes}` : 'none'
}

const PAUSE_EVERY_CALLS = 500

/** Comparisons of many files pause regularly, so that other requests run. */
function pacing(): () => Promise<void> | null {
  let calls = 0
  return () => (++calls % PAUSE_EVERY_CALLS === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : null)
}
