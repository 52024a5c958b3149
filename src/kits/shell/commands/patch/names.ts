// Finds the file of a patch like GNU's `patch`.

import type { FileSystem } from '../../../../workspace/file-system.ts'
import { resolvePath } from '../../../../workspace/paths.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import type { FilePatch } from './read.ts'

/** Without a number of folders to remove, all are removed. Null if there are fewer. */
export function strippedName(name: string | null, strip: number | null): string | null {
  if (name === null || name === '/dev/null') return null
  const parts = name.replace(/\/{2,}/g, '/').split('/')
  const rest = strip === null ? parts.slice(-1) : parts.slice(strip)
  return rest.length === 0 || rest.join('/') === '' ? null : rest.join('/')
}

/**
 * How certain it is that the old or the new file does not exist: 1 if the only hunk has no lines of it, 2 if name or
 * time say so too.
 */
export function absence(patch: FilePatch, side: 'old' | 'new'): 0 | 1 | 2 {
  const [name, time] = side === 'old' ? [patch.oldName, patch.oldTime] : [patch.newName, patch.newTime]
  if (side === 'old' ? patch.git.isNew : patch.git.isDeleted) return 2
  const [hunk, second] = patch.hunks
  const lines = side === 'old' ? hunk?.oldLines : hunk?.newLines
  const start = side === 'old' ? hunk?.oldStart : hunk?.newStart
  if (lines !== 0 || start !== 1 || second !== undefined) return 0
  return name === '/dev/null' || EPOCH.test(time) ? 2 : 1
}

const EPOCH = /^1970-01-01 00:00:00|^1969-12-31 \d\d:\d\d:\d\d.* -|^1970-01-01 \d\d:00:00.* \+/

/** Null if no name is an existing file, and none is to be created. */
export function fileToPatch(patch: FilePatch, strip: number | null, fs: FileSystem, folder: string): string | null {
  const git = patch.git.from
  const isNamed = git !== null || patch.oldName !== null || patch.newName !== null
  const told = isNamed ? [patch.oldName, patch.newName] : [patch.indexName]
  const names = [...(git === null ? [] : [git]), ...told]
  const given = names.map((name, i) => (git !== null && i === 0 ? name : strippedName(name, strip)))
  const candidates = [...new Set(given.filter((name): name is string => name !== null))]
  const there = candidates.filter((name) => kindAt(fs, resolvePath(folder, name)) !== null)
  if (there.length > 0) return best(there)
  if (absence(patch, 'old') === 0) return null
  const missing = (name: string) =>
    name
      .split('/')
      .slice(0, -1)
      .filter((_, i, parts) => kindAt(fs, resolvePath(folder, parts.slice(0, i + 1).join('/'))) === null).length
  const least = Math.min(...candidates.map(missing))
  return best(candidates.filter((name) => missing(name) === least))
}

/** The one with the fewest folders, then with the shortest last name, then the shortest; among equals the first. */
function best(names: readonly string[]): string | null {
  const measures = [
    (name: string) => name.split('/').length,
    (name: string) => name.length - name.lastIndexOf('/'),
    (name: string) => name.length,
  ]
  let left = names
  for (const measure of measures) {
    const least = Math.min(...left.map(measure))
    left = left.filter((name) => measure(name) === least)
  }
  return left[0] ?? null
}
