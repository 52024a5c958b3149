// Writes trees as archives: tar exactly like git, byte for byte, and zip.

import { deflateRawSync } from 'node:zlib'
import { joinBytes } from '../../lib/bytes.ts'
import { utf8 } from './bytes.ts'
import { MODE } from './objects.ts'

export interface ArchiveEntry {
  /** Folders end in a slash. */
  path: string
  oid: string
  mode: number
  bytes: Uint8Array
}

export interface ArchiveOptions {
  /** Stored in the archive; null for a tree without a commit. */
  commit: string | null
  seconds: number
}

const BLOCK = 512
const RECORD = 20 * BLOCK
const MAX_NAME = 100
const MAX_PREFIX = 155

export function tarArchive(entries: readonly ArchiveEntry[], { commit, seconds }: ArchiveOptions): Uint8Array {
  const parts: Uint8Array[] = []
  if (commit !== null) parts.push(...extended('pax_global_header', 'g', `52 comment=${commit}\n`, seconds))
  for (const entry of entries) parts.push(...tarEntry(entry, seconds))
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0)
  // It ends with two empty blocks, and fills whole records.
  const total = Math.ceil((size + 2 * BLOCK) / RECORD) * RECORD
  return joinBytes([...parts, new Uint8Array(total - size)])
}

function tarEntry({ path, oid, mode, bytes }: ArchiveEntry, seconds: number): Uint8Array[] {
  const isLink = mode === MODE.link
  const isFolder = path.endsWith('/')
  const permissions = isLink ? 0o777 : isFolder || mode === MODE.executable ? 0o775 : 0o664
  const parts: Uint8Array[] = []
  const place = placeOf(path)
  let header = ''
  if (!place) header += record('path', path)
  if (isLink && bytes.byteLength > MAX_NAME) header += record('linkpath', new TextDecoder().decode(bytes))
  if (header !== '') parts.push(...extended(`${oid}.paxheader`, 'x', header, seconds))
  const head = tarHeader({
    name: place?.name ?? `${oid}.data`,
    prefix: place?.prefix ?? '',
    mode: permissions,
    size: isLink ? 0 : bytes.byteLength,
    type: isLink ? '2' : isFolder ? '5' : '0',
    link: isLink && bytes.byteLength <= MAX_NAME ? bytes : utf8(''),
    seconds,
  })
  return isLink || isFolder ? [...parts, head] : [...parts, head, padded(bytes)]
}

/** Null for a path that is too long to be split into name and prefix. */
function placeOf(path: string): { name: string; prefix: string } | null {
  if (utf8(path).byteLength <= MAX_NAME) return { name: path, prefix: '' }
  const end = path.endsWith('/') ? path.length - 2 : path.length - 1
  for (
    let slash = path.lastIndexOf('/', Math.min(end, MAX_PREFIX));
    slash > 0;
    slash = path.lastIndexOf('/', slash - 1)
  ) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)]
    if (utf8(prefix).byteLength <= MAX_PREFIX) return utf8(name).byteLength <= MAX_NAME ? { name, prefix } : null
  }
  return null
}

function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const length = utf8(rest).byteLength
  let size = length + String(length).length
  if (String(size).length + length !== size) size = length + String(size).length
  return `${size}${rest}`
}

function extended(name: string, type: string, text: string, seconds: number): Uint8Array[] {
  const bytes = utf8(text)
  return [
    tarHeader({ name, prefix: '', mode: 0o666, size: bytes.byteLength, type, link: utf8(''), seconds }),
    padded(bytes),
  ]
}

interface TarHeader {
  name: string
  prefix: string
  mode: number
  size: number
  type: string
  link: Uint8Array
  seconds: number
}

function tarHeader({ name, prefix, mode, size, type, link, seconds }: TarHeader): Uint8Array {
  const block = new Uint8Array(BLOCK)
  const put = (at: number, text: string | Uint8Array) => block.set(typeof text === 'string' ? utf8(text) : text, at)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  put(0, name)
  put(100, octal(mode, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(size, 11))
  put(136, octal(seconds, 11))
  put(148, '        ')
  put(156, type)
  put(157, link)
  put(257, 'ustar\x0000')
  put(265, 'root')
  put(297, 'root')
  put(329, octal(0, 7))
  put(337, octal(0, 7))
  put(345, prefix)
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(148, octal(sum, 7))
  return block
}

function padded(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(Math.ceil(bytes.byteLength / BLOCK) * BLOCK)
  whole.set(bytes)
  return whole
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const UTF8_NAMES = 0x0800

export function zipArchive(entries: readonly ArchiveEntry[], { commit, seconds }: ArchiveOptions): Uint8Array {
  const [parts, directory]: [Uint8Array[], Uint8Array[]] = [[], []]
  let offset = 0
  for (const entry of entries) {
    const { local, central } = zipEntry(entry, { offset, seconds })
    parts.push(...local)
    directory.push(central)
    offset += local.reduce((sum, part) => sum + part.byteLength, 0)
  }
  const size = directory.reduce((sum, part) => sum + part.byteLength, 0)
  const comment = utf8(commit ?? '')
  const end = fields([
    [END, 4],
    [0, 4],
    [entries.length, 2],
    [entries.length, 2],
    [size, 4],
    [offset, 4],
    [comment.byteLength, 2],
  ])
  return joinBytes([...parts, ...directory, end, comment])
}

function zipEntry({ path, mode, bytes }: ArchiveEntry, { offset, seconds }: { offset: number; seconds: number }) {
  const name = utf8(path)
  const isPlain = path.endsWith('/') || mode === MODE.link || bytes.byteLength === 0
  const packed = isPlain ? bytes : new Uint8Array(deflateRawSync(bytes))
  const isStored = packed.byteLength >= bytes.byteLength
  const content = isStored ? bytes : packed
  const flags = /[^\x20-\x7e]/.test(path) ? UTF8_NAMES : 0
  const unix = path.endsWith('/') ? 0o40775 : mode === MODE.link ? 0o120777 : mode === MODE.executable ? 0o100775 : 0
  const attributes = ((unix << 16) | (path.endsWith('/') ? 0x10 : 0)) >>> 0
  const common: [number, number][] = [
    [isStored ? 10 : 20, 2],
    [flags, 2],
    [isStored ? 0 : 8, 2],
    ...dosTime(seconds),
    [crc32(bytes), 4],
    [content.byteLength, 4],
    [bytes.byteLength, 4],
    [name.byteLength, 2],
  ]
  const extra = fields([
    [0x5455, 2],
    [5, 2],
    [1, 1],
    [seconds, 4],
  ])
  const local = [fields([[LOCAL, 4], ...common, [extra.byteLength, 2]]), name, extra, content]
  const rest: [number, number][] = [
    [extra.byteLength, 2],
    [0, 2],
    [0, 2],
    [0, 2],
    [attributes, 4],
    [offset, 4],
  ]
  const central = joinBytes([fields([[CENTRAL, 4], [unix === 0 ? 0 : 0x0317, 2], ...common, ...rest]), name, extra])
  return { local, central }
}

/** Little-endian numbers; each with its size in bytes. */
function fields(values: readonly [number, number][]): Uint8Array {
  const bytes: number[] = []
  for (const [value, size] of values) for (let i = 0; i < size; i++) bytes.push(Math.floor(value / 256 ** i) % 256)
  return Uint8Array.from(bytes)
}

function dosTime(seconds: number): [number, number][] {
  const at = new Date(seconds * 1000)
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  return [
    [time, 2],
    [Math.max(0, date), 2],
  ]
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ byte) & 255] ?? 0)
  return (sum ^ 0xffffffff) >>> 0
}
