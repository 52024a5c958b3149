// Patches that compare a file with several versions of it.

import { isBinary, textOf } from './bytes.ts'
import { combinedHunks } from './diffing/combined.ts'
import type { FileState } from './objects.ts'
import { NULL_ID, sameState } from './objects.ts'
import { contentsOf } from './renames.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'
import { flatTree } from './tree.ts'

export interface Combined {
  path: string
  versions: (FileState | null)[]
  /** Null if the result does not contain the file. */
  result: FileState | null
  /** Whether the result is only in the working tree, and has no id yet. */
  isUnstored?: boolean
  /** The number of lines shown around a change. */
  context?: number | undefined
}

/** Empty if every part of the result equals one of the versions. */
export async function combinedPatch(
  repo: Repository,
  { path, versions, result, isUnstored, context }: Combined,
): Promise<string> {
  const bytes = async (state: FileState | null) =>
    (state ? await contentsOf(repo, path, state.oid) : null) ?? new Uint8Array()
  const all = await Promise.all([...versions, result].map(bytes))
  const short = (state: FileState | null) => abbreviate(repo, state?.oid ?? NULL_ID)
  const ids = await Promise.all(versions.map(short))
  const own = isUnstored ? NULL_ID.slice(0, 7) : await short(result)
  const octal = (state: FileState | null) => (state?.mode ?? 0).toString(8).padStart(6, '0')
  const lines = [`diff --cc ${repo.quoted(path)}`, `index ${ids.join(',')}..${own}`]
  const hasOtherMode = versions.some((state) => state?.mode !== result?.mode)
  if (!result) lines.push(`deleted file mode ${versions.map(octal).join(',')}`)
  else if (versions.every((state) => state === null)) lines.push(`new file mode ${octal(result)}`)
  else if (hasOtherMode) lines.push(`mode ${versions.map(octal).join(',')}..${octal(result)}`)
  if (all.some(isBinary)) return `${lines.join('\n')}\nBinary files differ\n`
  const texts = all.map(textOf)
  const hunks = combinedHunks(texts.slice(0, -1), texts.at(-1) ?? '', context)
  if (hunks === '' && !hasOtherMode) return ''
  const from = versions.every((state) => state === null) ? '/dev/null' : repo.quoted(`a/${path}`)
  return `${lines.join('\n')}\n--- ${from}\n+++ ${result ? repo.quoted(`b/${path}`) : '/dev/null'}\n${hunks}`
}

/** A merge's own changes: files that differ from all parents. */
export async function mergePatches(
  repo: Repository,
  trees: readonly (string | null)[],
  { result, matches, context }: { result: string; matches: (path: string) => boolean; context?: number },
): Promise<string> {
  const [own, ...parents] = await Promise.all([result, ...trees].map((tree) => flatTree(repo, tree)))
  const paths = new Set([...(own?.keys() ?? []), ...parents.flatMap((files) => [...files.keys()])])
  let text = ''
  for (const path of [...paths].sort()) {
    const state = own?.get(path) ?? null
    const versions = parents.map((files) => files.get(path) ?? null)
    if (!matches(path) || versions.some((version) => sameState(version, state))) continue
    text += await combinedPatch(repo, { path, versions, result: state, context })
  }
  return text
}
