// Reads a file of the workspace as text, to be shown to users.

import { type DirectoryEntry, type FileSystem, isFileError } from './file-system.ts'
import { gitignoreFor, type Ignores, isInternal } from './ignore.ts'
import { staysInWorkspace, workspacePath } from './paths.ts'

/** `path` is the absolute path, if the requested one can be resolved. */
export type TextFile =
  | { ok: true; text: string }
  | { ok: false; reason: 'outside'; path: string; message: string }
  | {
      ok: false
      reason: 'missing' | 'directory' | 'binary' | 'too-large' | 'unavailable'
      path: string
      message: string
    }

/** The text is sent as one JSON string between isolates of 128 MB. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024

/** Only valid UTF-8 without NUL is text; anything that cannot be shown unchanged is binary. */
export async function readTextFile(fs: FileSystem, asked: string): Promise<TextFile> {
  const place = workspacePath(asked)
  if (!place.ok) return { ok: false, reason: 'outside', path: asked, message: place.message }
  const { path } = place
  try {
    const { kind, sizeBytes } = fs.stat(path)
    if (!staysInWorkspace(fs, path))
      return { ok: false, reason: 'outside', path, message: 'The link leads out of the workspace' }
    if (kind === 'directory') return { ok: false, reason: 'directory', path, message: `Is a directory: '${path}'` }
    if (sizeBytes > MAX_TEXT_BYTES)
      return { ok: false, reason: 'too-large', path, message: `Too large to show: '${path}'` }
    const text = decode(await fs.read(path))
    return text === null
      ? { ok: false, reason: 'binary', path, message: `Not a text file: '${path}'` }
      : { ok: true, text }
  } catch (error) {
    if (!isFileError(error)) throw error
    if (error.code === 'EIO')
      return { ok: false, reason: 'unavailable', path, message: `Cannot be read at the moment: '${path}'` }
    return { ok: false, reason: 'missing', path, message: `No such file: '${path}'` }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return decoder.decode(bytes)
  } catch {
    // The decoder throws for invalid UTF-8; this is an expected result.
    return null
  }
}

// One level of a folder of the workspace, as shown by clients.

/**
 * The entries of the folder, each prefixed with the requested path: directories first, with a trailing slash. Empty if
 * the path is not a directory of the workspace. The caller must refuse a path outside the workspace (`workspacePath`);
 * here the result is empty too.
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

/** The same for a folder known to be in the workspace, with the caller's rules. */
function listEntries(fs: FileSystem, where: { folder: string; prefix: string }, ignores: Ignores): string[] {
  const directories: string[] = []
  const files: string[] = []
  for (const entry of fs.list(where.folder)) {
    const isDirectory = leadsToDirectory(fs, where.folder, entry)
    const name = isDirectory ? `${entry.name}/` : entry.name
    if (!isInternal(name) && !ignores(name)) (isDirectory ? directories : files).push(where.prefix + name)
  }
  return [...directories.sort(byLetters), ...files.sort(byLetters)]
}

/** A link is treated like its target if that is in the workspace. */
function leadsToDirectory(fs: FileSystem, folder: string, { name, kind }: DirectoryEntry): boolean {
  if (kind !== 'symlink') return kind === 'directory'
  const path = `${folder}/${name}`
  return staysInWorkspace(fs, path) && fs.stat(path).kind === 'directory'
}

function prefixOf(asked: string): string {
  const path = asked.replace(/\/+$/, '')
  return path === '' && !asked.startsWith('/') ? '' : `${path}/`
}

/** Ignores case; names that differ only in case have a fixed order. */
function byLetters(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  if (left !== right) return left < right ? -1 : 1
  return a < b ? -1 : 1
}
