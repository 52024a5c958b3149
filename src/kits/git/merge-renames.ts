// Which files of three trees belong together when some of them were renamed.

import type { FileState } from './objects.ts'
import { type PairedChange, withRenames } from './renames.ts'
import type { Repository } from './repository.ts'
import { treeChanges } from './status.ts'

/** One file as the three trees have it. */
export interface Three {
  /** Where it is to be in the end. */
  path: string
  base: FileState | null
  ours: FileState | null
  theirs: FileState | null
  /** Where a side has it, if that is elsewhere. */
  basePath?: string
  oursPath?: string
  theirsPath?: string
  /** Both sides gave it a name of their own. */
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
  // What we renamed matters only where something that they changed is not in its place any more.
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

/** They changed or removed it in its place; we may have moved it. */
function plainThree({ path, before, after }: PairedChange, { mine, ownRenames }: OurChanges): Three {
  const moved = before ? ownRenames.get(path) : undefined
  if (!moved || mine.has(path)) return { path, base: before, ours: mine.get(path) ?? null, theirs: after }
  const ours = mine.get(moved.path) ?? null
  return { path: moved.path, base: before, ours, theirs: after, basePath: path, theirsPath: path }
}

/** They moved it, and may have changed it as well. */
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
  // Something else has the name already: then it is a file that is gone and a file that is new.
  if (there && mine.has(from)) {
    return [
      { path: from, base: before, ours: mine.get(from) ?? null, theirs: null },
      { path, base: null, ours: there, theirs: after },
    ]
  }
  return [{ ...whole, ours: mine.get(from) ?? null, oursPath: from }]
}
