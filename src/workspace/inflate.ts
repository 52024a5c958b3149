// Decompresses data from untrusted sources, never to more than is allowed. Without `info`, the runtime doubles its
// buffer and refuses as soon as the doubled buffer would exceed `maxOutputLength`, even if the output is much smaller:
// this affects most outputs above 40 kB. With `info` it uses another implementation, which counts the actual output.

import { gunzipSync, inflateSync } from 'node:zlib'

/** The size of one step of the decompression. */
const MAX_CHUNK_BYTES = 1024 * 1024
const MIN_CHUNK_BYTES = 64

export interface Unpacked {
  bytes: Uint8Array
  /** How many bytes of the input were used; the rest is other data. */
  usedBytes: number
}

/** Throws a `RangeError` if the result is longer than `maxBytes`, and another error for damaged data. */
export function inflateWithin(deflated: Uint8Array, maxBytes: number, expectedBytes = maxBytes): Unpacked {
  return unpacked(inflateSync(deflated, options(maxBytes, expectedBytes)))
}

/** The same for gzip, with one member or several. */
export function gunzipWithin(gzipped: Uint8Array, maxBytes: number): Uint8Array {
  return unpacked(gunzipSync(gzipped, options(maxBytes, MAX_CHUNK_BYTES))).bytes
}

function options(maxBytes: number, expectedBytes: number) {
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(expectedBytes + 16, MAX_CHUNK_BYTES))
  return { maxOutputLength: maxBytes, chunkSize, info: true } as const
}

/** The result with `info`, which the types do not contain: the engine counts the input. */
interface WithInfo {
  buffer: Uint8Array
  engine: { bytesWritten: number }
}

function unpacked(result: unknown): Unpacked {
  const { buffer, engine } = result as WithInfo
  const { buffer: memory, byteOffset, byteLength } = buffer
  return { bytes: new Uint8Array(memory, byteOffset, byteLength), usedBytes: engine.bytesWritten }
}
