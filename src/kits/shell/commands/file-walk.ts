// Shared code of the archive commands: the files to pack, and a safe path for unpacked files.

import {
  byteLength,
  type FileStat,
  type FileSystem,
  FileSystemError,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
} from '../../../workspace/file-system.ts'
import { gunzipWithin } from '../../../workspace/inflate.ts'
import { kindAt } from '../../../workspace/stat.ts'
import { resolvePath } from '../named-path.ts'

export interface Walked {
  /** The name in the archive: relative, without `..`. */
  name: string
  path: string
  stat: FileStat
}

export const MAX_ARCHIVE_BYTES = 32 * 1024 * 1024
export const MAX_ARCHIVE_ENTRIES = 20_000

/** The entries below the operands, folders before their contents. Links are entries themselves, never followed. */
export function* walk(fs: FileSystem, cwd: string, operands: readonly string[]): Generator<Walked> {
  let count = 0
  const waiting = operands.map((operand) => ({ name: archiveName(operand), path: resolvePath(cwd, operand) })).reverse()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const stat = fs.lstat(next.path)
    if (++count > MAX_ARCHIVE_ENTRIES) throw new FileSystemError('ENOSPC', next.path, { detail: 'too many files' })
    if (next.name !== '') yield { ...next, stat }
    if (stat.kind !== 'directory') continue
    const { name, path } = next
    const inside = fs.list(path).map((entry) => ({
      name: name === '' ? entry.name : `${name}/${entry.name}`,
      path: `${path === '/' ? '' : path}/${entry.name}`,
    }))
    waiting.push(...inside.reverse())
  }
}

/** Removes a leading slash and everything up to the last `..`, like other tools. */
function archiveName(operand: string): string {
  const names = operand.split('/').filter((name) => name !== '' && name !== '.')
  return names.slice(names.lastIndexOf('..') + 1).join('/')
}

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
