// Uses the runtime's native compression.

import { constants, crc32, deflateRawSync } from 'node:zlib'

export { crc32 }

/** A part of a deflated stream: consecutive parts, with the last one marked, are one stream. */
export function deflatePart(bytes: Uint8Array, level: number, isLast: boolean): Uint8Array {
  // The flush ends at a byte boundary, with an empty block; nothing after it refers back to data before it.
  const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH
  return deflateRawSync(bytes, { level, finishFlush })
}
