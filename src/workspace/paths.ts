// Checks paths from users, models and archives: the result is a path in the workspace, or a refusal. No path can leave
// the virtual tree, but some folders of it (`/tmp`, `/home`) are not part of the workspace and must not be served.

import { byteLength, type FileSystem, isFileError, MAX_NAME_BYTES, MAX_PATH_BYTES } from './file-system.ts'

export const WORKSPACE_ROOT = '/workspace'

export type WorkspacePath =
  | { ok: true; path: string }
  | { ok: false; reason: 'outside' | 'malformed' | 'too-long'; message: string }

/**
 * The absolute path, without `.` and `..`: the input is relative to the workspace root, or absolute and inside it. A
 * backslash is an ordinary character, and nothing is decoded: `%2e` is not changed.
 */
export function workspacePath(asked: string): WorkspacePath {
  if (asked.includes('\0') || !asked.isWellFormed())
    return refuse('malformed', 'The path has characters that no file name can have')
  if (byteLength(asked) > MAX_PATH_BYTES) return refuse('too-long', `The path is longer than ${MAX_PATH_BYTES} bytes`)
  const path = resolvePath(WORKSPACE_ROOT, asked)
  if (!isInWorkspace(path)) return refuse('outside', 'The path leads out of the workspace')
  const tooLong = path.split('/').some((name) => byteLength(name) > MAX_NAME_BYTES)
  if (tooLong) return refuse('too-long', `A name in the path is longer than ${MAX_NAME_BYTES} bytes`)
  return { ok: true, path }
}

/** Joins and normalizes the text only: links are not followed, and `..` stops at the root. */
export function resolvePath(folder: string, path: string): string {
  const kept: string[] = []
  for (const name of `${path.startsWith('/') ? '' : folder}/${path}`.split('/')) {
    if (name === '..') kept.pop()
    else if (name !== '' && name !== '.') kept.push(name)
  }
  return `/${kept.join('/')}`
}

export function isInWorkspace(path: string): boolean {
  return path === WORKSPACE_ROOT || path.startsWith(`${WORKSPACE_ROOT}/`)
}

/** Whether the path, after following all links, is in the workspace. False if it does not exist. */
export function staysInWorkspace(fs: FileSystem, path: string): boolean {
  try {
    return isInWorkspace(fs.realPath(path))
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}

/**
 * The file name under which an upload is stored, or null if no valid name can be made from it. Folders are removed,
 * with either separator. Letters and digits of every script are kept, with their combining marks.
 */
export function uploadName(given: string): string | null {
  const name = (given.split(/[/\\]/).at(-1) ?? '').toWellFormed().normalize('NFC')
  const clean = name.replace(/[^\p{L}\p{M}\p{N}._-]/gu, '_')
  // A name of dots only is invalid, and a file called `.git` would tell git where its repository is.
  if (/^\.*$/.test(clean) || clean.toLowerCase() === '.git') return null
  return shortened(clean)
}

/** Cuts the name to the maximum length; the extension is kept, so that the file still opens. */
function shortened(name: string): string {
  if (byteLength(name) <= MAX_NAME_BYTES) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : ''
  const stem = [...(extension === '' ? name : name.slice(0, dot))]
  while (byteLength(stem.join('') + extension) > MAX_NAME_BYTES) stem.pop()
  return stem.join('') + extension
}

function refuse(reason: 'outside' | 'malformed' | 'too-long', message: string): WorkspacePath {
  return { ok: false, reason, message }
}
