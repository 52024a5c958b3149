// The compression is the runtime's own, which is native.

import { constants, crc32, deflateRawSync } from 'node:zlib'

export { crc32 }

/**
 * A part of a deflated stream: parts one after the other, the last one marked so, are one stream.
 */
export function deflatePart(bytes: Uint8Array, level: number, isLast: boolean): Uint8Array {
  // The flush ends at a byte, with an empty block; nothing refers back over it.
  const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH
  return deflateRawSync(bytes, { level, finishFlush })
}
