// Checksums of contents: digests and the older sums.

import { createHash } from 'node:crypto'
import { textToBytes } from '../../../../../workspace/text-encodings.ts'
import { blake2b } from './blake2b.ts'

export interface Digest {
  /** The name for `--tag`. */
  tag: string
  /** Hexadecimal digits. */
  length: number
  of: (bytes: string) => string
}

const hashed = (tag: string, name: string, bits: number): Digest => ({
  tag,
  length: bits / 4,
  of: (bytes) => createHash(name).update(textToBytes(bytes, 'latin1')).digest('hex'),
})

export const DIGESTS: Readonly<Record<string, Digest>> = {
  md5: hashed('MD5', 'md5', 128),
  sha1: hashed('SHA1', 'sha1', 160),
  sha224: hashed('SHA224', 'sha224', 224),
  sha256: hashed('SHA256', 'sha256', 256),
  sha384: hashed('SHA384', 'sha384', 384),
  sha512: hashed('SHA512', 'sha512', 512),
}

const MAX_BLAKE_BITS = 512

export function blakeDigest(bits: number): Digest {
  const tag = bits === MAX_BLAKE_BITS ? 'BLAKE2b' : `BLAKE2b-${bits}`
  return { tag, length: bits / 4, of: (bytes) => blake2b(textToBytes(bytes, 'latin1'), bits / 8) }
}

const POLYNOMIAL = 0x04c11db7
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24
  for (let bit = 0; bit < 8; bit++) rest = rest & 0x80000000 ? (rest << 1) ^ POLYNOMIAL : rest << 1
  return rest
})

/** The checksum of POSIX: the length follows the bytes, lowest byte first. */
export function crc(bytes: string): number {
  let sum = 0
  const step = (byte: number) => {
    sum = (sum << 8) ^ (TABLE[((sum >>> 24) ^ byte) & 0xff] ?? 0)
  }
  for (let i = 0; i < bytes.length; i++) step(bytes.charCodeAt(i))
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) step(length & 0xff)
  return ~sum >>> 0
}

export function bsdSum(bytes: string): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) {
    sum = (sum >> 1) + ((sum & 1) << 15)
    sum = (sum + bytes.charCodeAt(i)) & 0xffff
  }
  return sum
}

export function sysvSum(bytes: string): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum += bytes.charCodeAt(i)
  const folded = (sum % 65_536) + (Math.floor(sum / 65_536) % 65_536)
  return (folded & 0xffff) + (folded >> 16)
}
