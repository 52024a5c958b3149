// Reads a request's body, with limits of size and time.

import type { Context } from 'hono'
import { config } from '../config.ts'
import { joinBytes } from '../lib/bytes.ts'
import { errorFields, log } from '../lib/log.ts'
import { inTime } from '../lib/wait-at-most.ts'
import { BODY_TIMES, growArrival, leaveRoom, takeIsolatesRoom, takeOwnersRoom } from '../limits/body-room.ts'
import { type AppEnv, isAskedByModel, noteAskedByModel, type Principal } from './app-env.ts'
import { AppError } from './errors.ts'

/** A client that sends nothing for this long is gone or hostile. */
const BODY_IDLE_MS = 15_000
/** For all of a small body; a large one may take as long as its reservation lasts. */
const SMALL_BODY_MS = 60_000

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes`)

export const neverCame = (ms = BODY_IDLE_MS): AppError =>
  new AppError('request_timeout', `The body did not come within ${ms / 1000} s; send the request again`)

/** Limits of bodies hold for what is read, so nothing is unpacked here. Throws the 415 for a body that would have to be. */
export function refuseEncoded({ body, headers }: Request): void {
  const encoding = headers.get('content-encoding')
  if (encoding === null || body === null || /^\s*(identity\s*)?$/i.test(encoding)) return
  const message = `The body has the Content-Encoding "${encoding.slice(0, 50)}"; send it without Content-Encoding`
  throw new AppError('unsupported_media_type', message, { headers: { 'accept-encoding': 'identity' } })
}

/** The body as a stream that fails with the 413 as soon as it exceeds `maxBytes`, whatever length was announced. */
function bounded(request: Request, maxBytes: number): ReadableStream<Uint8Array> | null {
  // The announced length was checked before the endpoint, and the body cannot be longer than that.
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

/** The body's bytes, at most `maxBytes` of them; throws a 413 beyond that, and a 408 when they do not arrive. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const body = bounded(request, maxBytes)
  if (body === null) return new Uint8Array()
  try {
    const whole = body === request.body ? request.arrayBuffer() : new Response(body).arrayBuffer()
    return new Uint8Array(await inTime(SMALL_BODY_MS, whole, () => neverCame(SMALL_BODY_MS)))
  } catch (error) {
    throw brokenOff(error)
  }
}

/** The next piece; when none arrives for too long, reading is given up. */
async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await inTime(BODY_IDLE_MS, reader.read(), () => neverCame(BODY_IDLE_MS))
  } catch (error) {
    if (error instanceof AppError) void reader.cancel(error).catch(() => {})
    throw brokenOff(error)
  }
}

/**
 * Usually the client is gone and nobody gets this answer. Only here it is certain that the client caused the error: a
 * lost object or upstream gives the same message, and the request's signal does not fire.
 */
function brokenOff(error: unknown): AppError {
  if (error instanceof AppError) return error
  log.debug('http.body_broken_off', errorFields(error))
  return new AppError('request_timeout', 'The body broke off before its end', { cause: error })
}

// Only a few large bodies are processed at a time: each costs several times its size while it is read, checked, masked
// and stored, and several at once would exceed an isolate's memory. A body is processed only when it is complete, so a
// slow client blocks nobody. Requests with small bodies are not affected.

/** Smaller bodies are not counted. */
const LARGE_BODY_BYTES = 1_048_576

const RETRY_AFTER_SECONDS = 5

type Reader = ReadableStreamDefaultReader<Uint8Array>
/** `start`: the part that was read already. */
type Incoming = { id: string; reader: Reader; start: Uint8Array[]; maxBytes: number }

/** Runs the handler: at once for a small body, else when there is room. Throws a 429 after too long a wait. */
export function takingIn(c: Context<AppEnv>, work: () => Promise<void>): Promise<void> {
  const by = c.get('principal')
  return by === undefined || isSmall(c) ? work() : takingInMuch(c, by, work)
}

async function takingInMuch(c: Context<AppEnv>, by: Principal, work: () => Promise<void>): Promise<void> {
  const large = await largeBodyOf(c)
  if (large === null) return work()
  const { announced, ...incoming } = large
  const { id } = incoming
  let isTakenIn = false
  try {
    if (!(await takeOwnersRoom(c.env, by.owner, { id, bytes: announced }))) throw crowdedByOwner(c.env, announced)
    const body = await wholeOf(incoming)
    if (!(await takeIsolatesRoom({ id, bytes: body.byteLength }))) throw crowded()
    isTakenIn = true
    replaceBody(c, body)
    await work()
  } finally {
    await leaveRoom(c.env, by.owner, { id, isTakenIn })
  }
}

/** Whether this is known without reading the body. */
function isSmall(c: Context<AppEnv>): boolean {
  const { raw } = c.req
  // The body of a GET is a filter with a small limit of its own; it cannot be moved into another request.
  if (raw.body === null || raw.method === 'GET' || c.get('bodyLimit') !== 'standard') return true
  const length = raw.headers.get('content-length')
  return length !== null && Number(length) < LARGE_BODY_BYTES
}

/** Null when the body turns out to be small. */
async function largeBodyOf(c: Context<AppEnv>): Promise<(Incoming & { announced: number }) | null> {
  const { raw } = c.req
  if (raw.body === null) return null
  const { maxBodyBytes: maxBytes } = config(c.env)
  const length = raw.headers.get('content-length')
  const reader: Reader = raw.body.getReader()
  const id = crypto.randomUUID()
  if (length !== null) return { id, reader, start: [], maxBytes, announced: Number(length) }
  const start = await beginningOf(reader)
  if (start.isLarge) return { id, reader, start: start.pieces, maxBytes, announced: maxBytes }
  replaceBody(c, joinBytes(start.pieces))
  return null
}

/** Reads the beginning of a body without a length, to find out whether it is large. */
async function beginningOf(reader: Reader): Promise<{ isLarge: boolean; pieces: Uint8Array[] }> {
  const pieces: Uint8Array[] = []
  for (let bytes = 0; bytes < LARGE_BODY_BYTES; ) {
    const { done, value } = await nextOf(reader)
    if (done) return { isLarge: false, pieces }
    pieces.push(value)
    bytes += value.byteLength
  }
  return { isLarge: true, pieces }
}

async function wholeOf({ id, reader, start, maxBytes }: Incoming): Promise<Uint8Array> {
  const until = Date.now() + BODY_TIMES.stayMs
  const pieces = [...start]
  let bytes = sizeOf(pieces)
  let room = 0
  for (;;) {
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    if (bytes > room) {
      // Reserves one mebibyte at a time: a call for every piece would cost more than the piece.
      if (!(await growArrival({ id, bytes: LARGE_BODY_BYTES }))) throw crowded()
      room += LARGE_BODY_BYTES
      continue
    }
    const { done, value } = await nextOf(reader)
    if (done) return joinBytes(pieces)
    if (Date.now() > until) throw neverCame(BODY_TIMES.stayMs)
    pieces.push(value)
    bytes += value.byteLength
  }
}

function replaceBody(c: Context<AppEnv>, body: Uint8Array): void {
  const { url, method, headers, signal } = c.req.raw
  const again = new Request(url, { method, headers, signal, body })
  c.req.raw = isAskedByModel(c.req.raw) ? noteAskedByModel(again) : again
}

const sizeOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)

const AGAIN = { 'retry-after': String(RETRY_AFTER_SECONDS) }

function crowdedByOwner(env: Env, bytes: number): AppError {
  const { bytesInFlight: allowed, largeBodyBytesPerSecond: pace } = config(env).quotas
  const inTheLongRun = pace === 0 ? '' : `, and in the long run ${pace} bytes a second`
  const message = `The limit "large_body_bytes" is reached: bodies of ${LARGE_BODY_BYTES} bytes and more are taken in ${allowed} bytes at a time${inTheLongRun}. Send it again in a while, fewer at a time.`
  return new AppError('rate_limited', message, {
    headers: AGAIN,
    extra: { limit: 'large_body_bytes', used: bytes, allowed },
  })
}

function crowded(): AppError {
  const message =
    'The service takes in as many large bodies as it can at the moment; none of your limits is reached. Send it again in a while.'
  return new AppError('rate_limited', message, { headers: AGAIN })
}
