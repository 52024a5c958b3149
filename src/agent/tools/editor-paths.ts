// Where the file tools may look and write: the workspace and the folder for passing files, links followed.

import { type FileStat, type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { isInWorkspace, resolvePath } from '../../workspace/paths.ts'

export type ResolvedPath = { ok: true; path: string; stat: FileStat | null } | { ok: false; problem: string }

/** `stat` is null when there is nothing yet. */
export function placeOf(fs: FileSystem, asked: string): ResolvedPath {
  if (!asked.startsWith('/')) {
    return refuse(`The path has to be absolute: '${shown(asked)}'. Perhaps you mean '/workspace/${shown(asked)}'.`)
  }
  const path = resolvePath('/', asked)
  try {
    if (!isAllowed(realPathOf(fs, path))) return refuse(`'${shown(asked)}' is not in the workspace (/workspace).`)
    return { ok: true, path, stat: statOf(fs, path) }
  } catch (error) {
    if (!isFileError(error)) throw error
    return refuse(`'${shown(asked)}' cannot be reached: ${error.message}`)
  }
}

/** The place that a path leads to; of what is not there yet, the place where it would be made. */
function realPathOf(fs: FileSystem, path: string): string {
  const names = path.split('/').slice(1)
  for (let depth = names.length; depth > 0; depth--) {
    const prefix = `/${names.slice(0, depth).join('/')}`
    if (!isThere(fs, prefix)) continue
    const rest = names.slice(depth)
    return [fs.realPath(prefix), ...rest].join('/')
  }
  return path
}

/** A link to a missing path exists as well: its target is unknown, so nothing is created through it. */
function isThere(fs: FileSystem, path: string): boolean {
  try {
    fs.lstat(path)
    return true
  } catch (error) {
    if (isFileError(error, 'ENOENT') || isFileError(error, 'ENOTDIR')) return false
    throw error
  }
}

function statOf(fs: FileSystem, path: string): FileStat | null {
  try {
    return fs.stat(path)
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return null
    throw error
  }
}

function isAllowed(realPath: string): boolean {
  return isInWorkspace(realPath) || realPath === '/tmp' || realPath.startsWith('/tmp/')
}

function refuse(problem: string): ResolvedPath {
  return { ok: false, problem }
}

const MAX_SHOWN = 200

function shown(path: string): string {
  return path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path
}
