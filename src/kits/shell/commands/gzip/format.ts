// The format of gzip files: the header and the contents.

import { gzipSync } from 'node:zlib'
import { joinBytes } from '../../../../lib/bytes.ts'
import { gunzipped, UnpackError } from '../file-walk.ts'

const MAGIC = [0x1f, 0x8b]
const HAS_CHECKSUM = 2
const HAS_EXTRA = 4
const HAS_NAME = 8
const HAS_COMMENT = 16
const HEADER_BYTES = 10
/** Checksum and size after the contents. */
const TRAILER_BYTES = 8

export interface Header {
  /** The original name; null if it is not stored. */
  name: string | null
  /** 0 if it is not stored. */
  mtimeMs: number
}

export const isGzip = (bytes: Uint8Array): boolean => MAGIC.every((byte, i) => bytes[i] === byte)

/** The runtime's own header contains neither name nor time. */
export function packed(bytes: Uint8Array, level: number, { name, mtimeMs }: Header): Uint8Array {
  const plain = new Uint8Array(gzipSync(bytes, { level }))
  const header = plain.slice(0, HEADER_BYTES)
  const view = new DataView(header.buffer)
  view.setUint32(4, Math.floor(mtimeMs / 1000), true)
  header[9] = 3
  if (name === null) return joinBytes([header, plain.subarray(HEADER_BYTES)])
  header[3] = HAS_NAME
  return joinBytes([header, new TextEncoder().encode(`${name}\0`), plain.subarray(HEADER_BYTES)])
}

export function headerOf(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = bytes[3] ?? 0
  let at = HEADER_BYTES
  if (flags & HAS_EXTRA) at += 2 + view.getUint16(at, true)
  const end = flags & HAS_NAME ? bytes.indexOf(0, at) : -1
  const name = end < 0 ? null : new TextDecoder().decode(bytes.subarray(at, end))
  return { name, mtimeMs: view.getUint32(4, true) * 1000 }
}

/** The size of a file's header and trailer, and the size of the contents from the trailer. */
export function sizesOf(bytes: Uint8Array): { overhead: number; plainBytes: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = bytes[3] ?? 0
  let at = HEADER_BYTES
  if (flags & HAS_EXTRA) at += 2 + view.getUint16(at, true)
  for (const flag of [HAS_NAME, HAS_COMMENT]) if (flags & flag) at = bytes.indexOf(0, at) + 1
  if (flags & HAS_CHECKSUM) at += 2
  return { overhead: at + TRAILER_BYTES, plainBytes: view.getUint32(bytes.byteLength - 4, true) }
}

/** Throws `UnpackError` with gzip's messages. */
export function unpacked(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (bytes.byteLength === 0) throw new UnpackError('unexpected end of file')
  if (!isGzip(bytes)) throw new UnpackError('not in gzip format')
  try {
    return gunzipped(bytes, maxBytes)
  } catch (error) {
    if (!(error instanceof UnpackError) || error.message.includes('more than')) throw error
    throw new UnpackError(isCut(error) ? 'unexpected end of file' : 'invalid compressed data, or something behind it')
  }
}

function isCut({ cause }: UnpackError): boolean {
  return cause instanceof Error && /unexpected end/i.test(cause.message)
}
