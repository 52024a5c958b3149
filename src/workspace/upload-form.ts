// Parses a form with files while it arrives: each file is passed on as soon as its name is known. An invalid form is read to
// its end as well, because a client that is still sending would not see the answer.

import { errorFields, log } from '../lib/log.ts'
import { boundaryOf, type FormPart, formParts, MultipartError } from '../lib/multipart.ts'
import { inTime } from '../lib/wait-at-most.ts'
import { wakeCollector } from './parts.ts'

export interface IncomingFile {
  name: string
  parts: AsyncIterable<Uint8Array>
}

/** Why a request is not a form with files. `text`: the value with this number is not a file. */
export type FormProblem =
  | { problem: 'unreadable' | 'too-large' | 'too-many-parts' | 'no-files' | 'never-came' }
  | { problem: 'text'; index: number; text: string }

export interface UploadForm {
  contentType: string
  body: ReadableStream<Uint8Array>
  maxBytes: number
}

/** The field of the files; others are ignored. */
const FIELD = 'files'
/** A client that sends less than one read within this time is gone or hostile, ms. */
const IDLE_MS = 30_000
/** Each costs a line of the answer, whether or not it is stored. */
const MAX_PARTS = 10_000
/** Bytes of one read of the body. */
const READ_BYTES = 64 * 1024
/** Of what is stored only copies pass through memory. */
const WAKE_EVERY_BYTES = 1024 * 1024
/** Of a text that stands where a file should, for the answer. */
const SHOWN_LENGTH = 200

/** Gives every file to `take`, one after the other. Null when all was well; throws what `take` throws. */
export async function readForm(
  form: UploadForm,
  take: (file: IncomingFile) => Promise<void>,
): Promise<FormProblem | null> {
  const body = within(form)
  try {
    const problem = await readFiles(form, body, take)
    for (let rest = await body.next(); !rest.done; ) rest = await body.next()
    return problem
  } catch (error) {
    if (error instanceof TooLarge) return { problem: 'too-large' }
    if (error instanceof NeverCame) return { problem: 'never-came' }
    if (!(error instanceof BrokenOff)) throw error
    log.debug('upload.broken_off', errorFields(error.cause))
    return { problem: 'unreadable' }
  } finally {
    await body.return(undefined)
  }
}

async function readFiles(
  { contentType }: UploadForm,
  body: AsyncIterator<Uint8Array>,
  take: (file: IncomingFile) => Promise<void>,
): Promise<FormProblem | null> {
  const boundary = boundaryOf(contentType)
  if (boundary === null) return { problem: 'unreadable' }
  let [parts, files] = [0, 0]
  try {
    for await (const part of formParts(body, boundary)) {
      if (++parts > MAX_PARTS) return { problem: 'too-many-parts' }
      if (part.name !== FIELD) continue
      if (part.filename === null) return { problem: 'text', index: files, text: await beginningOf(part) }
      files++
      await take({ name: part.filename, parts: part.contents })
    }
  } catch (error) {
    if (error instanceof MultipartError) return { problem: 'unreadable' }
    throw error
  }
  return files === 0 ? { problem: 'no-files' } : null
}

async function beginningOf({ contents }: FormPart): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of contents) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length >= SHOWN_LENGTH) break
  }
  return text.slice(0, SHOWN_LENGTH).toWellFormed()
}

class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** The client is connected, and sends nothing. */
class NeverCame extends Error {
  override readonly name = 'NeverCame'
}

/** The client has gone. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

/** The body as it arrives. Each part is overwritten when the next one is requested. */
async function* within({ body, maxBytes }: UploadForm): AsyncGenerator<Uint8Array, undefined> {
  const reader = body.getReader({ mode: 'byob' })
  let buffer = new ArrayBuffer(READ_BYTES)
  let [size, wakeAt] = [0, WAKE_EVERY_BYTES]
  try {
    for (;;) {
      const coming = reader.readAtLeast(READ_BYTES, new Uint8Array(buffer)).catch((cause: unknown) => {
        throw new BrokenOff('the body ended early', { cause })
      })
      const { value, done } = await inTime(IDLE_MS, coming, () => new NeverCame())
      if (done || value.byteLength === 0) return
      size += value.byteLength
      if (size > maxBytes) throw new TooLarge()
      yield value
      buffer = value.buffer
      if (size >= wakeAt) {
        wakeAt = size + WAKE_EVERY_BYTES
        wakeCollector()
      }
    }
  } finally {
    // Only a body that is too large is left before its end.
    await reader.cancel().catch((cause: unknown) => log.debug('upload.not_cancelled', errorFields(cause)))
  }
}
