// A file of the workspace as text, for people to look at.

import { type FileSystem, isFileError } from './file-system.ts'
import { staysInWorkspace, workspacePath } from './paths.ts'

/** `path` is the absolute path, as far as the one that was asked for means one. */
export type TextFile =
  | { ok: true; text: string }
  | { ok: false; reason: 'outside'; path: string; message: string }
  | {
      ok: false
      reason: 'missing' | 'directory' | 'binary' | 'too-large' | 'unavailable'
      path: string
      message: string
    }

/** The text travels as one JSON string between isolates of 128 MB. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024

/** Nothing but valid UTF-8 without NUL is text: what cannot be shown as it is is binary. */
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
    // The decoder throws for whatever is not UTF-8; that is the answer, not a failure.
    return null
  }
}
