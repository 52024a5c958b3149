// Recognizes binary files by their first bytes, for `file`.

import type { Zone } from '../../../../lib/clock.ts'
import { momentIn, strftime } from '../strftime.ts'

/** The description of a file, and its type for `--mime-type`. */
export interface Kind {
  words: string
  mime: string
}

type Description = string | null

interface Signature {
  at?: number
  /** As Latin-1. */
  begins: string
  mime: string
  /** Null if the rest of the file shows that it is something else. */
  tell: (view: DataView, zone: Zone) => Description
}

export function binaryKind(bytes: Uint8Array, zone: Zone): Kind | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const { at = 0, begins, mime, tell } of SIGNATURES) {
    if (latin(view, at, begins.length) !== begins) continue
    const words = tell(view, zone)
    if (words !== null) return { words, mime }
  }
  return null
}

function latin(view: DataView, at: number, length: number): string {
  const end = Math.min(view.byteLength, at + length)
  let text = ''
  for (let i = at; i < end; i++) text += String.fromCharCode(view.getUint8(i))
  return text
}

const always = (words: string) => (): Description => words
const byte = (view: DataView, at: number): number => (at < view.byteLength ? view.getUint8(at) : 0)
const word16 = (view: DataView, at: number, isLittle: boolean): number =>
  at + 2 <= view.byteLength ? view.getUint16(at, isLittle) : 0
const word32 = (view: DataView, at: number, isLittle: boolean): number =>
  at + 4 <= view.byteLength ? view.getUint32(at, isLittle) : 0

const SIGNATURES: readonly Signature[] = [
  { begins: '\x89PNG\r\n\x1a\n', mime: 'image/png', tell: png },
  { begins: 'GIF8', mime: 'image/gif', tell: gif },
  { begins: '\xff\xd8\xff', mime: 'image/jpeg', tell: jpeg },
  { begins: '\x1f\x8b', mime: 'application/gzip', tell: gzip },
  { begins: 'PK\x03\x04', mime: 'application/zip', tell: zip },
  { begins: 'PK\x05\x06', mime: 'application/zip', tell: always('Zip archive data (empty)') },
  { begins: '\x7fELF', mime: 'application/x-executable', tell: elf },
  { begins: '%PDF-', mime: 'application/pdf', tell: (view) => `PDF document, version ${latin(view, 5, 3)}` },
  { begins: 'BZh', mime: 'application/x-bzip2', tell: bzip2 },
  { begins: '\xfd7zXZ\x00', mime: 'application/x-xz', tell: xz },
  { begins: '\x28\xb5\x2f\xfd', mime: 'application/zstd', tell: always('Zstandard compressed data (v0.8+)') },
  { begins: '7z\xbc\xaf\x27\x1c', mime: 'application/x-7z-compressed', tell: sevenZip },
  { at: 257, begins: 'ustar  \x00', mime: 'application/x-tar', tell: always('POSIX tar archive (GNU)') },
  { at: 257, begins: 'ustar\x00', mime: 'application/x-tar', tell: always('POSIX tar archive') },
  { begins: 'RIFF', mime: 'application/octet-stream', tell: riff },
  { begins: 'SQLite format 3\x00', mime: 'application/vnd.sqlite3', tell: sqlite },
  { begins: '\x00asm', mime: 'application/wasm', tell: wasm },
  { begins: 'OggS', mime: 'application/ogg', tell: always('Ogg data') },
  { begins: 'wOFF', mime: 'font/woff', tell: always('Web Open Font Format') },
  { begins: 'wOF2', mime: 'font/woff2', tell: always('Web Open Font Format (Version 2)') },
  { begins: 'DIRC', mime: 'application/octet-stream', tell: gitIndex },
  { begins: 'PACK', mime: 'application/octet-stream', tell: gitPack },
]

const COLOURS: Readonly<Record<number, string>> = {
  ...{ 0: ' grayscale', 2: '/color RGB', 3: ' colormap', 4: ' gray+alpha', 6: '/color RGBA' },
}

function png(view: DataView): Description {
  if (latin(view, 12, 4) !== 'IHDR') return 'PNG image data'
  const size = `${word32(view, 16, false)} x ${word32(view, 20, false)}`
  const colour = `${byte(view, 24)}-bit${COLOURS[byte(view, 25)] ?? ''}`
  return `PNG image data, ${size}, ${colour}, ${byte(view, 28) === 0 ? 'non-interlaced' : 'interlaced'}`
}

function gif(view: DataView): Description {
  return `GIF image data, version ${latin(view, 3, 3)}, ${word16(view, 6, true)} x ${word16(view, 8, true)}`
}

const DENSITIES = ['aspect ratio', 'resolution (DPI)', 'resolution (DPCM)']

function jpeg(view: DataView): Description {
  let words = 'JPEG image data'
  if (latin(view, 6, 5) === 'JFIF\x00') {
    const version = `${byte(view, 11)}.${String(byte(view, 12)).padStart(2, '0')}`
    const density = `density ${word16(view, 14, false)}x${word16(view, 16, false)}`
    words += `, JFIF standard ${version}, ${DENSITIES[byte(view, 13)] ?? ''}, ${density}, segment length ${word16(view, 4, false)}`
  }
  return words + frame(view)
}

/** The frame segment of a JPEG contains its size; other segments are skipped. */
function frame(view: DataView): string {
  for (let at = 2; at + 9 < view.byteLength && byte(view, at) === 0xff; at += 2 + word16(view, at + 2, false)) {
    const kind = byte(view, at + 1)
    if (kind !== 0xc0 && kind !== 0xc1 && kind !== 0xc2) continue
    const name = kind === 0xc0 ? 'baseline' : kind === 0xc1 ? 'extended sequential' : 'progressive'
    const size = `${word16(view, at + 7, false)}x${word16(view, at + 5, false)}`
    return `, ${name}, precision ${byte(view, at + 4)}, ${size}, components ${byte(view, at + 9)}`
  }
  return ''
}

const SYSTEMS: Readonly<Record<number, string>> = {
  ...{
    0: 'FAT filesystem (MS-DOS, OS/2, NT)',
    3: 'Unix',
    7: 'MacOS',
    10: 'NTFS filesystem (NT)',
    11: 'NTFS filesystem (NT)',
  },
}

function gzip(view: DataView, zone: Zone): Description {
  if (view.byteLength < 18 || byte(view, 2) !== 8) return null
  const parts = ['gzip compressed data']
  const flags = byte(view, 3)
  if ((flags & 8) !== 0 && (flags & 4) === 0) parts.push(`was "${latin(view, 10, 256).split('\0', 1)[0]}"`)
  const seconds = word32(view, 4, true)
  if (seconds !== 0) parts.push(`last modified: ${strftime('%a %b %e %H:%M:%S %Y', momentIn(zone, seconds * 1000))}`)
  if (byte(view, 8) === 2) parts.push('max compression')
  if (byte(view, 8) === 4) parts.push('max speed')
  const system = SYSTEMS[byte(view, 9)]
  if (system !== undefined) parts.push(`from ${system}`)
  parts.push(`original size modulo 2^32 ${word32(view, view.byteLength - 4, true)}`)
  return parts.join(', ')
}

const METHODS: Readonly<Record<number, string>> = { 0: 'store', 8: 'deflate', 12: 'bzip2', 14: 'lzma', 93: 'zstd' }

function zip(view: DataView): Description {
  const version = (byte(view, 4) / 10).toFixed(1)
  const name = latin(view, 30, word16(view, 26, true))
  if (name === '[Content_Types].xml' || name === '_rels/.rels') return office(view)
  const method = METHODS[word16(view, 8, true)]
  return `Zip archive data, at least v${version} to extract${method === undefined ? '' : `, compression method=${method}`}`
}

function office(view: DataView): Description {
  const text = latin(view, 0, view.byteLength)
  for (const [folder, program] of [
    ['word/', 'Word'],
    ['xl/', 'Excel'],
    ['ppt/', 'PowerPoint'],
  ] as const) {
    if (text.includes(`${folder}`)) return `Microsoft ${program} 2007+`
  }
  return 'Microsoft OOXML'
}

const ELF_TYPES = ['no file type', 'relocatable', 'executable', 'shared object', 'core file']
const MACHINES: Readonly<Record<number, string>> = {
  ...{ 3: 'Intel 80386', 40: 'ARM, EABI5', 62: 'x86-64', 183: 'ARM aarch64', 243: 'UCB RISC-V' },
}

function elf(view: DataView): Description {
  const isLittle = byte(view, 5) === 1
  const bits = byte(view, 4) === 2 ? '64-bit' : '32-bit'
  const type = ELF_TYPES[word16(view, 16, isLittle)] ?? 'unknown type'
  const machine = MACHINES[word16(view, 18, isLittle)] ?? 'unknown arch'
  const system = byte(view, 7) === 3 ? 'GNU/Linux' : 'SYSV'
  return `ELF ${bits} ${isLittle ? 'LSB' : 'MSB'} ${type}, ${machine}, version ${byte(view, 6)} (${system})`
}

function bzip2(view: DataView): Description {
  const level = byte(view, 3) - 0x30
  return level >= 1 && level <= 9 ? `bzip2 compressed data, block size = ${level}00k` : null
}

const XZ_CHECKS: Readonly<Record<number, string>> = { 0: 'NONE', 1: 'CRC32', 4: 'CRC64', 10: 'SHA-256' }

function xz(view: DataView): Description {
  const check = XZ_CHECKS[byte(view, 7)]
  return `XZ compressed data${check === undefined ? '' : `, checksum ${check}`}`
}

function sevenZip(view: DataView): Description {
  return `7-zip archive data, version ${byte(view, 6)}.${byte(view, 7)}`
}

function riff(view: DataView): Description {
  const kind = latin(view, 8, 4)
  const forms: Readonly<Record<string, string>> = { WEBP: ', Web/P image', WAVE: ', WAVE audio', 'AVI ': ', AVI' }
  return `RIFF (little-endian) data${forms[kind] ?? ''}`
}

function sqlite(view: DataView): Description {
  return view.byteLength < 100 ? null : 'SQLite 3.x database'
}

function wasm(view: DataView): Description {
  const version = word32(view, 4, true)
  return `WebAssembly (wasm) binary module version 0x${version.toString(16)}${version === 1 ? ' (MVP)' : ''}`
}

function gitIndex(view: DataView): Description {
  return `Git index, version ${word32(view, 4, false)}, ${word32(view, 8, false)} entries`
}

function gitPack(view: DataView): Description {
  return `Git pack, version ${word32(view, 4, false)}, ${word32(view, 8, false)} objects`
}
