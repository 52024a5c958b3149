// One level of a folder of the workspace, as clients show it.

import { type DirectoryEntry, type FileSystem, isFileError } from './file-system.ts'
import { gitignoreFor, type Ignores, isInternal } from './ignore.ts'
import { staysInWorkspace, workspacePath } from './paths.ts'

/**
 * The entries of the folder, each with the path that was asked for in front: directories first, with a trailing slash.
 * A path that is no directory of the workspace has none. A path that leaves the workspace is for the caller to refuse
 * (`workspacePath`); here it has no entries either.
 */
export async function listFiles(fs: FileSystem, asked: string | null | undefined): Promise<string[]> {
  const place = workspacePath(asked ?? '')
  if (!place.ok) return []
  try {
    const folder = fs.realPath(place.path)
    if (!staysInWorkspace(fs, folder)) return []
    return listEntries(fs, { folder, prefix: prefixOf(asked ?? '') }, await gitignoreFor(fs, folder))
  } catch (error) {
    if (isFileError(error)) return []
    throw error
  }
}

/** The same for a folder known to be in the workspace, with rules of the caller's. */
export function listEntries(fs: FileSystem, where: { folder: string; prefix: string }, ignores: Ignores): string[] {
  const directories: string[] = []
  const files: string[] = []
  for (const entry of fs.list(where.folder)) {
    const isDirectory = leadsToDirectory(fs, where.folder, entry)
    const name = isDirectory ? `${entry.name}/` : entry.name
    if (!isInternal(name) && !ignores(name)) (isDirectory ? directories : files).push(where.prefix + name)
  }
  return [...directories.sort(byLetters), ...files.sort(byLetters)]
}

/** A link counts as what it leads to, as long as that is in the workspace. */
function leadsToDirectory(fs: FileSystem, folder: string, { name, kind }: DirectoryEntry): boolean {
  if (kind !== 'symlink') return kind === 'directory'
  const path = `${folder}/${name}`
  return staysInWorkspace(fs, path) && fs.stat(path).kind === 'directory'
}

function prefixOf(asked: string): string {
  const path = asked.replace(/\/+$/, '')
  return path === '' && !asked.startsWith('/') ? '' : `${path}/`
}

/** Whatever the case; names that differ in nothing else keep one fixed order. */
function byLetters(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  if (left !== right) return left < right ? -1 : 1
  return a < b ? -1 : 1
}
