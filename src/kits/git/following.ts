// The history of one file through renames.

import { fatal } from './failure.ts'
import { type Visited, walkHistory } from './history.ts'
import { type PairedChange, withRenames } from './renames.ts'
import type { Repository } from './repository.ts'
import { treeChanges } from './status.ts'

export interface Followed extends Visited {
  changes: PairedChange[]
}

/** Commits that changed the file, with the change. If it was created from another file, the walk continues with that one. */
export async function* followFile(
  repo: Repository,
  path: string,
  starts: { include: string[]; exclude: string[]; firstParent: boolean },
): AsyncGenerator<Followed> {
  let name = path
  const { include, exclude, firstParent } = starts
  const parentsOf = async ({ commit }: Visited) => (firstParent ? commit.parents.slice(0, 1) : commit.parents)
  for await (const visited of walkHistory(repo, { include, exclude, parentsOf })) {
    const [parent, ...others] = visited.commit.parents
    if (others.length > 0) continue
    const before = parent === undefined ? null : (await repo.commit(parent)).tree
    const path = name
    const near = await treeChanges(repo, before, visited.commit.tree, (folder) => path.startsWith(folder))
    const own = near.find((change) => change.path === name)
    if (!own) continue
    // Only for the commit that created it, other changes show the original file.
    const all = own.before ? near : await treeChanges(repo, before, visited.commit.tree)
    const paired: PairedChange = own.before
      ? own
      : ((await withRenames(repo, all)).find((change) => change.path === name) ?? own)
    yield { ...visited, changes: [paired] }
    if (paired.from !== undefined) name = paired.from
  }
}

export function followedPath(repo: Repository, cwd: string, paths: readonly string[]): string {
  const [path, ...others] = paths
  if (path === undefined || others.length > 0) throw fatal('--follow requires exactly one pathspec')
  const root = repo.root === '/' ? '' : repo.root
  const full = path.startsWith('/') ? path : `${cwd}/${path}`
  const parts: string[] = []
  for (const part of full.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`.slice(root.length + 1)
}
