// The frames of git's protocol: a length in four hexadecimal digits, and the payload.

import { joinBytes } from '../../lib/bytes.ts'
import { textOf, utf8 } from './bytes.ts'
import { fatal, type GitFailure } from './failure.ts'

export const FLUSH = utf8('0000')
const LENGTH_BYTES = 4

export function packetLine(content: string): Uint8Array {
  const bytes = utf8(content)
  return joinBytes([utf8((bytes.byteLength + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0')), bytes])
}

/** The received frames, as soon as each is complete; null for a flush. */
export async function* packetsOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | null> {
  let rest = new Uint8Array()
  for await (const part of parts) {
    const bytes: Uint8Array = rest.byteLength === 0 ? part : joinBytes([rest, part])
    let at = 0
    for (let end = endOf(bytes, at); end !== null; end = endOf(bytes, at)) {
      yield end - at === LENGTH_BYTES ? null : bytes.subarray(at + LENGTH_BYTES, end)
      at = end
    }
    rest = bytes.slice(at)
  }
  if (rest.byteLength > 0) throw brokenOff()
}

/** The end of the frame; null while it is incomplete. */
function endOf(bytes: Uint8Array, at: number): number | null {
  if (bytes.byteLength - at < LENGTH_BYTES) return null
  const digits = textOf(bytes.subarray(at, at + LENGTH_BYTES))
  const length = Number.parseInt(digits, 16)
  if (!/^[0-9a-f]{4}$/i.test(digits) || (length !== 0 && length < LENGTH_BYTES)) throw brokenOff()
  const end = at + Math.max(LENGTH_BYTES, length)
  return end <= bytes.byteLength ? end : null
}

export function brokenOff(): GitFailure {
  return fatal('the remote broke off in the middle of its answer', { reason: 'unreachable' })
}
