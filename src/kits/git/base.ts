// The commit with which a working copy is compared: the newest state that the remote has.

import { mergeBases } from './history.ts'
import { MissingObjectError } from './object-store.ts'
import type { Repository } from './repository.ts'

export interface BaseChoice {
  /** The commit is the same as long as this is. */
  key: string
  /** Null means no files: nothing was ever committed. */
  commit: () => Promise<string | null>
}

const REMOTE = 'refs/remotes/origin'
const USUAL_NAMES = ['main', 'master'] as const

/**
 * The remote's branch with the same name; without one, the commit where the branch left the remote's main branch;
 * without a remote, HEAD. So unpushed commits count as changes, and in a repository without a remote only uncommitted
 * changes do.
 */
export async function baseOf(repo: Repository): Promise<BaseChoice> {
  const { ref, oid } = await repo.refs.head()
  const branch = ref?.replace(/^refs\/heads\//, '') ?? null
  const same = branch === null ? null : await repo.refs.resolve(`${REMOTE}/${branch}`)
  if (same !== null) return { key: `branch ${same}`, commit: async () => same }
  const main = await remoteMain(repo)
  if (main === null) return { key: `head ${oid}`, commit: async () => oid }
  if (oid === null) return { key: `main ${main}`, commit: async () => main }
  return { key: `fork ${oid} ${main}`, commit: () => forkPoint(repo, oid, main) }
}

async function remoteMain(repo: Repository): Promise<string | null> {
  const shown = await repo.refs.resolve(`${REMOTE}/HEAD`)
  if (shown !== null) return shown
  const branches = await repo.refs.list(`${REMOTE}/`)
  const usual = USUAL_NAMES.map((name) => branches.get(`${REMOTE}/${name}`)).find((oid) => oid !== undefined)
  return usual ?? (branches.size === 1 ? ([...branches.values()][0] ?? null) : null)
}

async function forkPoint(repo: Repository, head: string, main: string): Promise<string> {
  try {
    return (await mergeBases(repo, head, main))[0] ?? main
  } catch (error) {
    // The local history is too short.
    if (error instanceof MissingObjectError) return main
    throw error
  }
}
