// The tree of files inside the isolate, as it was when the program began, in memory. What it changes is told to the
// workspace while it runs.

import { fileError } from './errors.ts'
import { pathOf, type Settings } from './given.ts'
import type { FileChange, SnapshotFile } from './protocol.ts'

type NodeStat = { mode: number; mtimeMs: number }
export type Folder = NodeStat & { kind: 'directory'; entries: Map<string, TreeNode> }
/** Without bytes: a file that was too large to come along. */
export type FileNode = NodeStat & { kind: 'file'; bytes: Buffer | null; size?: number }
type Link = NodeStat & { kind: 'symlink'; target: string }
export type TreeNode = Folder | FileNode | Link

/** Where a path leads: the node if there is one, the folder that holds it, and the path without links. */
export interface ResolvedPath {
  node: TreeNode | undefined
  parent: Folder
  name: string
  real: string
  text: string
}
export type ExistingPath = ResolvedPath & { node: TreeNode }

const MAX_BYTES = 64 * 1024 * 1024
// A report crosses to the workspace in one call, which takes 32 MiB.
const MAX_FILE_BYTES = 24 * 1024 * 1024
const REPORT_BYTES = 4 * 1024 * 1024
const MAX_LINKS = 40
const FOLDER_MODE = 0o755
const FILE_MODE = 0o644

export function folder(mode = FOLDER_MODE, mtimeMs = Date.now()): Folder {
  return { kind: 'directory', mode, mtimeMs, entries: new Map() }
}

const root = folder()
const dirty = new Set<string>()
let cwd = '/'
let written = 0
let isClosed = () => false
let stdin = Buffer.alloc(0)

type Mounting = { cwd: string; stdin: string; closed: () => boolean }

export function mount(files: readonly SnapshotFile[], options: Mounting): void {
  for (const file of files) {
    const names = namesIn(file.path)
    const name = names.pop()
    if (name === undefined) continue
    let parent = root
    for (const part of names) parent = folderIn(parent, part)
    if (file.kind !== 'directory' || !parent.entries.has(name)) parent.entries.set(name, nodeOf(file))
  }
  cwd = options.cwd
  isClosed = options.closed
  stdin = Buffer.from(options.stdin)
}

function folderIn(parent: Folder, name: string): Folder {
  const there = parent.entries.get(name)
  if (there?.kind === 'directory') return there
  const made = folder()
  parent.entries.set(name, made)
  return made
}

function nodeOf({ kind, bytes, mode, mtimeMs, target = '', size }: SnapshotFile): TreeNode {
  if (kind === 'directory') return folder(mode, mtimeMs)
  if (kind === 'symlink') return { kind, mode, mtimeMs, target }
  const own = bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { kind, bytes: own, mode, mtimeMs, size }
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

export const currentFolder = () => cwd
export const input = () => stdin

export function changeFolder(path: unknown): void {
  const { node, real } = walk(path, 'chdir')
  if (!node) throw fileError('ENOENT', 'chdir', String(path))
  if (node.kind !== 'directory') throw fileError('ENOTDIR', 'chdir', String(path))
  cwd = real
}

export const hasChanges = () => dirty.size > 0

/** What has changed since it was last asked: the state of each path now. What is too much for one report waits for the next. */
export function takeChanges(): FileChange[] {
  const changes: FileChange[] = []
  let size = 0
  for (const path of [...dirty].sort()) {
    const change = stateOf(path)
    size += change.kind === 'file' ? change.bytes.length : 0
    if (size > REPORT_BYTES && changes.length > 0) break
    dirty.delete(path)
    changes.push(change)
  }
  return changes
}

function stateOf(path: string): FileChange {
  let node: TreeNode | undefined = root
  for (const name of namesIn(path)) node = node?.kind === 'directory' ? node.entries.get(name) : undefined
  if (!node) return { path, kind: 'gone' }
  if (node.kind === 'directory') return { path, kind: 'directory', mode: node.mode }
  if (node.kind === 'symlink') return { path, kind: 'symlink', target: node.target }
  return { path, kind: 'file', mode: node.mode, bytes: new Uint8Array(node.bytes ?? []) }
}

type Step = { name: string; node: TreeNode | undefined; parent: Folder }

const isStep = (name: string) => name !== '' && name !== '.'

/** Throws where a folder on the way is missing, or is none. */
export function walk(given: unknown, syscall: string, follow = true): ResolvedPath {
  const text = pathOf(given)
  if (text === '') throw fileError('ENOENT', syscall, text)
  const names = `${text.startsWith('/') ? '' : cwd}/${text}`.split('/').filter(isStep)
  let trail: Step[] = []
  let links = 0
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      trail.pop()
      continue
    }
    const parent = trail.at(-1)?.node ?? root
    if (parent.kind !== 'directory') throw fileError('ENOTDIR', syscall, text)
    const node = parent.entries.get(name)
    if (node?.kind === 'symlink' && (follow || names.length > 0)) {
      if (++links > MAX_LINKS) throw fileError('ELOOP', syscall, text)
      if (node.target.startsWith('/')) trail = []
      names.unshift(...node.target.split('/').filter(isStep))
      continue
    }
    if (!node && names.length > 0) throw fileError('ENOENT', syscall, text)
    trail.push({ name, node, parent })
  }
  const last = trail.at(-1) ?? { name: '', node: root, parent: root }
  return { ...last, real: `/${trail.map(({ name }) => name).join('/')}`, text }
}

export function existing(given: unknown, syscall: string, follow = true, dest?: unknown): ExistingPath {
  const place = walk(given, syscall, follow)
  const { node, text } = place
  if (!node) throw fileError('ENOENT', syscall, text, dest === undefined ? undefined : pathOf(dest))
  return { ...place, node }
}

/** Throws once the program is over. */
export function guardOpen(): void {
  if (isClosed()) throw fileError('EIO', 'write')
}

export function put({ parent, name, real, text }: ResolvedPath, node: TreeNode, syscall: string): void {
  guardOpen()
  if (name === '') throw fileError('EPERM', syscall, text)
  parent.entries.set(name, node)
  parent.mtimeMs = Date.now()
  dirty.add(real)
}

export function drop({ parent, name, real, text }: ResolvedPath, syscall: string): void {
  guardOpen()
  if (name === '') throw fileError('EPERM', syscall, text)
  parent.entries.delete(name)
  dirty.add(real)
}

export function mark(path: string): void {
  dirty.add(path)
}

export function markBelow(node: TreeNode, path: string): void {
  dirty.add(path)
  if (node.kind === 'directory') for (const [name, inner] of node.entries) markBelow(inner, `${path}/${name}`)
}

export function contents({ node, text }: { node: TreeNode | undefined; text: string }, syscall: string): Buffer {
  if (node?.kind === 'directory') throw fileError('EISDIR', syscall)
  if (node?.kind === 'file' && node.bytes !== null) return node.bytes
  const message = `EFBIG: the file is too large to be read by a script here, ${syscall} '${text}'`
  throw Object.assign(fileError('EFBIG', syscall, text), { message })
}

export function writeBytes(
  place: ResolvedPath,
  bytes: Buffer,
  { mode }: Pick<Settings, 'mode'>,
  syscall: string,
): void {
  if (place.node?.kind === 'directory') throw fileError('EISDIR', syscall, place.text)
  written += bytes.length
  if (written > MAX_BYTES || bytes.length > MAX_FILE_BYTES) throw fileError('EFBIG', syscall, place.text)
  const kept = place.node?.mode ?? (typeof mode === 'number' ? mode : FILE_MODE)
  put(place, { kind: 'file', bytes, mode: kept, mtimeMs: Date.now() }, syscall)
}
