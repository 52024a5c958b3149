import { AppError } from './errors.ts'

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes`)

/** The body as a stream that fails with the 413 as soon as it exceeds `maxBytes`, whatever length was announced. */
export function bounded(request: Request, maxBytes: number): ReadableStream<Uint8Array> | null {
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

/** The body's bytes, at most `maxBytes` of them; throws the 413 beyond. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const body = bounded(request, maxBytes)
  return body === null ? new Uint8Array() : new Uint8Array(await new Response(body).arrayBuffer())
}
