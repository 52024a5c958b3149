// Matches the files of three trees if some of them were renamed.

import type { FileState } from './objects.ts'
import { type PairedChange, withRenames } from './renames.ts'
import type { Repository } from './repository.ts'
import { treeChanges } from './status.ts'

/** One file in the three trees. */
export interface Three {
  /** Its final path. */
  path: string
  base: FileState | null
  ours: FileState | null
  theirs: FileState | null
  /** Its path in a tree, if it is different. */
  basePath?: string
  oursPath?: string
  theirsPath?: string
  /** Both sides renamed it differently. */
  apart?: { ours: string; theirs: string }
}

type Trees = readonly [base: string | null, ours: string | null, theirs: string | null]

/** A group for each file that their side changed, in the order of the paths. */
export async function alignedChanges(
  repo: Repository,
  [base, ours, theirs]: Trees,
  mine: ReadonlyMap<string, FileState>,
): Promise<Three[]> {
  const yours = await withRenames(repo, await treeChanges(repo, base, theirs))
  // Our renames are relevant only if a file that they changed is no longer at its path.
  const isMissing = yours.some(({ path, from = path, before }) => before !== null && !mine.has(from))
  const ownRenames =
    base === null || !isMissing ? new Map<string, PairedChange>() : await renamesBetween(repo, base, ours)
  const threes = yours.flatMap((change) =>
    change.from === undefined
      ? [plainThree(change, { mine, ownRenames })]
      : renamedThree(change, change.from, { mine, ownRenames }),
  )
  return threes
}

async function renamesBetween(
  repo: Repository,
  before: string | null,
  after: string | null,
): Promise<Map<string, PairedChange>> {
  const changes = await withRenames(repo, await treeChanges(repo, before, after))
  return new Map(changes.flatMap((change) => (change.from === undefined ? [] : [[change.from, change] as const])))
}

type OurChanges = { mine: ReadonlyMap<string, FileState>; ownRenames: ReadonlyMap<string, PairedChange> }

/** They changed or deleted it at its path; we may have renamed it. */
function plainThree({ path, before, after }: PairedChange, { mine, ownRenames }: OurChanges): Three {
  const moved = before ? ownRenames.get(path) : undefined
  if (!moved || mine.has(path)) return { path, base: before, ours: mine.get(path) ?? null, theirs: after }
  const ours = mine.get(moved.path) ?? null
  return { path: moved.path, base: before, ours, theirs: after, basePath: path, theirsPath: path }
}

/** They renamed it, and may have changed it too. */
function renamedThree(change: PairedChange, from: string, { mine, ownRenames }: OurChanges): Three[] {
  const { path, before, after } = change
  const moved = ownRenames.get(from)
  const whole = { path, base: before, theirs: after, basePath: from }
  if (moved && moved.path === path) return [{ ...whole, ours: mine.get(path) ?? null }]
  if (moved) {
    const ours = mine.get(moved.path) ?? null
    return [{ ...whole, ours, oursPath: moved.path, apart: { ours: moved.path, theirs: path } }]
  }
  const there = mine.get(path) ?? null
  // If another file has the name already, it is treated as a deletion and an addition.
  if (there && mine.has(from)) {
    return [
      { path: from, base: before, ours: mine.get(from) ?? null, theirs: null },
      { path, base: null, ours: there, theirs: after },
    ]
  }
  return [{ ...whole, ours: mine.get(from) ?? null, oursPath: from }]
}
