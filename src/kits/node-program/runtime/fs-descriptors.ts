// Open files: what `node:fs` does by the number of one.

import { fileError } from './errors.ts'
import { Stats } from './fs-stats.ts'
import { type Options, settingsOf } from './given.ts'
import { stderr, stdout } from './streams.ts'
import { contents, existing, input, type ResolvedPath, walk, writeBytes } from './tree.ts'

interface Open {
  place: ResolvedPath
  at: number
  appends: boolean
}

const descriptors = new Map<number, Open>()
let lastDescriptor = 10

export function opened(fd: number, syscall: string): Open {
  const found = descriptors.get(fd)
  if (!found) throw fileError('EBADF', syscall)
  return found
}

/** Input is a file that can be read by its number and is nowhere in the tree. */
function openedInput(): Open {
  const known = descriptors.get(0)
  if (known) return known
  const node = { kind: 'file' as const, bytes: input(), mode: 0, mtimeMs: Date.now() }
  const open: Open = { place: { ...walk('/', 'read'), node, text: '' }, at: 0, appends: false }
  descriptors.set(0, open)
  return open
}

function nodeOf({ place }: Open, syscall: string) {
  if (!place.node) throw fileError('EBADF', syscall)
  return place.node
}

export function open(path: unknown, flags: string | number = 'r', mode?: number): number {
  const text = String(flags)
  const place = walk(path, 'open')
  if (!place.node && text.startsWith('r')) throw fileError('ENOENT', 'open', place.text)
  if (text.includes('x') && place.node) throw fileError('EEXIST', 'open', place.text)
  if (!place.node || text.startsWith('w'))
    writeBytes(place, Buffer.alloc(0), mode === undefined ? {} : { mode }, 'open')
  descriptors.set(++lastDescriptor, { place: walk(path, 'open'), at: 0, appends: text.startsWith('a') })
  return lastDescriptor
}

export function close(fd: number): void {
  opened(fd, 'close')
  descriptors.delete(fd)
}

export function fsync(fd: number): void {
  opened(fd, 'fsync')
}

export function fstat(fd: number, options?: Options): Stats {
  return new Stats(nodeOf(opened(fd, 'fstat'), 'fstat'), settingsOf(options).bigint)
}

export function ftruncate(fd: number, length?: number): void {
  truncate(opened(fd, 'ftruncate').place.real, length)
}

export function truncate(path: unknown, length = 0): void {
  const place = existing(path, 'open')
  const bytes = Buffer.alloc(length)
  contents(place, 'open').copy(bytes)
  writeBytes(place, bytes, {}, 'truncate')
}

type ReadOptions = { offset?: number; length?: number; position?: number | null }

export function read(
  fd: number,
  buffer: Uint8Array,
  given?: number | ReadOptions | null,
  ...rest: [length?: number | null, position?: number | null]
): number {
  const isNamed = typeof given === 'object' && given !== null
  const {
    offset = 0,
    length = null,
    position = null,
  } = isNamed
    ? { length: buffer.length - (given.offset ?? 0), ...given }
    : { offset: given ?? 0, length: rest[0], position: rest[1] }
  const open = fd === 0 ? openedInput() : opened(fd, 'read')
  const from = typeof position === 'number' ? position : open.at
  const count = contents(open.place, 'read').copy(buffer, offset, from, from + (length ?? buffer.length))
  if (typeof position !== 'number') open.at += count
  return count
}

/** A text comes with its place and encoding, bytes with their range and place. */
export function write(fd: number, data: string | Uint8Array, ...rest: readonly unknown[]): number {
  const { bytes, position } = typeof data === 'string' ? ofText(data, rest) : ofBytes(data, rest)
  if (fd === 1 || fd === 2) {
    const stream = fd === 1 ? stdout : stderr
    stream.write(bytes)
    return bytes.length
  }
  const open = opened(fd, 'write')
  const before = contents(open.place, 'write')
  const from = open.appends ? before.length : typeof position === 'number' ? position : open.at
  const after = Buffer.alloc(Math.max(before.length, from + bytes.length))
  before.copy(after)
  bytes.copy(after, from)
  writeBytes(open.place, after, {}, 'write')
  open.place = walk(open.place.real, 'write')
  open.at = from + bytes.length
  return bytes.length
}

type WriteArguments = { bytes: Buffer; position: unknown }

function ofText(text: string, [position, encoding]: readonly unknown[]): WriteArguments {
  const known = typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8'
  return { bytes: Buffer.from(text, known), position }
}

/** The range comes as an offset, a length and a position, or as an object of these three. */
function ofBytes(data: Uint8Array, rest: readonly unknown[]): WriteArguments {
  const [first] = rest
  const named = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : null
  const [offset, length, position] = named ? [named.offset, named.length, named.position] : rest
  const from = typeof offset === 'number' ? offset : 0
  const end = typeof length === 'number' ? from + length : undefined
  return { bytes: Buffer.from(data).subarray(from, end), position }
}
