// The files that a program sees, read at its start, and the changes that it makes.

import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { isInWorkspace } from '../../workspace/paths.ts'
import { kindAt, statAt } from '../../workspace/stat.ts'
import type { FileChange, SnapshotFile } from './runtime/protocol.ts'

const ROOTS = ['/workspace', '/tmp', '/home/user'] as const
/** One call to an isolate is limited in size, and an isolate has 128 MB. */
const MAX_TOTAL_BYTES = 16 * 1024 * 1024
const MAX_FILE_BYTES = 4 * 1024 * 1024
const MAX_ENTRIES = 20_000
/** Large, and seldom read by programs: the modules in it are included as modules. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules'])

export async function takeSnapshot(fs: FileSystem, pause: () => Promise<void> | null): Promise<SnapshotFile[]> {
  const files: SnapshotFile[] = []
  let room = MAX_TOTAL_BYTES
  const folders: string[] = ROOTS.filter((root) => isFolder(fs, root))
  for (const root of folders) files.push(folderAt(fs, root))
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const few of fs.scan(folder)) {
      await pause()
      for (const { name, stat, bytes } of few) {
        if (files.length >= MAX_ENTRIES) return files
        const { kind, mode, mtimeMs, sizeBytes: size } = stat
        const path = `${folder}/${name}`
        const file: SnapshotFile = { path, kind, mode, mtimeMs, size }
        if (kind === 'directory' && !LEFT_OUT.has(name)) folders.push(path)
        if (kind === 'symlink') file.target = fs.readLink(path)
        if (kind === 'file' && size <= Math.min(room, MAX_FILE_BYTES)) {
          room -= size
          // A part of a scan may be overwritten by the next one.
          file.bytes = bytes ? bytes.slice() : await fs.read(path)
        }
        files.push(file)
      }
    }
  }
  return files
}

/** Only the folders, for a program that reads no file. */
export function takeFolders(fs: FileSystem): SnapshotFile[] {
  return ROOTS.filter((root) => isFolder(fs, root)).map((root) => folderAt(fs, root))
}

function folderAt(fs: FileSystem, path: string): SnapshotFile {
  const { mode, mtimeMs } = fs.stat(path)
  return { path, kind: 'directory', mode, mtimeMs, size: 0 }
}

function isFolder(fs: FileSystem, path: string): boolean {
  return statAt(fs, path)?.kind === 'directory'
}

/** Returns a line for each change that failed; before each one, `rest` may pause for other work. */
export async function applyChanges(
  fs: FileSystem,
  changes: readonly FileChange[],
  rest: () => Promise<void> | null,
): Promise<string[]> {
  const problems: string[] = []
  const gone = changes.filter(({ kind }) => kind === 'gone')
  const others = changes.filter(({ kind }) => kind !== 'gone').toSorted((a, b) => (a.path < b.path ? -1 : 1))
  for (const change of [...gone, ...others]) {
    await rest()
    try {
      if (!isAllowed(change.path)) problems.push(`${change.path}: Permission denied`)
      else await apply(fs, change)
    } catch (error) {
      if (!isFileError(error)) throw error
      problems.push(error.message)
    }
  }
  return problems
}

async function apply(fs: FileSystem, change: FileChange): Promise<void> {
  const { path } = change
  const there = kindAt(fs, path)
  if (change.kind === 'gone') {
    if (there !== null) fs.remove(path, { recursive: true })
    return
  }
  if (there !== null && there !== change.kind) fs.remove(path, { recursive: true })
  if (change.kind === 'symlink') {
    if (there === 'symlink') fs.remove(path)
    fs.symlink(change.target, path)
  } else if (change.kind === 'directory') {
    if (there !== 'directory') fs.makeDirectory(path, { recursive: true })
  } else await fs.write(path, change.bytes)
  if (change.kind !== 'symlink' && (fs.stat(path).mode & 0o7777) !== change.mode) fs.chmod(path, change.mode)
}

function isAllowed(path: string): boolean {
  return isInWorkspace(path) || path.startsWith('/tmp/') || path.startsWith('/home/user/')
}
