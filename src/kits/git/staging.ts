// Updates the index from the working tree.

import type { FileStat } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import { fatal } from './failure.ts'
import { INTENT_TO_ADD, type IndexEntry, isIntended, isTakenAsIs, NO_STAT, statFields } from './index-file.ts'
import { lineStatistics } from './line-endings.ts'
import { MODE, sameState } from './objects.ts'
import { Repository } from './repository.ts'
import { currentState, type PathFilter, walkWorktree } from './status.ts'
import { contentsAt, modeOf } from './worktree.ts'

export interface StageOptions {
  filter: PathFilter
  /** Includes untracked files. */
  untracked: boolean
  /** Includes ignored files. */
  force?: boolean
  dryRun?: boolean
  /** New files get an entry in the index, but their contents are not stored. */
  intends?: boolean
}

export interface Staged {
  changes: { path: string; isRemoval: boolean }[]
  /** Nested repositories, which were added as such. */
  embedded: string[]
}

export async function stage(repo: Repository, options: StageOptions): Promise<Staged> {
  const index = await repo.index()
  const { force = false, filter, dryRun = false } = options
  const walked = await walkWorktree(repo, { untracked: options.untracked ? 'all' : 'no', ignored: force })
  const staged: Staged = { changes: [], embedded: [] }
  const touched = new Set<string>()
  for (const entry of [...index.entries]) {
    if (touched.has(entry.path) || !filter(entry.path)) continue
    // Changed files are not staged; deleted ones are.
    if (options.intends && walked.present.has(entry.path)) continue
    touched.add(entry.path)
    const change = await stagedEntry(repo, entry, { stat: walked.present.get(entry.path), dryRun })
    if (change) staged.changes.push(change)
  }
  const added = force ? [...walked.untracked, ...filesBelow(repo, walked.ignored)] : walked.untracked
  for (const path of added) {
    const pause = repo.pace()
    if (pause) await pause
    if (!filter(path)) continue
    if (path.endsWith('/')) await addEmbedded(repo, path.slice(0, -1), { staged, dryRun })
    else if (options.intends && !dryRun) staged.changes.push(await intend(repo, path))
    else if (dryRun || (await addFile(repo, path))) staged.changes.push({ path, isRemoval: false })
  }
  if (!dryRun && staged.changes.length > 0) await repo.saveIndex(index)
  return staged
}

async function intend(repo: Repository, path: string): Promise<Staged['changes'][number]> {
  const stat = lstatAt(repo.fs, `${repo.root}/${path}`)
  const mode = (stat && modeOf(stat)) ?? MODE.file
  const oid = await repo.objects.write('blob', new Uint8Array())
  const index = await repo.index()
  index.put({ path, mode, oid, ...NO_STAT })
  const entry = index.get(path)
  if (entry) index.set({ ...entry, extendedFlags: INTENT_TO_ADD })
  return { path, isRemoval: false }
}

/** Null if the entry matches the file. */
async function stagedEntry(
  repo: Repository,
  entry: IndexEntry,
  { stat, dryRun }: { stat: Parameters<typeof currentState>[2]; dryRun: boolean },
): Promise<Staged['changes'][number] | null> {
  const { path, stage: step, mode, oid } = entry
  if (isTakenAsIs(entry)) return null
  const pause = repo.pace()
  if (pause) await pause
  const state = await currentState(repo, step === 0 ? entry : { ...entry, mtimeMs: -1 }, stat)
  if (step === 0 && !isIntended(entry) && sameState(state, { mode, oid })) return null
  if (state === null) {
    if (!dryRun) (await repo.index()).remove(path)
    return { path, isRemoval: true }
  }
  if (!dryRun) {
    if (state.mode === MODE.gitlink && stat) (await repo.index()).put({ path, ...state, ...statFields(stat) })
    else await addFile(repo, path)
  }
  return { path, isRemoval: false }
}

/** Stores the file and adds it to the index. False if it does not exist (any more). */
export async function addFile(repo: Repository, path: string): Promise<boolean> {
  const full = `${repo.root}/${path}`
  const stat = lstatAt(repo.fs, full)
  const mode = stat && modeOf(stat)
  if (!stat || mode === null) return false
  const oid = await repo.objects.write('blob', await addedBytes(repo, path, stat))
  ;(await repo.index()).put({ path, mode, oid, ...statFields(stat) })
  return true
}

/** The stored form of the file; warns if a checkout would change its line ends. */
async function addedBytes(repo: Repository, path: string, stat: FileStat): Promise<Uint8Array> {
  const bytes = await contentsAt(repo.fs, `${repo.root}/${path}`, stat)
  if (stat.kind !== 'file') return bytes
  const stored = await repo.stored(path, bytes)
  const back = await repo.unstored(path, stored)
  if (back === bytes) return stored
  const [before, after] = [lineStatistics(bytes), lineStatistics(back)]
  const change =
    before.crlf > 0 && after.crlf === 0
      ? 'CRLF will be replaced by LF'
      : before.loneLf > 0 && after.loneLf === 0
        ? 'LF will be replaced by CRLF'
        : null
  if (change !== null) repo.warn(`warning: in the working copy of '${path}', ${change} the next time Git touches it`)
  return stored
}

async function addEmbedded(
  repo: Repository,
  path: string,
  { staged, dryRun }: { staged: Staged; dryRun: boolean },
): Promise<void> {
  const full = `${repo.root}/${path}`
  const oid = await new Repository({ fs: repo.fs, root: full }).refs.resolve('HEAD')
  const stat = lstatAt(repo.fs, full)
  if (oid === null || !stat) throw fatal(`'${path}/' does not have a commit checked out`)
  if (!dryRun) (await repo.index()).put({ path, mode: MODE.gitlink, oid, ...statFields(stat) })
  staged.embedded.push(path)
  staged.changes.push({ path, isRemoval: false })
}

/** The given files, with folders (ending in a slash) expanded. */
export function filesBelow(repo: Repository, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (!path.endsWith('/')) return path
    const entries = repo.fs.list(`${repo.root}/${path}`).filter(({ name }) => name !== '.git')
    return filesBelow(
      repo,
      entries.map(({ name, kind }) => (kind === 'directory' ? `${path}${name}/` : path + name)),
    )
  })
}
