// Parses a form with files while it arrives: each file is passed on as soon as its name is known. An invalid form is
// read to its end too, because a client that is still sending would not read the answer.

import { errorFields, log } from '../lib/log.ts'
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
  /** Called for each 64 KiB; more is read when it settles, so that a fast upload does not block other requests. */
  giveWay(): Promise<void> | null
}

/** The name of the files' field; other fields are ignored. */
const FIELD = 'files'
/** If a client sends less than one read in this time, it is disconnected or malicious, ms. */
export const FORM_IDLE_MS = 30_000
/** Each adds a line to the answer, whether or not it is stored. */
const MAX_PARTS = 10_000
/** Bytes of one read of the body. */
const READ_BYTES = 64 * 1024
/** Of stored bytes, only copies are in memory. */
const WAKE_EVERY_BYTES = 1024 * 1024
/** The length of the answer's excerpt of a text that was sent instead of a file. */
const SHOWN_LENGTH = 200

/** Calls `take` for every file, one after the other. Null if the form was valid; rethrows errors of `take`. */
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

/** The client is connected but sends nothing. */
class NeverCame extends Error {
  override readonly name = 'NeverCame'
}

/** The client has disconnected. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

/** The body as it arrives. Each part is overwritten when the next one is requested. */
async function* within({ body, maxBytes, giveWay }: UploadForm): AsyncGenerator<Uint8Array, undefined> {
  const reader = body.getReader({ mode: 'byob' })
  let buffer = new ArrayBuffer(READ_BYTES)
  let [size, wakeAt] = [0, WAKE_EVERY_BYTES]
  try {
    for (;;) {
      const coming = reader.readAtLeast(READ_BYTES, new Uint8Array(buffer)).catch((cause: unknown) => {
        throw new BrokenOff('the body ended early', { cause })
      })
      const { value, done } = await inTime(FORM_IDLE_MS, coming, () => new NeverCame())
      if (done || value.byteLength === 0) return
      size += value.byteLength
      if (size > maxBytes) throw new TooLarge()
      yield value
      buffer = value.buffer
      const way = giveWay()
      if (way !== null) await way
      if (size >= wakeAt) {
        wakeAt = size + WAKE_EVERY_BYTES
        wakeCollector()
      }
    }
  } finally {
    // Only a body that is too large is not read to its end.
    await reader.cancel().catch((cause: unknown) => log.debug('upload.not_cancelled', errorFields(cause)))
  }
}

// Parses multipart forms (RFC 7578) as they arrive. A file may have any size and is never held in memory; the parts
// come in the order of the body. The runtime's own parser reads the whole form into memory first.

/** A violation of the format, as a sentence. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError'
}

export interface FormPart {
  name: string
  /** Null for a part that is text, not a file. */
  filename: string | null
  /**
   * Must be read before the next part is requested; unread contents are skipped then. Each piece is overwritten when
   * the next one is requested.
   */
  contents: AsyncIterable<Uint8Array>
}

/** Allows a name of 10,000 letters; RFC 7578 expects three short headers. */
const MAX_HEADER_BYTES = 64 * 1024
/** RFC 2046 allows 70. */
const MAX_BOUNDARY_LENGTH = 200

const encoder = new TextEncoder()
const NEW_LINE = encoder.encode('\r\n')
const DASH = 0x2d
const FIRST_BUFFER_BYTES = 128 * 1024
const EMPTY_LINE = encoder.encode('\r\n\r\n')

/** The boundary of a form with this content type; null if it is not the type of a form. */
export function boundaryOf(contentType: string): string | null {
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(contentType)) return null
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  return boundary === '' || boundary.length > MAX_BOUNDARY_LENGTH ? null : boundary
}

/** The parts of a form; throws a `MultipartError` as soon as the format is violated. */
export async function* formParts(body: AsyncIterator<Uint8Array>, boundary: string): AsyncGenerator<FormPart> {
  const scanner = new Scanner(body, encoder.encode(`\r\n--${boundary}`))
  await scanner.skipPart()
  while (await scanner.beginPart()) {
    const { name, filename } = dispositionOf(await scanner.headers())
    yield { name, filename, contents: scanner.contents() }
    await scanner.skipPart()
  }
}

class Scanner {
  readonly #body: AsyncIterator<Uint8Array>
  readonly #delimiter: Uint8Array
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES)
  /** Received bytes that are not used yet. It starts with a line break, because none precedes the first delimiter. */
  #held: Uint8Array = NEW_LINE
  #isPartOver = false

  constructor(body: AsyncIterator<Uint8Array>, delimiter: Uint8Array) {
    this.#body = body
    this.#delimiter = delimiter
  }

  /** Whether another part follows the delimiter that was just read. */
  async beginPart(): Promise<boolean> {
    while (this.#held.byteLength < 2) await this.#more()
    this.#isPartOver = false
    return !(this.#held[0] === DASH && this.#held[1] === DASH)
  }

  /** The lines between the delimiter and the contents. */
  async headers(): Promise<string[]> {
    let end = indexOf(this.#held, EMPTY_LINE)
    while (end === -1) {
      if (this.#held.byteLength > MAX_HEADER_BYTES) throw new MultipartError('The headers of a part are too long')
      await this.#more()
      end = indexOf(this.#held, EMPTY_LINE)
    }
    const [padding = '', ...lines] = new TextDecoder().decode(this.#held.subarray(0, end)).split('\r\n')
    if (!/^[ \t]*$/.test(padding)) throw new MultipartError('A line begins like a delimiter and is none')
    this.#held = this.#held.subarray(end + EMPTY_LINE.byteLength)
    return lines
  }

  async *contents(): AsyncGenerator<Uint8Array> {
    for (let piece = await this.#piece(); piece !== null; piece = await this.#piece()) yield piece
  }

  async skipPart(): Promise<void> {
    while ((await this.#piece()) !== null);
  }

  /** The next piece before the delimiter; null after the delimiter was read. */
  async #piece(): Promise<Uint8Array | null> {
    if (this.#isPartOver) return null
    for (;;) {
      const at = indexOf(this.#held, this.#delimiter)
      // Bytes that may be the start of a delimiter must wait for the rest.
      const end = at === -1 ? this.#held.byteLength - this.#delimiter.byteLength + 1 : at
      this.#isPartOver = at !== -1
      const piece = this.#held.subarray(0, Math.max(end, 0))
      this.#held = this.#held.subarray(piece.byteLength + (at === -1 ? 0 : this.#delimiter.byteLength))
      if (piece.byteLength > 0) return piece
      if (this.#isPartOver) return null
      await this.#more()
    }
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#body.next()
    if (done) throw new MultipartError('The form ends before its last delimiter')
    const kept = this.#held.byteLength
    const wanted = kept + value.byteLength
    // `set` supports overlapping source and target.
    const buffer = this.#buffer.byteLength < wanted ? new Uint8Array(2 * wanted) : this.#buffer
    buffer.set(this.#held)
    buffer.set(value, kept)
    this.#buffer = buffer
    this.#held = buffer.subarray(0, wanted)
  }
}

/**
 * The position of the needle, or -1. It starts with a carriage return, which seldom occurs again in it, so this is one
 * pass for any input.
 */
function indexOf(bytes: Uint8Array, needle: Uint8Array): number {
  const first = needle[0] ?? 0
  const last = bytes.byteLength - needle.byteLength
  for (let at = bytes.indexOf(first); at !== -1 && at <= last; at = bytes.indexOf(first, at + 1)) {
    if (needle.every((byte, i) => bytes[at + i] === byte)) return at
  }
  return -1
}

function dispositionOf(headers: readonly string[]): { name: string; filename: string | null } {
  const [, parameters = null] = /^content-disposition:\s*form-data\s*(;.*)?$/i.exec(dispositionAmong(headers)) ?? []
  const found = new Map<string, string>()
  // Browsers write the text between the quotes unchanged; other clients escape a quote or a backslash with a backslash.
  for (const [, key = '', quoted, plain = ''] of (parameters ?? '').matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(["\\])/g, '$1') ?? plain
    if (!found.has(key.toLowerCase())) found.set(key.toLowerCase(), value)
  }
  const name = found.get('name')
  if (name === undefined) throw new MultipartError('A part has no name')
  return { name, filename: found.get('filename') ?? extended(found.get('filename*')) }
}

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g

const dispositionAmong = (headers: readonly string[]): string =>
  headers.find((line) => /^content-disposition:/i.test(line)) ?? ''

/** A name in the form of RFC 5987, which some clients use for letters outside ASCII. */
function extended(value: string | undefined): string | null {
  const [, text] = /^utf-8'[^']*'(.*)$/i.exec(value ?? '') ?? []
  if (text === undefined) return null
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
