// Calls to R2. A key is written once and never again, so a failed call can safely be repeated, whether or not it had an
// effect.

import { errorFields, log } from '../../../src/lib/log.ts'
import { inSlices, putInTime, UnansweredPut } from '../../../src/lib/slices.ts'
import { FileSystemError } from '../../../src/workspace/file-system.ts'

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 50

/** Objects arrive in pieces of 4 KiB; a compressor works better with larger ones. */
const READ_BYTES = 128 * 1024

/** R2 requires parts of at least 5 MiB, all of one size except the last. */
export const PART_BYTES = 5 * 1024 * 1024

export class WorkspaceObjects {
  readonly #bucket: R2Bucket

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket
  }

  /** The whole object, or null if there is none. */
  async read(key: string, path: string): Promise<Uint8Array | null> {
    return this.#tried(path, CANNOT_READ, async () => {
      const object = await this.#bucket.get(key)
      return object && new Uint8Array(await object.arrayBuffer())
    })
  }

  /** The object in parts; each is overwritten when the next is requested. */
  async open(key: string, path: string): Promise<AsyncIterable<Uint8Array> | null> {
    const object = await this.#tried(path, CANNOT_READ, () => this.#bucket.get(key))
    return object && partsOf(object, path)
  }

  async put(key: string, bytes: Uint8Array, path: string): Promise<void> {
    await this.#tried(path, CANNOT_STORE, () => putInTime(this.#bucket.put(key, inSlices(bytes))))
  }

  /** Writes one object from parts of `PART_BYTES` each, of which only the last may be smaller; returns its size. */
  async putParts(key: string, parts: AsyncIterable<Uint8Array>, path: string): Promise<number> {
    const upload = await this.#tried(path, CANNOT_STORE, () => this.#bucket.createMultipartUpload(key))
    try {
      const done: R2UploadedPart[] = []
      let sizeBytes = 0
      for await (const part of parts) {
        const put = () => putInTime(upload.uploadPart(done.length + 1, inSlices(part)))
        done.push(await this.#tried(path, CANNOT_STORE, put))
        sizeBytes += part.byteLength
      }
      await this.#tried(path, CANNOT_STORE, () => this.#complete(upload, done, sizeBytes))
      return sizeBytes
    } catch (error) {
      // Parts of an unfinished upload: R2 removes them after a week.
      await upload.abort().catch((cause: unknown) => log.warn('workspace.abort_failed', errorFields(cause)))
      throw error
    }
  }

  /** False when R2 refused. */
  async delete(keys: string[]): Promise<boolean> {
    try {
      await this.#bucket.delete(keys)
      return true
    } catch (error) {
      log.warn('workspace.sweep_failed', { keys: keys.length, ...errorFields(error) })
      return false
    }
  }

  /** The one call that must not be repeated blindly: whether it took effect is read from the object itself. */
  async #complete(upload: R2MultipartUpload, parts: R2UploadedPart[], sizeBytes: number): Promise<void> {
    try {
      await upload.complete(parts)
    } catch (error) {
      const object = await this.#bucket.head(upload.key)
      if (object?.size !== sizeBytes) throw error
    }
  }

  async #tried<T>(path: string, detail: string, call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call()
      } catch (cause) {
        if (attempt === ATTEMPTS || cause instanceof UnansweredPut)
          throw new FileSystemError('EIO', path, { cause, detail })
        log.warn('workspace.r2_retried', { attempt, ...errorFields(cause) })
        await scheduler.wait(FIRST_PAUSE_MS * 4 ** (attempt - 1))
      }
    }
  }
}

/** Throws unless the whole object arrives. Bytes that were sent cannot be taken back, so nothing is retried here. */
async function* partsOf({ body, size }: R2ObjectBody, path: string): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: 'byob' })
  let buffer = new ArrayBuffer(READ_BYTES)
  let received = 0
  let isBroken = false
  try {
    while (received < size) {
      const { value } = await reader.readAtLeast(READ_BYTES, new Uint8Array(buffer))
      if (value === undefined || value.byteLength === 0) throw new Error(`${received} of ${size} bytes came`)
      yield value
      received += value.byteLength
      buffer = value.buffer
    }
  } catch (cause) {
    isBroken = true
    throw new FileSystemError('EIO', path, { cause, detail: CANNOT_READ })
  } finally {
    // If the reader stops early, the rest is not needed.
    if (!isBroken) await reader.cancel()
  }
}

const CANNOT_READ = 'large files cannot be read at the moment'
const CANNOT_STORE = 'large files cannot be stored at the moment'
