// What `node:fs` does with entries of folders: looks at them, makes, moves and removes them.

import { codeOf, fileError } from './errors.ts'
import { Dirent, Stats } from './fs-stats.ts'
import { type Options, pathOf, settingsOf } from './given.ts'
import {
  currentFolder,
  drop,
  type ExistingPath,
  existing,
  type Folder,
  folder,
  guardOpen,
  mark,
  markBelow,
  put,
  walk,
} from './tree.ts'

const LINK_MODE = 0o777
const MODE_BITS = 0o7777

export function stat(path: unknown, options?: Options): Stats | undefined {
  return statsAt(path, { syscall: 'stat', options, follow: true })
}

export function lstat(path: unknown, options?: Options): Stats | undefined {
  return statsAt(path, { syscall: 'lstat', options, follow: false })
}

type Looking = { syscall: string; options: Options; follow: boolean }

function statsAt(path: unknown, { syscall, options, follow }: Looking): Stats | undefined {
  const { throwIfNoEntry = true, bigint } = settingsOf(options)
  try {
    return new Stats(existing(path, syscall, follow).node, bigint)
  } catch (error) {
    if (!throwIfNoEntry && (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR')) return undefined
    throw error
  }
}

export function access(path: unknown): void {
  existing(path, 'access')
}

export function exists(path: unknown): boolean {
  try {
    return walk(path, 'access').node !== undefined
  } catch {
    // As Node answers: also for what is no path at all.
    return false
  }
}

export function readdir(path: unknown, options?: Options): (string | Dirent)[] {
  const { node, text } = existing(path, 'scandir')
  if (node.kind !== 'directory') throw fileError('ENOTDIR', 'scandir', text)
  const { withFileTypes = false, recursive = false } = settingsOf(options)
  const found: (string | Dirent)[] = []
  const asGiven = text.length > 1 ? text.replace(/\/+$/, '') : text
  // Folder by folder: what is in one comes behind all that is beside it.
  const folders: { at: Folder; prefix: string; place: string }[] = [{ at: node, prefix: '', place: asGiven }]
  for (const { at, prefix, place } of folders) {
    for (const [name, inner] of [...at.entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
      found.push(withFileTypes ? new Dirent(name, inner.kind, place) : prefix + name)
      if (recursive && inner.kind === 'directory')
        folders.push({ at: inner, prefix: `${prefix}${name}/`, place: `${place}/${name}` })
    }
  }
  return found
}

/** With `recursive` the first folder that was made. */
export function mkdir(path: unknown, options?: Options | number): string | undefined {
  const settings = settingsOf(options)
  const mode = typeof options === 'number' ? options : settings.mode
  if (settings.recursive === true) return mkdirs(pathOf(path), mode)
  const place = walk(path, 'mkdir')
  if (place.node) throw fileError('EEXIST', 'mkdir', place.text)
  put(place, folder(mode), 'mkdir')
  return undefined
}

function mkdirs(text: string, mode: number | undefined): string | undefined {
  let first: string | undefined
  let prefix = text.startsWith('/') ? '' : currentFolder()
  for (const name of text.split('/').filter((part) => part !== '')) {
    prefix += `/${name}`
    const place = walk(prefix, 'mkdir')
    if (place.node && place.node.kind !== 'directory')
      throw fileError(prefix.endsWith(text) ? 'EEXIST' : 'ENOTDIR', 'mkdir', text)
    if (!place.node) {
      put(place, folder(mode), 'mkdir')
      first ??= place.real
    }
  }
  return first
}

export function mkdtemp(prefix: unknown): string {
  const path = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, '0')
  mkdir(path)
  return path
}

export function rmdir(path: unknown, options?: Options): void {
  const place = existing(path, 'rmdir', false)
  if (place.node.kind !== 'directory') throw fileError('ENOTDIR', 'rmdir', place.text)
  if (place.node.entries.size > 0 && !settingsOf(options).recursive) throw fileError('ENOTEMPTY', 'rmdir', place.text)
  drop(place, 'rmdir')
}

export function rm(path: unknown, options?: Options): void {
  const { force = false, recursive = false } = settingsOf(options)
  const place = force ? existingOrNull(path) : existing(path, 'lstat', false)
  if (place === null) return
  if (place.node.kind === 'directory' && !recursive) {
    const message = `Path is a directory: rm returned EISDIR (is a directory) ${place.text}`
    throw Object.assign(fileError('EISDIR', 'rm', place.text), { code: 'ERR_FS_EISDIR', message })
  }
  drop(place, 'rm')
}

function existingOrNull(path: unknown): ExistingPath | null {
  try {
    return existing(path, 'lstat', false)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

export function unlink(path: unknown): void {
  const place = existing(path, 'unlink', false)
  if (place.node.kind === 'directory') throw fileError('EPERM', 'unlink', place.text)
  drop(place, 'unlink')
}

export function rename(from: unknown, to: unknown): void {
  const source = existing(from, 'rename', false, to)
  const target = walk(to, 'rename', false)
  const isFolder = source.node.kind === 'directory'
  if (target.node?.kind === 'directory' && (!isFolder || target.node.entries.size > 0))
    throw fileError(isFolder ? 'ENOTEMPTY' : 'EISDIR', 'rename', source.text, target.text)
  if (`${target.real}/`.startsWith(`${source.real}/`) && target.real !== source.real)
    throw fileError('EINVAL', 'rename', source.text, target.text)
  drop(source, 'rename')
  put(target, source.node, 'rename')
  markBelow(source.node, target.real)
}

export function chmod(path: unknown, mode: number | string): void {
  const place = existing(path, 'chmod')
  place.node.mode = (typeof mode === 'string' ? Number.parseInt(mode, 8) : mode) & MODE_BITS
  guardOpen()
  mark(place.real)
}

export function utimes(path: unknown, _accessed: unknown, modified: unknown): void {
  const { node } = existing(path, 'utime')
  node.mtimeMs = modified instanceof Date ? modified.getTime() : Number(modified) * 1000
}

/** Step by step, as Node does it where it does not ask the system; an error names the step. */
export function realpath(path: unknown): string {
  return existing(path, 'lstat').real
}

export function nativeRealpath(path: unknown): string {
  return existing(path, 'realpath').real
}

export function readlink(path: unknown): string {
  const { node, text } = existing(path, 'readlink', false)
  if (node.kind !== 'symlink') throw fileError('EINVAL', 'readlink', text)
  return node.target
}

export function symlink(target: unknown, path: unknown): void {
  const place = walk(path, 'symlink', false)
  if (place.node) throw fileError('EEXIST', 'symlink', String(target), place.text)
  put(place, { kind: 'symlink', target: pathOf(target), mode: LINK_MODE, mtimeMs: Date.now() }, 'symlink')
}
