// The tar format: blocks of 512 bytes, a header for each entry. Written as `ustar` with GNU's extension for long names;
// read with that and with the extension of POSIX.

import { joinBytes } from '../../../../lib/bytes.ts'

export interface TarEntry {
  name: string
  /** A hard link is another name of an earlier file. */
  kind: 'file' | 'directory' | 'symlink' | 'link'
  mode: number
  mtimeMs: number
  bytes: Uint8Array
  /** Of a link. */
  target: string
  owner: TarOwner
}

export interface TarOwner {
  uid: number
  gid: number
  /** Empty if only the numbers are known. */
  user: string
  group: string
}

export const OWN: TarOwner = { uid: 1000, gid: 1000, user: 'user', group: 'user' }

/** An entry that cannot be used: its name, and why it is left out. */
export type TarRecord = TarEntry | { name: string; kind: 'other'; reason: string }

/** With all its blocks from the archive. */
export type TarMember = { found: TarRecord; blocks: Uint8Array }

const BLOCK = 512
/** The length of an archive is a multiple of this, like GNU's. */
const RECORD = 20 * BLOCK
const KINDS = { file: '0', directory: '5', symlink: '2', link: '1' } as const
const LONG_NAME = 'L'
const LONG_TARGET = 'K'
const MAX_NAME_BYTES = 4096

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function tarOf(entries: readonly TarEntry[], before: readonly Uint8Array[] = []): Uint8Array {
  const added = entries.flatMap(({ name, kind, mode, mtimeMs, bytes, target, owner }) => {
    const shown = kind === 'directory' && !name.endsWith('/') ? `${name}/` : name
    const content = kind === 'file' ? bytes : new Uint8Array()
    const head = { mode, mtimeMs, type: KINDS[kind], owner }
    return [
      ...longField(LONG_NAME, shown),
      ...longField(LONG_TARGET, target),
      header(shown, { ...head, size: content.byteLength, target }),
      ...padded(content),
    ]
  })
  const parts = [...before, ...added]
  const size = parts.reduce((total, part) => total + part.byteLength, 2 * BLOCK)
  return joinBytes([...parts, new Uint8Array(2 * BLOCK + ((RECORD - (size % RECORD)) % RECORD))])
}

/** A name that is too long for the header is a separate entry before it. */
function longField(type: string, text: string): Uint8Array[] {
  const bytes = encoder.encode(`${text}\0`)
  if (bytes.byteLength <= 100) return []
  const head = { mode: 0, mtimeMs: 0, type, size: bytes.byteLength, target: '', owner: OWN }
  return [header('././@LongLink', head), ...padded(bytes)]
}

type Head = { mode: number; mtimeMs: number; type: string; size: number; target: string; owner: TarOwner }

function header(name: string, { mode, mtimeMs, type, size, target, owner }: Head): Uint8Array {
  const block = new Uint8Array(BLOCK)
  const put = (text: string, at: number, length: number) => block.set(encoder.encode(text).subarray(0, length), at)
  const octal = (value: number, digits: number) => `${Math.floor(value).toString(8).padStart(digits, '0')}\0`
  put(name, 0, 100)
  put(octal(mode & 0o7777, 7), 100, 8)
  put(octal(owner.uid, 7), 108, 8)
  put(octal(owner.gid, 7), 116, 8)
  put(octal(size, 11), 124, 12)
  put(octal(Math.max(0, mtimeMs / 1000), 11), 136, 12)
  put('        ', 148, 8)
  put(type, 156, 1)
  put(target, 157, 100)
  put('ustar\x0000', 257, 8)
  put(owner.user, 265, 31)
  put(owner.group, 297, 31)
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8)
  return block
}

function padded(bytes: Uint8Array): Uint8Array[] {
  const rest = bytes.byteLength % BLOCK
  return rest === 0 ? [bytes] : [bytes, new Uint8Array(BLOCK - rest)]
}

/** Throws a `RangeError` if it is not a tar archive. */
export function* readTar(archive: Uint8Array): Generator<TarRecord> {
  for (const { found } of membersOf(archive)) yield found
}

export function* membersOf(archive: Uint8Array): Generator<TarMember> {
  if (archive.byteLength < BLOCK) throw new RangeError('This does not look like a tar archive')
  let long: Extended = {}
  let start = 0
  for (let at = 0; at + BLOCK <= archive.byteLength; ) {
    const block = archive.subarray(at, at + BLOCK)
    if (block.every((byte) => byte === 0)) return
    if (!isHeader(block)) throw new RangeError('This does not look like a tar archive')
    const size = numberIn(block, 124, 12)
    at += BLOCK
    // A negative size would lead back to earlier data.
    if (!(size >= 0)) throw new RangeError('This does not look like a tar archive')
    if (at + Math.ceil(size / BLOCK) * BLOCK > archive.byteLength) throw new RangeError('Unexpected EOF in archive')
    const bytes = archive.subarray(at, at + size)
    at += Math.ceil(size / BLOCK) * BLOCK
    const type = String.fromCharCode(block[156] ?? 0)
    if (type === LONG_NAME) long.name = textIn(bytes, 0, MAX_NAME_BYTES)
    else if (type === LONG_TARGET) long.target = textIn(bytes, 0, MAX_NAME_BYTES)
    else if (type === 'x') long = { ...long, ...extended(bytes) }
    else if (type !== 'g') {
      yield { found: entryOf(block, { type, bytes, long }), blocks: archive.subarray(start, at) }
      long = {}
      start = at
    }
  }
}

function entryOf(
  block: Uint8Array,
  { type, bytes, long }: { type: string; bytes: Uint8Array; long: Extended },
): TarRecord {
  const prefix = textIn(block, 257, 5) === 'ustar' ? textIn(block, 345, 155) : ''
  const short = textIn(block, 0, 100)
  const name = long.name ?? (prefix === '' ? short : `${prefix}/${short}`)
  const common = {
    name,
    mode: numberIn(block, 100, 8) & 0o7777,
    mtimeMs: long.mtimeMs ?? numberIn(block, 136, 12) * 1000,
    bytes,
    target: '',
    owner: {
      uid: numberIn(block, 108, 8) || 0,
      gid: numberIn(block, 116, 8) || 0,
      user: textIn(block, 265, 32),
      group: textIn(block, 297, 32),
    },
  }
  if (type === '5' || ((type === '0' || type === '\0') && name.endsWith('/'))) return { ...common, kind: 'directory' }
  if (type === '0' || type === '\0' || type === '7') return { ...common, kind: 'file' }
  const target = long.target ?? textIn(block, 157, 100)
  if (type === '2' || type === '1') return { ...common, kind: type === '2' ? 'symlink' : 'link', target }
  return { name, kind: 'other', reason: 'neither a file nor a folder nor a link' }
}

/** Data before an entry that does not fit into its header. */
type Extended = { name?: string; target?: string; mtimeMs?: number }

/** Records of `length key=value`. */
function extended(bytes: Uint8Array): Extended {
  const found: Extended = {}
  for (let at = 0; at < bytes.byteLength; ) {
    const space = bytes.indexOf(32, at)
    const length = space < 0 ? 0 : Number(decoder.decode(bytes.subarray(at, space)))
    if (!Number.isInteger(length) || length <= space - at) return found
    const record = decoder.decode(bytes.subarray(space + 1, at + length - 1))
    if (record.startsWith('path=')) found.name = record.slice(5, 5 + MAX_NAME_BYTES)
    if (record.startsWith('linkpath=')) found.target = record.slice(9, 9 + MAX_NAME_BYTES)
    if (/^mtime=-?\d{1,12}(\.\d+)?$/.test(record)) found.mtimeMs = Math.floor(Number(record.slice(6))) * 1000
    at += length
  }
  return found
}

function isHeader(block: Uint8Array): boolean {
  const sum = block.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0)
  return sum === numberIn(block, 148, 8)
}

function textIn(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length)
  const end = field.indexOf(0)
  return decoder.decode(end < 0 ? field : field.subarray(0, end))
}

/** In octal digits; a larger or negative number in base 256 with the first bit set, like GNU's. */
function numberIn(block: Uint8Array, at: number, length: number): number {
  const first = block[at] ?? 0
  if (first >= 0x80) {
    const start = first === 0xff ? -1 : first & 0x7f
    return block.subarray(at + 1, at + length).reduce((value, byte) => value * 256 + byte, start)
  }
  const text = textIn(block, at, length).trim()
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : text === '' ? 0 : Number.NaN
}
