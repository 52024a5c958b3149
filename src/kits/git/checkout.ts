// Changes the working tree and the index from one tree to another, without losing unsaved changes.

import type { FileStat } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import { failed, GitFailure } from './failure.ts'
import { NO_STAT, statFields } from './index-file.ts'
import { type FileState, MODE, sameState } from './objects.ts'
import type { Repository } from './repository.ts'
import { currentState } from './status.ts'
import { flatTree, isSafePath, stateInTree } from './tree.ts'
import { isBehindLink, takeAway, writeOut } from './worktree.ts'

/** The new state by path; null removes the file. */
export type TreeDelta = ReadonlyMap<string, FileState | null>

/** Files that would be lost; both lists have the order of the changes. */
export interface Obstacles {
  /** Tracked files with local changes. */
  modified: string[]
  /** Untracked files. */
  untracked: string[]
}

/** Up to this number, paths are looked up one by one. */
const FEW = 200

/** The differences between two trees, by path. */
export async function changesBetween(
  repo: Repository,
  before: string | null,
  after: string | null,
): Promise<Map<string, FileState | null>> {
  const [from, to] = [await flatTree(repo, before), await flatTree(repo, after)]
  const changes = new Map<string, FileState | null>()
  for (const [path, state] of to) if (!sameState(from.get(path), state)) changes.set(path, state)
  for (const path of from.keys()) if (!to.has(path)) changes.set(path, null)
  return changes
}

/**
 * The obstacles to the changes: a tracked file that is neither in the old state nor staged in the new one, or an
 * untracked one, unless it is ignored, at the path of a file to be written.
 */
export async function obstaclesTo(repo: Repository, from: string | null, changes: TreeDelta): Promise<Obstacles> {
  assertSafe(changes)
  const index = await repo.index()
  const isMany = changes.size > FEW
  const old = isMany ? await flatTree(repo, from) : null
  const found: Obstacles = { modified: [], untracked: [] }
  for (const [path, after] of changes) {
    const entry = index.get(path)
    const staged = entry && { mode: entry.mode, oid: entry.oid }
    const before = old ? (old.get(path) ?? null) : from === null ? null : await stateInTree(repo, from, path)
    if (!entry) {
      if (after && (await hidesUntracked(repo, path, after))) found.untracked.push(path)
      continue
    }
    if (sameState(staged, after)) continue
    const work = await currentState(repo, entry, presentAt(repo, path))
    const isClean = sameState(staged, before) && (work === null || sameState(work, staged))
    if (!isClean) found.modified.push(path)
  }
  return found
}

/** A file behind a link is not the tracked one. */
function presentAt(repo: Repository, path: string): FileStat | undefined {
  return isBehindLink(repo.fs, repo.root, path) ? undefined : (lstatAt(repo.fs, `${repo.root}/${path}`) ?? undefined)
}

async function hidesUntracked(repo: Repository, path: string, after: FileState): Promise<boolean> {
  const index = await repo.index()
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const above = path.slice(0, slash)
    const stat = lstatAt(repo.fs, `${repo.root}/${above}`)
    if (stat === null) return false
    if (stat.kind !== 'directory') return index.get(above) === null
  }
  const stat = lstatAt(repo.fs, `${repo.root}/${path}`)
  if (!stat) return false
  if (stat.kind === 'directory') return after.mode !== MODE.gitlink && holdsUntracked(repo, `${path}/`)
  return !(await repo.ignored.ignores(path, false))
}

async function holdsUntracked(repo: Repository, folder: string): Promise<boolean> {
  const index = await repo.index()
  for (const { name, kind } of repo.fs.list(`${repo.root}/${folder}`)) {
    const path = folder + name
    if (kind === 'directory' ? await holdsUntracked(repo, `${path}/`) : index.get(path) === null) return true
  }
  return false
}

export function refuseObstacles(obstacles: Obstacles, action: 'checkout' | 'merge'): void {
  if (obstacles.modified.length + obstacles.untracked.length > 0)
    throw new GitFailure(obstacleText(obstacles, action), action === 'merge' ? 2 : 1)
}

export function obstacleText({ modified, untracked }: Obstacles, action: 'checkout' | 'merge'): string {
  const parts: string[] = []
  const before = action === 'checkout' ? 'switch branches' : 'merge'
  const list = (paths: string[]) => paths.map((path) => `\t${path}\n`).join('')
  if (modified.length > 0) {
    parts.push(
      `error: Your local changes to the following files would be overwritten by ${action}:\n${list(modified)}` +
        `Please commit your changes or stash them before you ${before}.`,
    )
  }
  if (untracked.length > 0) {
    parts.push(
      `error: The following untracked working tree files would be overwritten by ${action}:\n${list(untracked)}` +
        `Please move or remove them before you ${before}.`,
    )
  }
  return [...parts, 'Aborting'].join('\n')
}

/** Checked before the first file is written: one unsafe path fails the whole operation. */
function assertSafe(changes: TreeDelta): void {
  for (const path of changes.keys()) if (!isSafePath(path)) throw failed(`invalid path '${path}'`, 128)
}

/** Writes the changes to the working tree and the index. The caller saves the index. */
export async function applyChanges(repo: Repository, changes: TreeDelta): Promise<void> {
  assertSafe(changes)
  const index = await repo.index()
  for (const [path, state] of changes) {
    if (state) continue
    takeAway(repo.fs, repo.root, path)
    index.remove(path)
  }
  for (const [path, state] of changes) {
    if (!state) continue
    const pause = repo.pace()
    if (pause) await pause
    await writeFile(repo, path, state)
    const stat = lstatAt(repo.fs, `${repo.root}/${path}`)
    index.put({ path, ...state, ...(stat ? statFields(stat) : NO_STAT) })
  }
}

export async function writeFile(repo: Repository, path: string, { mode, oid }: FileState): Promise<void> {
  const bytes = mode === MODE.gitlink ? new Uint8Array() : (await repo.objects.read(oid)).bytes
  const isFile = mode === MODE.file || mode === MODE.executable
  await writeOut(repo, path, { mode, bytes: isFile ? await repo.unstored(path, bytes) : bytes })
  if (path.endsWith('.gitattributes')) repo.attributes.forget()
}
