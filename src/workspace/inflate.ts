// Unpacking what others packed, never into more than is allowed. The runtime's short way (without `info`) doubles its
// buffer and refuses as soon as the doubled one would pass `maxOutputLength`, however little comes of the input: most
// outputs above 40 kB. With `info` it goes the long way, which counts what is really made.

import { gunzipSync, inflateSync } from 'node:zlib'

/** How much is unpacked at a stretch. */
const MAX_CHUNK_BYTES = 1024 * 1024
const MIN_CHUNK_BYTES = 64

export interface Unpacked {
  bytes: Uint8Array
  /** How much of the input it was made from; what follows is something else. */
  usedBytes: number
}

/** Throws a `RangeError` when more than `maxBytes` would come, and another error for what is damaged. */
export function inflateWithin(deflated: Uint8Array, maxBytes: number, expectedBytes = maxBytes): Unpacked {
  return unpacked(inflateSync(deflated, options(maxBytes, expectedBytes)))
}

/** The same for gzip, of one member or of several in a row. */
export function gunzipWithin(gzipped: Uint8Array, maxBytes: number): Uint8Array {
  return unpacked(gunzipSync(gzipped, options(maxBytes, MAX_CHUNK_BYTES))).bytes
}

function options(maxBytes: number, expectedBytes: number) {
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(expectedBytes + 16, MAX_CHUNK_BYTES))
  return { maxOutputLength: maxBytes, chunkSize, info: true } as const
}

/** What `info` makes of the answer, which its types do not know: the engine has counted the input. */
interface WithInfo {
  buffer: Uint8Array
  engine: { bytesWritten: number }
}

function unpacked(result: unknown): Unpacked {
  const { buffer, engine } = result as WithInfo
  const { buffer: memory, byteOffset, byteLength } = buffer
  return { bytes: new Uint8Array(memory, byteOffset, byteLength), usedBytes: engine.bytesWritten }
}
