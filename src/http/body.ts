import { AppError } from './errors.ts'

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes`)

/** The body's bytes. Throws the 413 as soon as they exceed `maxBytes`, whatever length was announced. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  // An announced length was checked at the door; such a body cannot be longer than it says.
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}
