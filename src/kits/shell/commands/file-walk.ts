// Shared code of the archive commands: the files to pack, and a safe path for unpacked files.

import { byteLength, type FileSystem, MAX_NAME_BYTES, MAX_PATH_BYTES } from '../../../workspace/file-system.ts'
import { gunzipWithin } from '../../../workspace/inflate.ts'
import { kindAt } from '../../../workspace/stat.ts'
import { resolvePath } from '../named-path.ts'

export const MAX_ARCHIVE_BYTES = 32 * 1024 * 1024
export const MAX_ARCHIVE_ENTRIES = 20_000

export type Placed = { ok: true; path: string } | { ok: false; reason: string }

/**
 * The path of an entry below the folder. Names are not corrected: one that leads out of the folder is refused, and so
 * is a path through a link.
 */
export function placeBelow(fs: FileSystem, folder: string, name: string): Placed {
  if (name.includes('\0') || !name.isWellFormed()) return { ok: false, reason: 'the name is malformed' }
  if (name.startsWith('/')) return { ok: false, reason: 'the name is absolute' }
  const names = name.split('/').filter((part) => part !== '' && part !== '.')
  if (names.includes('..')) return { ok: false, reason: 'the name leads out of the folder' }
  if (names.some((part) => part.toLowerCase() === '.git')) return { ok: false, reason: 'the name is in a .git folder' }
  const path = resolvePath(folder, names.join('/'))
  if (byteLength(path) > MAX_PATH_BYTES || names.some((part) => byteLength(part) > MAX_NAME_BYTES)) {
    return { ok: false, reason: 'the name is too long' }
  }
  for (let depth = 1; depth < names.length; depth++) {
    if (kindAt(fs, resolvePath(folder, names.slice(0, depth).join('/'))) === 'symlink') {
      return { ok: false, reason: 'the name leads over a link' }
    }
  }
  return { ok: true, path }
}

/** Links may point to targets next to and below them, but not out of the target folder. */
export function isLinkInside(folder: string, path: string, target: string): boolean {
  if (target === '' || target.startsWith('/')) return false
  const meant = resolvePath(path.slice(0, path.lastIndexOf('/')), target)
  return meant === folder || meant.startsWith(`${folder === '/' ? '' : folder}/`)
}

/** A compressed file that cannot be unpacked; the message contains the reason. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError'
}

/** Throws `UnpackError`. */
export function gunzipped(bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return gunzipWithin(bytes, maxBytes)
  } catch (cause) {
    const isTooLarge = cause instanceof RangeError && /larger than/i.test(cause.message)
    throw new UnpackError(isTooLarge ? `unpacks to more than ${maxBytes} bytes` : 'not in gzip format, or damaged', {
      cause,
    })
  }
}
