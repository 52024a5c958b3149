// Reads and writes the files of a repository's working tree.

import { type FileStat, type FileSystem, replaceContents } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import { textOf, utf8 } from './bytes.ts'
import { failed } from './failure.ts'
import { type FileState, MODE, objectId } from './objects.ts'
import { isSafePath } from './tree.ts'

/** Git's mode for a file or a link; null for a directory. */
export function modeOf({ kind, mode }: FileStat): number | null {
  if (kind === 'directory') return null
  if (kind === 'symlink') return MODE.link
  return (mode & 0o100) !== 0 ? MODE.executable : MODE.file
}

/** A file's bytes, or a link's target. */
export async function contentsAt(fs: FileSystem, path: string, { kind }: FileStat): Promise<Uint8Array> {
  return kind === 'symlink' ? utf8(fs.readLink(path)) : fs.read(path)
}

/** Converts files of a working tree to their stored form. */
export interface Storing {
  fs: FileSystem
  root: string
  stored: (path: string, bytes: Uint8Array) => Promise<Uint8Array>
  unstored: (path: string, bytes: Uint8Array) => Promise<Uint8Array>
}

/** The form that git would store for the file at a path of the working tree. */
export async function storedAt(repo: Storing, path: string, stat: FileStat): Promise<Uint8Array> {
  const bytes = await contentsAt(repo.fs, `${repo.root}/${path}`, stat)
  return stat.kind === 'file' ? repo.stored(path, bytes) : bytes
}

/** The state of the file at the path itself; null if there is none. */
export async function stateAt(repo: Storing, path: string): Promise<FileState | null> {
  const stat = lstatAt(repo.fs, `${repo.root}/${path}`)
  const mode = stat && modeOf(stat)
  if (!stat || mode === null) return null
  return { mode, oid: objectId('blob', await storedAt(repo, path, stat)) }
}

/** Whether a link or a file is in place of a parent folder: then the path is not in the tree. */
export function isBehindLink(fs: FileSystem, root: string, path: string): boolean {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    if (lstatAt(fs, `${root}/${path.slice(0, slash)}`)?.kind !== 'directory') return true
  }
  return false
}

/** Whether the folder is the top of another repository. */
export function isRepository(fs: FileSystem, folder: string): boolean {
  return lstatAt(fs, `${folder}/.git`)?.kind === 'directory' && lstatAt(fs, `${folder}/.git/HEAD`) !== null
}

/** Whether the folder is a repository without a working tree. The `.git` folder of a normal repository does not count. */
export function isBareRepository(fs: FileSystem, folder: string): boolean {
  const isThere = (name: string, kind: string) => lstatAt(fs, `${folder}/${name}`)?.kind === kind
  return (
    !folder.endsWith('/.git') &&
    isThere('HEAD', 'file') &&
    isThere('objects', 'directory') &&
    isThere('refs', 'directory')
  )
}

/** Writes the file and replaces anything at its path: the caller ensures that nothing is lost. */
export async function writeOut(
  { fs, root }: { fs: FileSystem; root: string },
  path: string,
  { mode, bytes }: { mode: number; bytes: Uint8Array },
): Promise<void> {
  if (!isSafePath(path)) throw failed(`invalid path '${path}'`, 128)
  const full = `${root}/${path}`
  makeWay(fs, root, path)
  const there = lstatAt(fs, full)
  if (mode === MODE.gitlink) {
    if (there?.kind !== 'directory') fs.makeDirectory(full)
    return
  }
  if (there && (there.kind !== 'file' || mode === MODE.link)) fs.remove(full, { recursive: true })
  if (mode === MODE.link) {
    fs.symlink(textOf(bytes), full)
    return
  }
  const permissions = mode === MODE.executable ? 0o755 : 0o644
  await replaceContents(fs, full, { bytes, mode: permissions })
  if (there?.kind === 'file' && ((there.mode ^ permissions) & 0o100) !== 0) fs.chmod(full, permissions)
}

/** Creates the parent folders, replacing links or files with their names. */
function makeWay(fs: FileSystem, root: string, path: string): void {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const folder = `${root}/${path.slice(0, slash)}`
    const there = lstatAt(fs, folder)
    if (there?.kind === 'directory') continue
    if (there) fs.remove(folder)
    fs.makeDirectory(folder)
  }
}

/** Removes the file, and the folders that become empty. */
export function takeAway(fs: FileSystem, root: string, path: string): void {
  if (isBehindLink(fs, root, path)) return
  const stat = lstatAt(fs, `${root}/${path}`)
  if (stat && stat.kind !== 'directory') fs.remove(`${root}/${path}`)
  else if (stat && fs.list(`${root}/${path}`).length === 0) fs.remove(`${root}/${path}`)
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const folder = `${root}/${path.slice(0, slash)}`
    if (lstatAt(fs, folder)?.kind !== 'directory' || fs.list(folder).length > 0) return
    fs.remove(folder)
  }
}
