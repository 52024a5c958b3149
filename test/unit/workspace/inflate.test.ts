import { deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { joinBytes } from '../../../src/lib/bytes.ts'
import { gunzipWithin, inflateWithin } from '../../../src/workspace/inflate.ts'

const MIB = 1024 * 1024
/** On both sides of where buffers are doubled, and as large as files may be. */
const SIZES = [
  0,
  1,
  30_000,
  40_000,
  65_535,
  65_536,
  70_000,
  108_894,
  200_000,
  MIB,
  MIB + 1,
  8 * MIB,
  20 * MIB,
  32 * MIB,
]

function numbers(sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  for (let i = 0; i < sizeBytes; i++) bytes[i] = 48 + (((i * 7919) >> 9) % 10)
  return bytes
}

test('what is unpacked may be exactly as large as is allowed, whatever its size', () => {
  for (const sizeBytes of SIZES) {
    const bytes = numbers(sizeBytes)
    const deflated = deflateSync(bytes, { level: 1 })
    const inflated = inflateWithin(joinBytes([deflated, numbers(100)]), sizeBytes + 1, sizeBytes)
    expect([sizeBytes, inflated.bytes.byteLength, inflated.usedBytes]).toEqual([
      sizeBytes,
      sizeBytes,
      deflated.byteLength,
    ])
    expect(Buffer.compare(inflated.bytes, bytes)).toBe(0)
    const gunzipped = gunzipWithin(gzipSync(bytes, { level: 1 }), sizeBytes + 1)
    expect(Buffer.compare(gunzipped, bytes)).toBe(0)
    if (sizeBytes < 2) continue
    expect(() => inflateWithin(deflated, sizeBytes - 1)).toThrow(RangeError)
    expect(() => gunzipWithin(gzipSync(bytes, { level: 1 }), sizeBytes - 1)).toThrow(/larger than/)
  }
})

test('several members are one file, and what is damaged or cut off is not taken for whole', () => {
  const [one, two] = [numbers(100_000), numbers(70_000)]
  expect(gunzipWithin(joinBytes([gzipSync(one), gzipSync(two)]), MIB).byteLength).toBe(170_000)
  const gzipped = gzipSync(one)
  expect(() => gunzipWithin(gzipped.subarray(0, 500), MIB)).toThrow()
  expect(() => gunzipWithin(numbers(500), MIB)).toThrow()
  expect(() => inflateWithin(deflateSync(one).subarray(0, 500), MIB)).toThrow()
  expect(() => inflateWithin(deflateSync(one).fill(7, 200, 220), MIB)).toThrow()
})
