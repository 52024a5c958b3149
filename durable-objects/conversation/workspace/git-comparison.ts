// Compares touched paths of one repository with its base, and stores the differences.

import {
  contentsAt,
  type FileState,
  isRepository,
  MODE,
  modeOf,
  objectId,
  Repository,
  sameState,
} from '../../../src/kits/git/index.ts'
import { lstatAt } from '../../../src/workspace/stat.ts'
import type { GitIndexRows } from './changed-files-rows.ts'
import { SCOPE, type TouchedRow } from './changed-files-tables.ts'

export interface ComparisonDeps {
  rows: GitIndexRows
  transaction: (work: () => void) => void
  repo: Repository
  id: number
}

export interface Compared {
  /** The verdicts about touched paths, not stored yet. */
  verdicts: ReadonlyMap<string, string>
  /** Stores the verdicts. */
  settle: () => void
}

/** Verdicts are stored together: a transaction for each would cost more than the comparison. */
const BATCH = 500

export class GitComparison {
  readonly #deps: ComparisonDeps
  /** A cache of the properties of folders, valid during one comparison. */
  readonly #isFolder = new Map<string, boolean>()
  readonly #isEmbedded = new Map<string, boolean>()
  #minds: boolean | null = null
  #verdicts = new Map<string, string>()

  constructor(deps: ComparisonDeps) {
    this.#deps = deps
  }

  async run(): Promise<Compared> {
    const { rows, id } = this.#deps
    const touched = rows.touched(id)
    const compared = new Set<string>()
    const compare = async (path: string, scope: number) => {
      if (path === '' || (scope !== SCOPE.untracked && compared.has(path))) return
      if (scope !== SCOPE.untracked) compared.add(path)
      else if (compared.has(path) || this.#isTracked(path)) return
      await this.#compare(path)
    }
    for (const { path, scope } of touched.sort((a, b) => b.scope - a.scope)) {
      for (const below of scope === SCOPE.path ? [] : await this.#pathsBelow(path, scope)) await compare(below, scope)
      if (scope !== SCOPE.untracked) await compare(path, SCOPE.path)
    }
    const verdicts = this.#verdicts
    return { verdicts, settle: () => this.#write(verdicts, touched) }
  }

  #write(verdicts: ReadonlyMap<string, string>, settled: readonly TouchedRow[]): void {
    const { rows, id, transaction } = this.#deps
    if (verdicts.size === 0 && settled.length === 0) return
    transaction(() => {
      for (const [path, letters] of verdicts) rows.setChange(id, path, letters)
      for (const row of settled) rows.settle(id, row)
    })
  }

  async #compare(path: string): Promise<void> {
    const pause = this.#deps.repo.pace()
    if (pause) await pause
    this.#verdicts.set(path, await this.#letters(path))
    if (this.#verdicts.size < BATCH) return
    this.#write(this.#verdicts, [])
    this.#verdicts = new Map()
  }

  #isTracked(path: string): boolean {
    const { rows, id } = this.#deps
    const difference = rows.indexDifference(id, path)
    return difference === null ? rows.baseFile(id, path) !== null : difference !== 'removed'
  }

  async #letters(path: string): Promise<string> {
    const { rows, id } = this.#deps
    if (rows.indexDifference(id, path) === 'unmerged') return 'U'
    const base = rows.baseFile(id, path)
    if (!this.#isTracked(path)) {
      const isShown =
        this.#isFileThere(path) && !this.#isInEmbedded(path) && !(await this.#deps.repo.ignored.ignores(path, false))
      return (base ? 'D' : '') + (isShown ? 'A' : '')
    }
    if (!base) return this.#isFileThere(path) || this.#isSubmodule(path) ? 'A' : ''
    const state = await this.#stateLike(path, base)
    return state === null ? 'D' : sameState(state, base) ? '' : 'M'
  }

  /** The state of the entry. Its contents are not read when its kind alone makes the difference. */
  async #stateLike(path: string, base: FileState): Promise<FileState | null> {
    const { repo } = this.#deps
    const stat = this.#isBehindLink(path) ? null : lstatAt(repo.fs, `${repo.root}/${path}`)
    if (!stat) return null
    if (stat.kind === 'directory') return base.mode === MODE.gitlink ? this.#submodule(path, base) : null
    const mode = modeOf(stat) ?? MODE.file
    const isSameMode = mode === base.mode || (isPlain(mode) && isPlain(base.mode) && !(await this.#mindsModes()))
    if (!isSameMode) return { mode, oid: '' }
    return { mode: base.mode, oid: objectId('blob', await contentsAt(repo.fs, `${repo.root}/${path}`, stat)) }
  }

  /** A submodule counts as unchanged unless it is a repository with another `HEAD`. */
  async #submodule(path: string, base: FileState): Promise<FileState> {
    const { repo } = this.#deps
    const root = `${repo.root}/${path}`
    if (!isRepository(repo.fs, root)) return base
    return { mode: base.mode, oid: (await new Repository({ fs: repo.fs, root }).refs.resolve('HEAD')) ?? base.oid }
  }

  /** Whether the repository tracks the executable permission. */
  async #mindsModes(): Promise<boolean> {
    this.#minds ??= (await this.#deps.repo.config()).get('core.filemode') !== 'false'
    return this.#minds
  }

  #isFileThere(path: string): boolean {
    const { repo } = this.#deps
    const stat = this.#isBehindLink(path) ? null : lstatAt(repo.fs, `${repo.root}/${path}`)
    return stat !== null && stat.kind !== 'directory'
  }

  #isSubmodule(path: string): boolean {
    return !this.#isBehindLink(path) && isRepository(this.#deps.repo.fs, `${this.#deps.repo.root}/${path}`)
  }

  /** A path behind a link is not in this tree. */
  #isBehindLink(path: string): boolean {
    return this.#folders(path).some(
      (folder) =>
        !this.#known(this.#isFolder, folder, (full) => lstatAt(this.#deps.repo.fs, full)?.kind === 'directory'),
    )
  }

  #isInEmbedded(path: string): boolean {
    return this.#folders(path).some((folder) =>
      this.#known(this.#isEmbedded, folder, (full) => isRepository(this.#deps.repo.fs, full)),
    )
  }

  #known(known: Map<string, boolean>, folder: string, find: (full: string) => boolean): boolean {
    const answer = known.get(folder) ?? find(`${this.#deps.repo.root}/${folder}`)
    known.set(folder, answer)
    return answer
  }

  #folders(path: string): string[] {
    const folders: string[] = []
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1))
      folders.push(path.slice(0, slash))
    return folders
  }

  /** The stored paths below the folder and its current entries. */
  async #pathsBelow(folder: string, scope: number): Promise<Set<string>> {
    const { rows, id } = this.#deps
    const found = new Set(rows.pathsBelow(id, folder, scope))
    await this.#walk(folder, found)
    return found
  }

  /** Skips ignored folders without tracked files, and other repositories. */
  async #walk(folder: string, found: Set<string>): Promise<void> {
    const { repo, rows, id } = this.#deps
    const full = folder === '' ? repo.root : `${repo.root}/${folder}`
    if (lstatAt(repo.fs, full)?.kind !== 'directory' || this.#isBehindLink(folder)) return
    const pause = repo.pace()
    if (pause) await pause
    const isOutside = folder !== '' && (isRepository(repo.fs, full) || (await repo.ignored.ignores(folder, true)))
    if (isOutside && !rows.hasTrackedBelow(id, folder)) return
    for (const { name, kind } of repo.fs.list(full)) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (name === '.git') continue
      if (kind === 'directory') await this.#walk(path, found)
      else found.add(path)
    }
  }
}

function isPlain(mode: number): boolean {
  return mode === MODE.file || mode === MODE.executable
}
