import { giveWay } from './give-way.ts'
import { inTime } from './wait-at-most.ts'

/** A local runtime needs some milliseconds to write this much to disk, during which it does nothing else. */
const SLICE_BYTES = 256 * 1024

/**
 * The bytes as a body for R2 that lets other requests run between its slices: a local runtime writes all available
 * bytes of a body at once, and 5 MiB take 60 ms. Small bodies are not sliced. A new body must be made for each try.
 */
export function inSlices(bytes: Uint8Array): Uint8Array | ReadableStream<Uint8Array> {
  return bytes.byteLength <= SLICE_BYTES ? bytes : slicedStream(slicesOf(bytes), bytes.byteLength)
}

/** For one object or part of at most some MiB. A local R2 with a full disk never answers. */
const PUT_WITHIN_MS = 15_000

/** A write to R2 that was given up; its outcome is unknown. */
export class UnansweredPut extends Error {
  override readonly name = 'UnansweredPut'
}

/** The answer of R2 to a write. Throws an `UnansweredPut` when there is none. */
export const putInTime = <T>(put: Promise<T>): Promise<T> =>
  inTime(PUT_WITHIN_MS, put, () => new UnansweredPut(`R2 did not answer within ${PUT_WITHIN_MS} ms`))

/** The same for a stream of `size` bytes. */
export const streamInSlices = (source: ReadableStream<Uint8Array>, size: number): ReadableStream<Uint8Array> =>
  slicedStream(source, size)

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

type Slices = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** R2 accepts no stream of unknown length. The reader gets an error when the source fails. */
function slicedStream(source: Slices, size: number): ReadableStream<Uint8Array> {
  const { readable, writable } = new FixedLengthStream(size)
  const writer = writable.getWriter()
  const pour = async () => {
    let sinceBytes = 0
    for await (const slice of source) {
      await writer.write(slice)
      sinceBytes += slice.byteLength
      if (sinceBytes < SLICE_BYTES) continue
      sinceBytes = 0
      await giveWay()
    }
    await writer.close()
  }
  // If the reader has gone, it knows the reason, and nobody needs to be told.
  pour().catch((cause: unknown) => writer.abort(cause).catch(() => undefined))
  return readable
}
