// Deletes files that a hostile program may be changing at the same time: through open folders, never through a link.

import { readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { type Folder, isCode } from './folder.ts'

/** A folder deeper than this is moved up before it is emptied, so that few folders are open at a time. */
const MAX_OPEN = 100

/**
 * Deletes the name with everything below; no error if it does not exist. `trash` is a folder on the same disk that is
 * invisible to sandboxes.
 */
export function removeBelow(folder: Folder, name: string, trash: Folder): void {
  const stats = folder.stat(name)
  if (stats === null) return
  if (!stats.isDirectory()) {
    unlinkWritable(folder, name)
    return
  }
  const waiting = [movedTo(trash, folder, name)]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    empty(trash, next, { trash, waiting, depth: 0 })
    rmdirSync(trash.at(next))
  }
}

let trashed = 0

function movedTo(trash: Folder, folder: Folder, name: string): string {
  const moved = `${process.pid}-${++trashed}`
  // Moving a folder writes to it, so its owner needs the permission.
  const inner = folder.open(name)
  inner.chmod(0o700)
  inner.close()
  writable(folder, () => renameSync(folder.at(name), trash.at(moved)))
  return moved
}

type Job = { readonly trash: Folder; readonly waiting: string[]; readonly depth: number }

function empty(folder: Folder, name: string, job: Job): void {
  const inner = folder.open(name)
  try {
    inner.chmod(0o700)
    for (const child of readdirSync(inner.at(''), { encoding: 'buffer' })) removeChild(inner, child, job)
  } finally {
    inner.close()
  }
}

/** Names as bytes, because names that are not valid text must be deleted too. */
function removeChild(folder: Folder, child: Buffer, job: Job): void {
  const path = Buffer.concat([Buffer.from(`${folder.at('')}/`), child])
  try {
    unlinkSync(path)
    return
  } catch (error) {
    if (isCode(error, 'ENOENT')) return
    if (!isCode(error, 'EISDIR', 'EPERM')) throw error
  }
  const isText = Buffer.from(child.toString()).equals(child)
  if (!isText || job.depth >= MAX_OPEN) {
    const moved = `${process.pid}-${++trashed}`
    renameSync(path, job.trash.at(moved))
    job.waiting.push(moved)
    return
  }
  empty(folder, child.toString(), { ...job, depth: job.depth + 1 })
  rmdirSync(path)
}

function unlinkWritable(folder: Folder, name: string): void {
  writable(folder, () => unlinkSync(folder.at(name)))
}

/** Runs the action in a folder that may be read-only for its owner; its permissions are restored afterwards. */
export function writable(folder: Folder, action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!isCode(error, 'EACCES', 'EPERM')) throw error
    const { mode } = folder
    folder.chmod(mode | 0o700)
    try {
      action()
    } finally {
      folder.chmod(mode)
    }
  }
}
