import { giveWay } from './give-way.ts'
import { inTime } from './wait-at-most.ts'

/** What a local runtime writes to its disk in some milliseconds, in which it does nothing else. */
const SLICE_BYTES = 256 * 1024

/**
 * The bytes as a body for R2 that lets others run between its slices: a local runtime writes what it has of a body in one go, and
 * 5 MiB are 60 ms of it. Small ones are a body as they are. To be made anew for each try.
 */
export function inSlices(bytes: Uint8Array): Uint8Array | ReadableStream<Uint8Array> {
  return bytes.byteLength <= SLICE_BYTES ? bytes : slicedStream(slicesOf(bytes), bytes.byteLength)
}

/** For one object or part, some MiB at most. A local R2 whose disk is full never answers. */
const PUT_WITHIN_MS = 15_000

/** A write to R2 that was given up; nobody knows whether it had its effect. */
export class UnansweredPut extends Error {
  override readonly name = 'UnansweredPut'
}

/** What R2 answers to a write. Throws an `UnansweredPut` when it does not. */
export const putInTime = <T>(put: Promise<T>): Promise<T> =>
  inTime(PUT_WITHIN_MS, put, () => new UnansweredPut(`R2 did not answer within ${PUT_WITHIN_MS} ms`))

/** The same for a stream of `size` bytes. */
export const streamInSlices = (source: ReadableStream<Uint8Array>, size: number): ReadableStream<Uint8Array> =>
  slicedStream(source, size)

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

type Slices = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** R2 takes no stream whose length is not known. Whoever reads it is told when the source breaks off. */
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
  // A reader that goes away says itself why; then there is nobody left to tell.
  pour().catch((cause: unknown) => writer.abort(cause).catch(() => undefined))
  return readable
}
