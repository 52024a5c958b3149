// A text of unknown length into R2 without having all of it in memory.

import { errorFields, log } from '../../lib/log.ts'

/** All parts of an upload but the last must be equal in size, and no smaller than 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024

/** Stores the text under the key, all of it or nothing. */
export async function storeText(bucket: R2Bucket, key: string, texts: AsyncIterable<string>): Promise<void> {
  const encoder = new TextEncoder()
  let upload: R2MultipartUpload | null = null
  const parts: R2UploadedPart[] = []
  let waiting: Uint8Array[] = []
  let size = 0
  try {
    for await (const text of texts) {
      const bytes = encoder.encode(text)
      waiting.push(bytes)
      size += bytes.byteLength
      if (size < PART_BYTES) continue
      upload ??= await bucket.createMultipartUpload(key)
      let rest = joined(waiting, size)
      for (; rest.byteLength >= PART_BYTES; rest = rest.subarray(PART_BYTES)) {
        parts.push(await upload.uploadPart(parts.length + 1, rest.subarray(0, PART_BYTES)))
      }
      // A copy, or what is left would keep the whole alive.
      waiting = [rest.slice()]
      size = rest.byteLength
    }
    const end = joined(waiting, size)
    if (upload === null) return void (await bucket.put(key, end))
    if (size > 0) parts.push(await upload.uploadPart(parts.length + 1, end))
    await upload.complete(parts)
  } catch (error) {
    await abandon(upload)
    throw error
  }
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

/** What was uploaded already would otherwise lie there until the bucket's own rules remove it. */
async function abandon(upload: R2MultipartUpload | null): Promise<void> {
  try {
    await upload?.abort()
  } catch (error) {
    log.warn('feedback.upload_not_aborted', errorFields(error))
  }
}
