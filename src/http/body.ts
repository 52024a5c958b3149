// A request's body as it comes in: never more than it may be, and never waited for without end.

import { errorFields, log } from '../lib/log.ts'
import { inTime } from '../lib/wait-at-most.ts'
import { AppError } from './errors.ts'

/** A client that sends nothing for so long has gone, or means no good. */
const BODY_IDLE_MS = 15_000
/** For all of a small body; a large one has as long as its room stays. */
const SMALL_BODY_MS = 60_000

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes`)

export const neverCame = (ms = BODY_IDLE_MS): AppError =>
  new AppError('request_timeout', `The body did not come within ${ms / 1000} s; send the request again`)

/** The body as a stream that fails with the 413 as soon as it exceeds `maxBytes`, whatever length was announced. */
function bounded(request: Request, maxBytes: number): ReadableStream<Uint8Array> | null {
  // An announced length was checked at the door; such a body cannot be longer than it says.
  if (request.body === null || request.headers.has('content-length')) return request.body
  let size = 0
  return request.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength
        if (size > maxBytes) controller.error(tooLarge(maxBytes))
        else controller.enqueue(chunk)
      },
    }),
  )
}

/** The body's bytes, at most `maxBytes` of them; throws the 413 beyond, and the 408 when they do not come. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const body = bounded(request, maxBytes)
  if (body === null) return new Uint8Array()
  try {
    return new Uint8Array(await inTime(SMALL_BODY_MS, new Response(body).arrayBuffer(), () => neverCame(SMALL_BODY_MS)))
  } catch (error) {
    throw brokenOff(error)
  }
}

/** What comes next; when nothing does for too long, the rest is given up. */
export async function nextOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await inTime(BODY_IDLE_MS, reader.read(), () => neverCame(BODY_IDLE_MS))
  } catch (error) {
    if (error instanceof AppError) void reader.cancel(error).catch(() => {})
    throw brokenOff(error)
  }
}

/**
 * Most often there is nobody left to answer. Only here is it known that the client did it: an object or an upstream that is
 * lost says the same words, and the signal of the request stays still.
 */
function brokenOff(error: unknown): AppError {
  if (error instanceof AppError) return error
  log.debug('http.body_broken_off', errorFields(error))
  return new AppError('request_timeout', 'The body broke off before its end', { cause: error })
}
